"""What a trainer and its servers say to each other, as operators of programs.

A transpiled program shows the original's operators. What they mean is one exchange: ``send`` moves the
parameters that it names (``Operator.moves``), and the others are parts of that. It must never know an
address.

Guarantee: a parameter is moved once a step, however many operators tell of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from paddle._program.lowering.op_rows import hosts, lowers

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator
    from paddle._program.lowering.lowering import Lowering
    from paddle._program.running.host import Host


@lowers("send")
def _send(low: Lowering, op: Operator) -> None:
    if not low.is_test and not low.infers:
        low.updates.extend(op.moves)


@lowers("send_barrier", "recv", "fetch_barrier", "split_byref", "split_selected_rows")
def _part_of_it(low: Lowering, op: Operator) -> None:
    """Done where the gradients are sent."""


@hosts("listen_and_serv")
def _listen_and_serv(host: Host, op: Operator) -> None:
    from paddle._program.carrier import serve

    with ExitStack() as leaving:

        def tell(address: str, port: int) -> None:
            leaving.callback(_tell_port(port))

        begins = op.block.program._beginning
        told = {} if begins is None else {"tables": begins.tables, "arrays": begins.arrays}
        serve(op.attr("endpoint"), op.attr("Fanin"), on_ready=tell, **told)


def _tell_port(port: int) -> Callable[[], None]:
    """Write the port where programs look that wait for this process to serve; gives what removes it."""
    path = Path(tempfile.gettempdir(), f"paddle.{os.getpid()}.port")
    try:
        with path.open("x") as file:
            file.write(f"{port}\n")
    except OSError:  # one of that name is there, which may be anybody's
        return lambda: None
    return lambda: path.unlink(missing_ok=True)
