"""append_backward: gradient operators, as programs see, fetch and change what they give.

The operators written here name what is computed; how is the engine's autodiff (gradients.py). It must never
know a rule of any operator's gradient.

Guarantees: of every variable between the loss and what is wanted one call gives one gradient, summed over
all its uses: ``NAME@GRAD``, or where an earlier call has given that, ``NAME@GRAD_0``. Between the loss and
what is wanted stands no operator without a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from itertools import count
from typing import Any

from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType, is_float
from paddle._program.description.operator import BACKWARD, LOSS, ROLE, Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX, Variable, of_gradient
from paddle._program.errors import BadArgument, BadProgram
from paddle._program.lowering.flat_slots import is_flat, sloping
from paddle._program.lowering.op_rows import GRADIENT_OF, goes_back, has_row, is_lowered
from paddle._program.lowering.updates import is_update

_NUMBERS = frozenset({VarType.LOD_TENSOR, VarType.LOD_TENSOR_ARRAY, VarType.SELECTED_ROWS})
"""Types of variables that have gradients."""


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Any] | None = None,
    no_grad_set: Collection[Any] | None = None,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    checkpoints: Any = None,
    distop_context: Any = None,
) -> list[tuple[Any, Variable]]:
    """Append the gradients of ``loss``; gives each parameter that it depends on with its gradient, or each
    variable of ``parameter_list`` that it depends on."""
    if not isinstance(loss, Variable):
        raise BadArgument(f"a loss is a Variable of a program, not {loss!r}")
    block = loss.block.program.global_block()
    _check_callbacks(callbacks)
    check_no_branch(loss.block.program)
    stopped = set(_names("no_grad_set", no_grad_set))
    parameters = [each for each in _parameters(block, parameter_list) if each.name not in stopped]
    wanted = {each.name for each in parameters}
    found = _Walk(block, [loss.name], stopped, wanted | (_open_data(block) - stopped), others=True)
    found.append([None], LOSS)
    return [(each, found.gradient(each)) for each in parameters if each.name in found.reached]


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Collection[Any] | None = None
) -> list[Variable | None]:
    """The gradients of ``targets``, each times its ``target_gradients`` (1 by default), by ``inputs``."""
    targets, inputs = _variables("targets", targets), _variables("inputs", inputs)
    if not targets:
        raise BadArgument("gradients: targets is a Variable of the program or several, and there is none")
    given: list[Variable | None] = [None] * len(targets)
    if target_gradients is not None:
        given = [
            None if each is None else _variables("target_gradients", each)[0]
            for each in _several(target_gradients)
        ]
    if len(given) != len(targets):
        raise BadArgument(f"there are {len(targets)} targets and {len(given)} target_gradients")
    check_no_branch(targets[0].block.program)
    block = targets[0].block.program.global_block()
    wanted = {each.name for each in inputs}
    found = _Walk(block, [each.name for each in targets], _names("no_grad_set", no_grad_set), wanted)
    if found.path:
        found.append(given)
    return [found.gradient(each) if each.name in found.reached else None for each in inputs]


def calc_gradient(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Collection[Any] | None = None
) -> Any:
    """The same, and of one input its gradient itself."""
    found = gradients(targets, inputs, target_gradients, no_grad_set)
    return found[0] if len(found) == 1 else found


class _Walk:
    """The operators between what is wanted and the targets. ``reached``: the wanted ones with a gradient.
    ``others``: whether all else that has gradients, and lies on lowered operators' way, gets them, too."""

    def __init__(
        self,
        block: Block,
        targets: Sequence[str],
        stopped: Collection[str],
        wanted: set[str],
        *,
        others: bool = False,
    ):
        self._block, self._targets = block, targets
        self._stopped = set(stopped) - wanted
        self._free = _is_plain if wanted else goes_back
        self._depends = self._needed = self._depending(wanted)
        if others:
            self._depends = self._needed | self._beside()
        self.path = list(self._back(set(targets) & self._depends))
        self.reached = {name for op in self.path for name in self._sources(op)} & wanted
        self._gradients: dict[str, str] = {}

    def gradient(self, of: Variable) -> Variable:
        """The gradient of one that was reached."""
        return self._block.vars[self._gradients[of.name]]

    def append(self, given: Sequence[Variable | None], role: int = 0) -> None:
        """Write the gradients of the targets, ``given`` or 1; then a gradient operator for each, and sums of
        the gradients of what is used several times."""
        for target, gradient in zip(self._targets, given, strict=True):
            self._seed(self._block._var_recursive(target), gradient, role)
        uses: dict[str, int] = {}
        for op in self.path:
            for name in self._sources(op):
                uses[name] = uses.get(name, 0) + 1
        parts: dict[str, list[str]] = {name: [] for name in uses}
        for op in self.path:
            outputs: dict[str, list[str]] = {}
            for slot, names in op.inputs.items():
                sources = [] if is_flat(op, slot) else [name for name in names if name in self._depends]
                if sources:
                    outputs[slot + GRAD_SUFFIX] = [self._part(name, uses, parts) for name in sources]
            come = {
                slot + GRAD_SUFFIX: [self._named(name) for name in names if name in self._depends]
                for slot, names in op.outputs.items()
            }
            slots = {**op.inputs, **op.outputs, **{slot: names for slot, names in come.items() if names}}
            made = _append(self._block, op.type + GRADIENT_OF, slots, outputs, {**op.attrs, ROLE: BACKWARD})
            made.where = op.where
            self._add_up(op, uses, parts)

    def _seed(self, target: Variable, gradient: Variable | None, role: int) -> None:
        out = {"Out": [self._named(target.name)]}
        if gradient is not None:
            _append(self._block, "assign", {"X": [gradient.name]}, out, {ROLE: BACKWARD | role})
            return
        attrs = {"shape": list(target.shape), "value": 1.0, "dtype": int(target.dtype)}
        _append(self._block, "fill_constant", {}, out, {**attrs, ROLE: BACKWARD | role})

    def _named(self, name: str) -> str:
        """The gradient of a name in this pass."""
        found = self._gradients.get(name)
        if found is None:
            found, taken = name + GRAD_SUFFIX, count()
            while self._block.has_var(found):
                found = f"{name}{GRAD_SUFFIX}_{next(taken)}"
            self._gradients[name] = found
        return found

    def _part(self, name: str, uses: dict[str, int], parts: dict[str, list[str]]) -> str:
        gradient = self._named(name)
        parts[name].append(gradient if uses[name] == 1 else f"{gradient}@RENAME@block0@{len(parts[name])}")
        return parts[name][-1]

    def _add_up(self, op: Operator, uses: dict[str, int], parts: dict[str, list[str]]) -> None:
        for name in dict.fromkeys(self._sources(op)):
            if len(parts[name]) == uses[name] > 1:
                out = {"Out": [self._named(name)]}
                _append(self._block, "sum", {"X": parts[name]}, out, {ROLE: BACKWARD})

    def _sources(self, op: Operator) -> list[str]:
        return [name for name in sloping(op) if name in self._depends]

    def _depending(self, wanted: set[str]) -> set[str]:
        depends = set(wanted)
        for op in self._block.ops:
            if _carries(op) and not depends.isdisjoint(sloping(op)):
                depends.update(self._open(op))
        return depends

    def _beside(self) -> set[str]:
        """What else has a gradient; where something is wanted, it never makes that go through the host."""
        several = (op for op in self._block.ops if _carries(op))
        return {name for op in several for name in self._open(op)}

    def _open(self, op: Operator) -> Iterator[str]:
        """What it gives that gradients go through."""
        for name in op.output_arg_names:
            variable = self._block._find_var_recursive(name)
            if variable is None or variable.stop_gradient or name in self._stopped:
                continue
            if variable.type in _NUMBERS and is_float(variable.dtype):
                yield name

    def _back(self, influential: set[str]) -> list[Operator]:
        path = []
        for op in reversed(self._block.ops):
            if not _carries(op) or influential.isdisjoint(op.output_arg_names):
                continue
            sources = self._sources(op)
            if sources and (self._free(op) or not self._needed.isdisjoint(sources)):
                _check_has_gradient(op)
                influential.update(sources)
                path.append(op)
        return path


def _is_plain(op: Operator) -> bool:
    """Whether it is one of the engine's, so that its gradient costs nothing unless somebody reads it."""
    return has_row(op.type) and not is_update(op) and is_lowered(op)


def _carries(op: Operator) -> bool:
    """Whether a gradient goes through an operator, or has to be refused there. Functions of Python have one
    where a program says it, as upstream."""
    is_flat = op.type == "py_func" and op.attrs["backward_callable_id"] < 0
    return not is_update(op) and not is_flat


def _check_has_gradient(op: Operator) -> None:
    if not goes_back(op):
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}) lies between the loss and what is learned, and no "
            "gradient goes back through it in this release: what is before it would never learn. Compute it "
            "otherwise, or say that nothing is to be learned there: set stop_gradient of its output to True"
        )


def _append(
    block: Block, type: str, inputs: Any, outputs: dict[str, list[str]], attrs: dict[str, Any]
) -> Operator:
    for name in (name for names in outputs.values() for name in names):
        if not block.has_var(name):
            base = of_gradient(name.partition("@RENAME")[0])
            of = None if base is None else block._find_var_recursive(base)
            traits = {} if of is None else {"shape": of.shape, "dtype": of.dtype, "lod_level": of.lod_level}
            block.create_var(name, stop_gradient=False, **traits)
    made = Operator(block, type, inputs, outputs, attrs)
    block.ops.append(made)
    block.program._bump()
    return made


def _parameters(block: Block, given: Sequence[Any] | None) -> list[Any]:
    """Those that learn; where they are ``given``, data and other variables are taken, too."""
    wanted: list[Any] = block.all_parameters()
    if given is not None:
        wanted = [block.var(name) for name in _names("parameter_list", given)]
    return [each for each in wanted if getattr(each, "trainable", True) and not each.stop_gradient]


def _open_data(block: Block) -> set[str]:
    """Data of which a program has said that it has a gradient."""
    data = (each for each in block.vars.values() if each.is_data and not each.stop_gradient)
    return {each.name for each in data if each.has_dtype and is_float(each.dtype)}


def check_no_branch(program: Program) -> None:
    """Raise where a program that trains within a branch or loop would train without it."""
    if program.current_block_idx:
        raise BadProgram(
            "training within a branch or a loop (cond, case, Switch, While) is not in this release: it would "
            "be done whether the branch is taken or not. Compute the loss by the branch and call minimize() "
            "behind it, or write a program for each optimizer, on the same parameters, and run that one"
        )


def _check_callbacks(callbacks: Any) -> None:
    if callbacks is not None and not isinstance(callbacks, list | tuple):
        raise BadArgument(f"callbacks is a list of functions, not {callbacks!r:.60}")
    if callbacks:
        raise BadArgument(
            "append_backward: callbacks are not in this release: gradients are computed by the engine, and "
            "operators put between them would change nothing. Clip with grad_clip or fluid.clip, or look at "
            "the operators of the program when this has returned"
        )


def _names(argument: str, given: Any) -> list[str]:
    """The names of variables that an argument holds: Variables or names."""
    if given is None:
        return []
    if not isinstance(given, list | tuple | Set):
        raise BadArgument(f"{argument} is a list or set of Variables or their names, not {given!r:.60}")
    for each in given:
        if not isinstance(each, str | Variable):
            raise BadArgument(f"{argument} holds Variables or names of them, not {each!r:.60}")
    return list(dict.fromkeys(each if isinstance(each, str) else each.name for each in given))


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _variables(name: str, given: Any) -> list[Variable]:
    several = _several(given)
    for each in several:
        if not isinstance(each, Variable):
            raise BadArgument(f"gradients: {name} is a Variable of the program or several, not {each!r:.60}")
    return several
