"""How tasks end that could not be done: with a paragraph, of which a terminal obeys no byte, and a status."""

from collections.abc import Iterator
from contextlib import contextmanager

from invoke import Exit

from paddle._launch.errors import LaunchError
from paddle._launch.screens.stream import open_streams
from paddle._visible import visible


@contextmanager
def answered() -> Iterator[None]:
    """What cannot be done is said in one paragraph."""
    open_streams()
    try:
        yield
    except LaunchError as error:
        raise Exit(visible(f"fab: {error}"), error.exit_status) from error
    except KeyboardInterrupt as end:  # how one stops following
        raise Exit("", 130) from end
