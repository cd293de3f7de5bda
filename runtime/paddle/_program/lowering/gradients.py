"""A pass of gradient operators, lowered: one walk of the engine's autodiff over all that was lowered before.

The operators that ``append_backward`` wrote say whose gradient is taken (the operator that seeds it) and
which gradients somebody reads; how each is computed is the engine's. It must never know an optimizer.

Guarantee: what the description calls ``X@GRAD`` is the complete gradient of what X stood for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._engine.autodiff import Backward
from paddle._engine.errors import NotDifferentiable
from paddle._engine.program import GRAD
from paddle._engine.program import Operator as EngineOperator
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.description.variable import of_gradient
from paddle._program.errors import BadProgram
from paddle._program.lowering.derivatives import append_gradients
from paddle._program.lowering.passes import SEEDS, Pass
from paddle._program.lowering.value import Value

if TYPE_CHECKING:
    from paddle._program.lowering.lowering import Lowering

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


def lower_gradients(low: Lowering, given: Pass, call: int, again: bool) -> None:
    """Lower a pass, the ``call``-th of a program; ``again``: gradients are taken of its gradients."""
    gradients = given.gradients
    needed = sorted(set(gradients) & (_read_elsewhere(low, given) | low.wanted))
    sources = {name: low.value(gradients[name]).variable.name for name in needed}
    targets = {name: low.value(name).variable.name for name in given.seeds}
    stopped = low.stopped_in(given.bases) | {
        low.env[name].variable.name for name in given.stopped if name in low.env
    }
    wanted, suffix = set(sources.values()), f"@CALL{call}" if call else ""
    try:
        if again:
            found = _as_forward(low, given, targets, wanted, stopped)
        else:
            found = _at_once(low, given, targets, wanted, stopped, suffix)
    except NotDifferentiable as error:
        raise BadProgram(f"{error}: its gradient is asked for at {given.ops[0].where}") from error
    for name, source in sources.items():
        gradient = found.get(source)
        if gradient is None:  # nothing depends on it
            like = low.builder.program.main.variables[source]
            gradient = low.builder.op("fill_any_like", {"value": 0.0}, X=like)
            low.stopped.add(gradient.name)
        low.env[name] = Value(gradient, low.value(gradients[name]).runs)
    _note(low, given, found, suffix)


def _note(low: Lowering, given: Pass, found: dict[str, EngineVariable], suffix: str) -> None:
    """Have each gradient that is computed be known as what the operator gave that the pass has for it."""
    writers = {name: op for op in given.ops for name in op.output_arg_names}
    for name, base in given.gradients.items():
        source = low.env[base].variable.name if base in low.env else base
        made = found.get(source) or low.builder.program.main.variables.get(source + GRAD + suffix)
        if made is not None and name in writers:
            low.note(writers[name], name, made)


def _at_once(
    low: Lowering, given: Pass, targets: dict[str, str], wanted: set[str], stopped: set[str], suffix: str
) -> dict[str, EngineVariable]:
    """By the engine's own gradient operators."""
    main = low.builder.program.main
    for op in given.seeds.values():
        low.inputs(op, "X")  # declared before the walk, which knows the forms of what is there when it begins
    backward = Backward(main, list(targets.values()), wanted, stopped, suffix)
    for name, op in given.seeds.items():
        if targets[name] in backward.seeded:
            backward.emit(_seed(low, op, targets[name], backward.seed(targets[name])))
    backward.append()
    named = {source: main.variables.get(source + GRAD + suffix) for source in wanted}
    return {source: gradient for source, gradient in named.items() if gradient is not None}


def _as_forward(
    low: Lowering, given: Pass, targets: dict[str, str], wanted: set[str], stopped: set[str]
) -> dict[str, EngineVariable]:
    """By operators of which gradients can be taken in their turn."""
    main = low.builder.program.main
    before, seeds = len(main.operators), []
    for name, op in given.seeds.items():
        if op.type == "fill_constant":
            value = {"value": float(op.attrs["value"])}
            seeds.append(
                (targets[name], low.builder.op("fill_any_like", value, X=main.variables[targets[name]]))
            )
        else:
            seeds.append((targets[name], low.input(op, "X").variable))
    found = append_gradients(low.builder, seeds, wanted, stopped)
    for operator in main.operators[before:]:
        if operator.type in FLAT:
            low.stopped.update(operator.writes())
    return found


def _seed(low: Lowering, op: Operator, target: str, seed: str) -> EngineOperator:
    if op.type == "fill_constant":
        attrs = {"value": float(op.attrs["value"])}
        return EngineOperator("fill_any_like", {"X": (target,)}, {"Out": (seed,)}, attrs, "backward")
    given = low.input(op, "X").variable.name  # in the sizes of the target, which is computed for these
    return EngineOperator("expand_as", {"X": (given,), "Like": (target,)}, {"Out": (seed,)}, {}, "backward")


def _read_elsewhere(low: Lowering, given: Pass) -> set[str]:
    own = {id(op) for op in given.ops}
    others = [op for op in low.block.ops if id(op) not in own and reads_values(op)]
    seeds = (op for op in others if op.role == BACKWARD)
    targets = (of_gradient(op.output_arg_names[0]) for op in seeds)
    read = {name for op in others for name in op.input_arg_names}
    return read | {name for name in targets if name is not None}


def reads_values(op: Operator) -> bool:
    """Whether what an operator names is read: of gradients only what says one of a target is."""
    return op.role != BACKWARD or op.type in SEEDS
