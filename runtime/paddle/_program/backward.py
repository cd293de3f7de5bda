"""append_backward: gradient operators, as programs see, fetch and change what they give.

The operators written here name what is computed; how is the engine's autodiff (gradients.py). It must never
know a rule of any operator's gradient.

Guarantee: of every variable between the loss and what is wanted there is one gradient, ``NAME@GRAD``, summed
over all its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from paddle._program.block import Block
from paddle._program.dtypes import is_float
from paddle._program.errors import BadArgument, BadProgram
from paddle._program.op_rows import is_lowered
from paddle._program.operator import BACKWARD, LOSS, ROLE, Operator
from paddle._program.updates import UPDATES
from paddle._program.variable import GRAD_SUFFIX, Parameter, Variable


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Any] | None = None,
    no_grad_set: Collection[Any] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    checkpoints: Any = None,
) -> list[tuple[Parameter, Variable]]:
    """Append the gradients of ``loss``; gives each parameter that it depends on with its gradient."""
    if not isinstance(loss, Variable):
        raise BadArgument(f"a loss is a Variable of a program, not {loss!r}")
    block = loss.block.program.global_block()
    stopped = _names(no_grad_set)
    parameters = [each for each in _parameters(block, parameter_list) if each.name not in stopped]
    found = _Walk(block, [loss.name], stopped, {each.name for each in parameters})
    if not found.path and parameters:
        raise BadProgram(
            f"the loss {loss.name!r} depends on no parameter that can be trained: there is nothing to learn"
        )
    seed = {"shape": list(loss.shape), "value": 1.0, "dtype": int(loss.dtype), ROLE: BACKWARD | LOSS}
    _append(block, "fill_constant", {}, {"Out": [loss.grad_name]}, seed)
    found.append()
    return [(each, block.vars[each.grad_name]) for each in parameters if each.name in found.reached]


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Collection[Any] | None = None
) -> list[Variable | None]:
    """The gradients of ``targets``, each times its ``target_gradients`` (1 by default), by ``inputs``."""
    targets, inputs = _several(targets), _several(inputs)
    given = _several(target_gradients) if target_gradients is not None else [None] * len(targets)
    if len(given) != len(targets):
        raise BadArgument(f"there are {len(targets)} targets and {len(given)} target_gradients")
    block = targets[0].block.program.global_block()
    wanted = {each.name for each in inputs}
    found = _Walk(block, [each.name for each in targets], _names(no_grad_set), wanted)
    for target, gradient in zip(targets, given, strict=True):
        if gradient is None:
            attrs = {"shape": list(target.shape), "value": 1.0, "dtype": int(target.dtype), ROLE: BACKWARD}
            _append(block, "fill_constant", {}, {"Out": [target.grad_name]}, attrs)
        else:
            _append(block, "assign", {"X": [gradient.name]}, {"Out": [target.grad_name]}, {ROLE: BACKWARD})
    found.append()
    return [block.vars[each.grad_name] if each.name in found.reached else None for each in inputs]


calc_gradient = gradients


class _Walk:
    """The operators between what is wanted and the targets. ``reached``: the wanted ones with a gradient."""

    def __init__(self, block: Block, targets: Sequence[str], stopped: Collection[str], wanted: set[str]):
        self._block, self._targets = block, targets
        self._depends = self._depending(wanted, set(stopped) - wanted)
        self.path = list(self._back(set(targets) & self._depends))
        self.reached = {name for op in self.path for name in self._sources(op)} & wanted

    def append(self) -> None:
        """Write a gradient operator for each, and sums of the gradients of what is used several times."""
        uses: dict[str, int] = {}
        for op in self.path:
            for name in self._sources(op):
                uses[name] = uses.get(name, 0) + 1
        parts: dict[str, list[str]] = {name: [] for name in uses}
        for op in self.path:
            outputs: dict[str, list[str]] = {}
            for slot, names in op.inputs.items():
                sources = [name for name in names if name in self._depends]
                outputs |= (
                    {slot + GRAD_SUFFIX: [_part(name, uses, parts) for name in sources]} if sources else {}
                )
            given = {
                slot + GRAD_SUFFIX: [name + GRAD_SUFFIX for name in names if name in self._depends]
                for slot, names in op.outputs.items()
            }
            slots = {**op.inputs, **op.outputs, **{slot: names for slot, names in given.items() if names}}
            _append(self._block, op.type + "_grad", slots, outputs, {**op.attrs, ROLE: BACKWARD})
            self._add_up(op, uses, parts)

    def _add_up(self, op: Operator, uses: dict[str, int], parts: dict[str, list[str]]) -> None:
        for name in dict.fromkeys(self._sources(op)):
            if len(parts[name]) == uses[name] > 1:
                out = {"Out": [name + GRAD_SUFFIX]}
                _append(self._block, "sum", {"X": parts[name]}, out, {ROLE: BACKWARD})

    def _sources(self, op: Operator) -> list[str]:
        return [name for name in op.input_arg_names if name in self._depends]

    def _depending(self, wanted: set[str], stopped: set[str]) -> set[str]:
        depends = set(wanted)
        for op in self._block.ops:
            if not _is_forward(op) or depends.isdisjoint(op.input_arg_names):
                continue
            for name in op.output_arg_names:
                variable = self._block._find_var_recursive(name)
                if variable is None or variable.stop_gradient or name in stopped:
                    continue
                if is_float(variable.dtype):
                    depends.add(name)
        return depends

    def _back(self, influential: set[str]) -> list[Operator]:
        path = []
        for op in reversed(self._block.ops):
            if not _is_forward(op) or influential.isdisjoint(op.output_arg_names):
                continue
            sources = self._sources(op)
            if sources:
                influential.update(sources)
                path.append(op)
        return path


def _is_forward(op: Operator) -> bool:
    return op.role != BACKWARD and op.type not in UPDATES and is_lowered(op)


def _part(name: str, uses: dict[str, int], parts: dict[str, list[str]]) -> str:
    gradient = name + GRAD_SUFFIX
    parts[name].append(gradient if uses[name] == 1 else f"{gradient}@RENAME@block0@{len(parts[name])}")
    return parts[name][-1]


def _append(
    block: Block, type: str, inputs: Any, outputs: dict[str, list[str]], attrs: dict[str, Any]
) -> None:
    for name in (name for names in outputs.values() for name in names):
        if not block.has_var(name):
            of = block._find_var_recursive(name.split(GRAD_SUFFIX)[0])
            traits = {} if of is None else {"shape": of.shape, "dtype": of.dtype, "lod_level": of.lod_level}
            block.create_var(name, stop_gradient=False, **traits)
    made = Operator(block, type, inputs, outputs, attrs)
    block.ops.append(made)
    block.program._bump()


def _parameters(block: Block, given: Sequence[Any] | None) -> list[Parameter]:
    names = None if given is None else [each if isinstance(each, str) else each.name for each in given]
    wanted = block.all_parameters() if names is None else [block.var(name) for name in names]
    learns = (each for each in wanted if isinstance(each, Parameter) and each.trainable)
    return [each for each in learns if not each.stop_gradient]


def _names(given: Collection[Any] | None) -> set[str]:
    return {each if isinstance(each, str) else each.name for each in given or ()}


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]
