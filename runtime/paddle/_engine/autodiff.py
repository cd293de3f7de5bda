"""Gradients as operators: autodiff reads the forward operators backwards and appends to the same program.

It must never know how a gradient is computed (the registry does) nor apply one (the exchange does).

Guarantee: every variable's gradient is complete, a sum over all its uses, before an operator reads it; a
gradient that no parameter needs is not computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from paddle._engine import registry
from paddle._engine.errors import NotDifferentiable, ShapeError
from paddle._engine.program import EMPTY, GRAD, Block, Form, Operator, Parameter, Program, Variable


def append_backward(
    program: Program, loss: Variable, parameters: Sequence[Parameter] | None = None
) -> list[tuple[Parameter, Variable]]:
    """Append the operators that compute the gradients of ``loss``, summed over its elements.

    ``parameters``: those wanted, all that are not static if None. Returns each of them that ``loss``
    depends on with the variable of its gradient, ``NAME@GRAD``. Where none is wanted, as in a network all
    of whose parameters are static, nothing is appended and there are no pairs; but that the loss depends on
    none of those wanted is an error.
    """
    wanted = [p for p in program.parameters() if not p.is_static] if parameters is None else list(parameters)
    backward = Backward(program.main, [loss.name], {parameter.name for parameter in wanted})
    if backward.reached:
        seed = Operator(
            "fill_any_like",
            {"X": (loss.name,)},
            {"Out": (backward.seed(loss.name),)},
            {"value": 1.0},
            "backward",
        )
        backward.emit(seed)
        backward.append()
    pairs = [(p, program.variable(p.name + GRAD)) for p in wanted if p.name in backward.reached]
    if wanted and not pairs:
        raise NotDifferentiable(f"{loss.name!r} depends on none of the parameters {[p.name for p in wanted]}")
    return pairs


def append_exchange(program: Program, pairs: Sequence[tuple[Parameter, Variable]]) -> None:
    """Append the operator that hands the gradients over: the end of a training program.

    Without pairs it hands over nothing, but a step remains a step, which the exchange counts.
    """
    for parameter, gradient in pairs:
        if parameter.spec.sparse and gradient.kind != "rows":
            raise ShapeError(
                f"parameter {parameter.name!r} is sparse, but its gradient is dense: use it only in "
                "lookup_table with is_sparse, or make it a dense parameter"
            )
    inputs = {"Param": tuple(p.name for p, _ in pairs), "Grad": tuple(g.name for _, g in pairs)}
    program.main.append(Operator("exchange", inputs, {}, {}, "exchange"))


class Backward:
    """One walk backwards over a block, from variables whose gradients come from outside.

    ``seeds``: their names, once for each such gradient. ``append`` comes after all of these are there.
    ``stopped``: variables that no gradient goes through, unless it is wanted itself. ``suffix``: of the names
    of gradients, where another walk over the block has made its own.
    """

    def __init__(
        self,
        block: Block,
        seeds: Sequence[str],
        wanted: set[str],
        stopped: Collection[str] = (),
        suffix: str = "",
    ):
        self._block = block
        self._grad = GRAD + suffix
        self._depends = depending(block, wanted, stopped)
        self.seeded = [name for name in seeds if name in self._depends]
        self._path = list(path_back(block, set(self.seeded), self._depends))
        self.reached = {name for operator in self._path for name in self._sources(operator)}
        self._uses = Counter(name for operator in self._path for name in self._sources(operator))
        self._uses.update(self.seeded)
        self._parts: dict[str, list[str]] = {name: [] for name in self._uses}
        self._forms = {name: variable.form for name, variable in block.variables.items()}

    def seed(self, name: str) -> str:
        """The name under which a gradient from outside is to come, EMPTY where none is needed."""
        return self._part(name)

    def append(self) -> None:
        """Append the gradients of all operators on the way."""
        for name in dict.fromkeys(self.seeded):
            self._complete(name)
        for operator in self._path:
            self.emit(self._gradient_of(operator))
            for name in dict.fromkeys(self._sources(operator)):
                self._complete(name)

    def _sources(self, operator: Operator) -> Iterator[str]:
        """The inputs of an operator that a gradient must reach, one for each use."""
        for slot in registry.gradient(operator.type).of:
            yield from (name for name in operator.inputs[slot] if name in self._depends)

    def _gradient_of(self, operator: Operator) -> Operator:
        gradient = registry.gradient(operator.type)
        forward = {**operator.inputs, **operator.outputs}
        inputs = {slot: forward[slot] for slot in gradient.needs}
        for slot in (gradient.given, *gradient.also):
            inputs[slot + GRAD] = tuple(map(self._given, operator.outputs[slot]))
        for slot in gradient.perhaps:
            inputs[slot + GRAD] = tuple(n + self._grad for n in operator.outputs[slot] if n in self._uses)
        outputs = {
            slot + GRAD: tuple(map(self._part, operator.inputs[slot]))
            for slot in gradient.of
            if any(name in self._depends for name in operator.inputs[slot])
        }
        return Operator(operator.type + "_grad", inputs, outputs, operator.attrs, "backward")

    def _given(self, name: str) -> str:
        """The gradient of an output: zeros where nothing depends on that."""
        if name not in self._uses:
            zeros = Operator(
                "fill_any_like", {"X": (name,)}, {"Out": (name + self._grad,)}, {"value": 0.0}, "backward"
            )
            self.emit(zeros)
        return name + self._grad

    def _part(self, name: str) -> str:
        """The name under which one use of a variable contributes to its gradient."""
        if name not in self._depends:
            return EMPTY
        parts = self._parts[name]
        parts.append(name + self._grad if self._uses[name] == 1 else f"{name}{self._grad}@{len(parts)}")
        return parts[-1]

    def _complete(self, name: str) -> None:
        """Once all uses have contributed, add them up."""
        parts = self._parts[name]
        if len(parts) == self._uses[name] > 1:
            self.emit(Operator("sum", {"X": tuple(parts)}, {"Out": (name + self._grad,)}, {}, "backward"))

    def emit(self, operator: Operator) -> None:
        """Append an operator, and declare what it writes."""
        made = registry.infer(operator, self._forms)
        self._forms |= made
        for name, form in made.items():
            self._block.add(Variable.of(name, form))
        self._block.append(operator)

    def declare(self, name: str, form: Form) -> None:
        """Declare a gradient that comes from outside."""
        self._forms[name] = form
        self._block.add(Variable.of(name, form))


def depending(block: Block, wanted: set[str], stopped: Collection[str] = ()) -> set[str]:
    """All floating variables that some wanted parameter has an influence on, the parameters included; of
    what only goes through those ``stopped`` none."""
    depends = set(wanted)
    for operator in block.operators:
        if operator.role == "forward" and any(name in depends for name in operator.reads()):
            made = (n for n in operator.writes() if block.variables[n].dtype != "int64")
            depends.update(name for name in made if name not in stopped)
    return depends


def path_back(block: Block, influential: set[str], depends: set[str]) -> Iterator[Operator]:
    """The forward operators between what is wanted and the influential variables, last first."""
    for operator in reversed(block.operators):
        if operator.role != "forward" or influential.isdisjoint(operator.writes()):
            continue
        if depends.isdisjoint(operator.reads()):
            continue  # it makes what is wanted itself, and has no need of a gradient
        gradient = registry.gradient(operator.type)
        slots = (gradient.given, *gradient.also, *gradient.perhaps)
        differentiable = {name for slot in slots for name in operator.outputs[slot]}
        if others := influential.intersection(operator.writes()) - differentiable:
            raise NotDifferentiable(f"{sorted(others)} of operator {operator.type!r} have no gradient")
        sources = {name for slot in gradient.of for name in operator.inputs[slot] if name in depends}
        if sources:
            influential |= sources
            yield operator
