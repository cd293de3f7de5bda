"""How tasks end that could not be done: with a paragraph, of which a terminal obeys no byte, and a status. So
does what fab itself prints, its list of tasks and their help."""

import io
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from invoke import Exit

from paddle._insistence import insist
from paddle._launch import signals
from paddle._launch.errors import LaunchError
from paddle._launch.screens.stream import open_streams
from paddle._streams import CannotPrint, abandon, complain
from paddle._visible import visible


@contextmanager
def answered() -> Iterator[None]:
    """What cannot be done is said in one paragraph."""
    open_streams()
    try:
        _raise_interrupts()
        yield
    except LaunchError as error:
        raise Exit(visible(f"fab: {error}"), error.exit_status) from error
    except CannotPrint as error:
        raise Exit(f"fab: {error.strerror}", 1) from error
    except KeyboardInterrupt as end:  # how one stops following
        signals.leave_at_once()
        raise Exit("", 130) from end


def _raise_interrupts() -> None:
    """Ctrl+C ends the task from now on, and not fab where it stands; one that is ignored stays so."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def have_last_word() -> None:
    """From now on, also of what fab itself prints, which fails at once and not when Python ends; and of no
    Ctrl+C is nothing heard."""
    insist(KeyboardInterrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    sys.excepthook = _explain


def _explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say what nobody has caught. Of what fab itself prints: in one line that it could not, and nothing where
    a reader has enough (`fab --list | head`). Of all else: where it is from."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    if not (isinstance(error, OSError) and frames and frames[-1].f_globals["__name__"] == "invoke.program"):
        sys.__excepthook__(kind, error, trace)
        return
    abandon()
    if isinstance(error, BrokenPipeError):
        sys.exit(0)
    complain(f"fab: cannot print: {error.strerror}")
