"""A run of gradient operators, lowered: one walk of the engine's autodiff over all that was lowered before.

The operators that ``append_backward`` wrote say whose gradient is taken (the operator that seeds it) and
which gradients somebody reads; how each is computed is the engine's. It must never know an optimizer.

Guarantee: what the description calls ``X@GRAD`` is the complete gradient of what X stood for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle._engine.autodiff import Backward
from paddle._engine.program import GRAD
from paddle._engine.program import Operator as EngineOperator
from paddle._program.operator import BACKWARD, Operator
from paddle._program.variable import GRAD_SUFFIX

if TYPE_CHECKING:
    from paddle._program.lowering import Lowering

SEEDS = ("fill_constant", "assign")
"""Types of the operators that say what the gradient of a target is: a number, or another variable."""

FLAT = frozenset(
    """
    accuracy arg_max arg_min auc classification_error count_up differs edit_distance
    elementwise_floordiv equal fill_any_like fill_constant_batch_size_like
    gaussian_random_batch_size_like greater_equal greater_than is_finite is_id is_infinite is_nan
    less_equal less_than logical_and logical_not logical_or logical_xor not_equal one_hot
    randint_batch_size_like shape truncated_gaussian_random_batch_size_like
    uniform_random_batch_size_like
    """.split()  # noqa: SIM905  read in columns
)
"""The engine's operators whose results stay as they are when what they read changes a little."""


def lower_gradients(low: Lowering, run: Sequence[Operator], call: int) -> None:
    """Lower the gradient operators ``run``, the ``call``-th such run of a program."""
    from paddle._program.lowering import Value

    seeds = {op.output_arg_names[0]: op for op in run if op.type in SEEDS}
    written = {name for op in run for name in op.output_arg_names if name.endswith(GRAD_SUFFIX)}
    needed = written & (_read_elsewhere(low, run) | low.wanted)
    sources = {name: low.value(name.removesuffix(GRAD_SUFFIX)).variable.name for name in sorted(needed)}
    targets = {name: low.value(name.removesuffix(GRAD_SUFFIX)).variable.name for name in seeds}
    main, suffix = low.builder.program.main, f"@CALL{call}" if call else ""
    backward = Backward(main, list(targets.values()), set(sources.values()), low.stopped, suffix)
    for name, op in seeds.items():
        if targets[name] in backward.seeded:
            backward.emit(_seed(low, op, targets[name], backward.seed(targets[name])))
    backward.append()
    for name, source in sources.items():
        gradient = source + GRAD + suffix
        if gradient in main.variables:
            low.env[name] = Value(main.variables[gradient])
        else:  # nothing depends on it
            like = main.variables[source]
            low.env[name] = Value(low.builder.op("fill_any_like", {"value": 0.0}, X=like))


def _seed(low: Lowering, op: Operator, target: str, seed: str) -> EngineOperator:
    if op.type == "fill_constant":
        attrs = {"value": float(op.attrs["value"])}
        return EngineOperator("fill_any_like", {"X": (target,)}, {"Out": (seed,)}, attrs, "backward")
    given = low.input(op, "X").variable.name
    attrs = {"scale": 1.0, "bias": 0.0}
    return EngineOperator("scale", {"X": (given,)}, {"Out": (seed,)}, attrs, "backward")


def _read_elsewhere(low: Lowering, run: Sequence[Operator]) -> set[str]:
    own = {id(op) for op in run}
    others = (op for op in low.block.ops if id(op) not in own and op.role != BACKWARD)
    return {name for op in others for name in op.input_arg_names}
