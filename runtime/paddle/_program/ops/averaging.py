"""Rows of what is done with parameters once they are moved; see averaging.py of the room."""

from __future__ import annotations

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._engine.averages import Average
from paddle._engine.exchange import AverageSpec
from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.running.host import Host


def _nothing(op: Operator) -> None:
    """What it gives has been declared."""


@hosts("average_accumulates", infer=_nothing)
def _average_accumulates(host: Host, op: Operator) -> None:
    """Who keeps the parameters averages them: the operator only says how (updates.py)."""


@hosts("average_kept", infer=_nothing)
def _average_kept(host: Host, op: Operator) -> None:
    """As who keeps the parameters averages them, of one that no optimizer moves."""
    spec = AverageSpec(
        window=op.attr("average_window"),
        min_window=op.attr("min_average_window"),
        max_window=op.attr("max_average_window"),
    )
    value = np.asarray(host.input(op, "Param"), np.float32).reshape(-1)
    average = Average(value, spec)
    states = list(average.state().values())[:2]
    for state, held in zip(states, host.inputs(op, "State"), strict=True):
        state[...] = np.asarray(held)
    average.add(value)
    if average.end_step():
        average.roll()
    for index, state in enumerate(states):
        host.give(op, "StateOut", state, index)


@hosts("moving_average", infer=_nothing, decay=0.999)
def _moving_average(host: Host, op: Operator) -> None:
    decay, steps = np.float32(op.attr("decay")), host.input(op, "Steps")
    if steps is not None:
        taken = float(np.asarray(steps).reshape(-1)[0])
        decay = min(decay, np.float32((1 + taken) / (10 + taken)))
    *averages, count, _ = (np.asarray(each) for each in host.inputs(op, "Average"))
    for index, (value, average) in enumerate(zip(host.inputs(op, "Param"), averages, strict=True)):
        host.give(op, "AverageOut", decay * average + (1 - decay) * np.asarray(value), index)
    host.give(op, "AverageOut", count + 1, len(averages))
    host.give(op, "AverageOut", np.array([decay], np.float32), len(averages) + 1)


@hosts("lookahead", infer=_nothing, alpha=0.5, k=5, after_first=False)
def _lookahead(host: Host, op: Operator) -> None:
    if host.block.program._carrier is not None:
        raise NotInThisRelease("LookaheadOptimizer is for one process: servers keep no values to go back to")
    step = int(np.asarray(host.input(op, "Step"))[0]) + 1
    host.give(op, "StepOut", np.array([step], np.int32))
    is_first, is_last = step == 1 and op.attr("after_first"), step % op.attr("k") == 0
    if not (is_first or is_last):
        return
    alpha = np.float32(op.attr("alpha") if is_last else 1.0)
    fast = host.inputs(op, "Param")
    slow = fast if is_first else host.inputs(op, "Slow")
    for index, (value, began) in enumerate(zip(fast, slow, strict=True)):
        now = began + alpha * (np.asarray(value) - began)
        host.give(op, "ParamOut", now, index)
        host.give(op, "SlowOut", now, index)
