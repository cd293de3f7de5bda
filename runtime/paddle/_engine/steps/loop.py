"""A loop: the part of a step that has to be run moment by moment, and the gradients of it. Data only.

It must never know a value. Guarantee: gradients are those that ``autodiff`` derives; of what all moments
share they are computed on the rows of all moments at once, wherever the operator works row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from paddle._engine import registry
from paddle._engine.autodiff import Backward
from paddle._engine.program import EMPTY, GRAD, Block, Form, Operator, Variable
from paddle._engine.steps.kinds import SHARED, Kind, is_rowwise


@dataclass(frozen=True, slots=True)
class Memory:
    """``now`` is what ``next`` was one moment earlier, and at first the input ``boot`` or, without one,
    ``start``."""

    now: str
    next: str
    boot: str | None
    start: float = 0


@dataclass(frozen=True, eq=False)
class Loop:
    """``inputs`` stand for what slot In of the operator reads, ``outputs`` for what slot Out writes."""

    operators: tuple[Operator, ...]
    variables: Mapping[str, Variable]
    kinds: Mapping[str, Kind]
    inputs: tuple[str, ...]
    memories: tuple[Memory, ...]
    outputs: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<{len(self.operators)} operators>"

    @cached_property
    def for_test(self) -> Loop:
        """The same with operators that behave otherwise in a test switched over."""
        switched = (
            replace(each, attrs={**each.attrs, "is_test": True}) if "is_test" in each.attrs else each
            for each in self.operators
        )
        return replace(self, operators=tuple(switched))

    @cached_property
    def for_gradients_in_test(self) -> Loop:
        """The same as ``for_test``, but for loops within, which keep what gradients are made of."""
        tested = zip(self.operators, self.for_test.operators, strict=True)
        return replace(self, operators=tuple(_kept(each) or other for each, other in tested))

    @cached_property
    def boots(self) -> frozenset[str]:
        """The inputs with which memories begin."""
        return frozenset(each.boot for each in self.memories if each.boot)

    @cached_property
    def recalled(self) -> frozenset[str]:
        """What the memories are at each moment."""
        return frozenset(each.now for each in self.memories)

    @cached_property
    def passed_on(self) -> frozenset[str]:
        """Memories that are what another one is a moment later: of two moments they are needed at once."""
        return self.recalled & {each.next for each in self.memories}


def _kept(operator: Operator) -> Operator | None:
    """A loop that computes as in a test, and keeps as in training."""
    loop = operator.attrs.get("loop")
    if "is_test" not in operator.attrs or not isinstance(loop, Loop):
        return None
    return replace(operator, attrs={**operator.attrs, "loop": loop.for_gradients_in_test})


@dataclass(frozen=True, slots=True)
class Backwards:
    """``each``: run at each moment, the last first; then ``once``, on all moments.

    ``seeds``: where the gradient of each output is to come, and that which a memory carries from the moment
    behind; EMPTY where it is not needed. ``kinds``: of all gradients. ``sums``: those that are summed over
    moments; ``whole``: those of which all moments are kept.
    """

    each: tuple[Operator, ...]
    once: tuple[Operator, ...]
    seeds: tuple[str, ...]
    carried: tuple[str, ...]
    variables: Mapping[str, Variable]
    kinds: Mapping[str, Kind]
    sums: frozenset[str]
    whole: frozenset[str]


@lru_cache(maxsize=64)
def backwards(loop: Loop, wanted: frozenset[str]) -> Backwards:
    """The gradients of the inputs ``wanted``: of input NAME it is NAME@GRAD, if there is one."""
    block = Block(dict(loop.variables), list(loop.operators))
    nexts = [each.next for each in loop.memories]
    # what a memory is reaches the gradient of what it began with, or of anything else
    walk = Backward(block, [*loop.outputs, *nexts], set(wanted) | loop.recalled)
    names = [_seed(walk, block, name) for name in (*loop.outputs, *nexts)]
    walk.append()
    operators = block.operators[len(loop.operators) :]
    kinds = {
        **loop.kinds,
        **{name: loop.kinds[name.split(GRAD)[0]] for name in block.variables if GRAD in name},
    }
    each, once = _parted(operators, kinds)
    count = len(loop.outputs)
    later = {name for operator in once for name in operator.reads() if GRAD in name}
    made = {name for operator in each for name in operator.writes()} | set(filter(None, names))
    sums = {
        name
        for name in made
        if not kinds[name].varies
        and (name in later or (name.removesuffix(GRAD) in wanted and name.endswith(GRAD)))
    }
    rows = {name + GRAD for name in wanted if kinds[name].varies}
    return Backwards(
        tuple(each),
        tuple(once),
        tuple(names[:count]),
        tuple(names[count:]),
        block.variables,
        kinds,
        frozenset(sums),
        frozenset((later | rows) & made - sums),
    )


def _seed(walk: Backward, block: Block, name: str) -> str:
    seed = walk.seed(name) if name in walk.seeded else EMPTY
    if seed:
        walk.declare(seed, block.variables[name].form)
    return seed


def _parted(
    operators: Iterable[Operator], kinds: Mapping[str, Kind]
) -> tuple[list[Operator], list[Operator]]:
    """Which gradients are computed at each moment, and which once on all of them.

    What is shared has no rows, so its gradient sums over those of all moments.
    """
    each, once = list[Operator](), list[Operator]()
    for operator in operators:
        shared = {n for n in operator.writes() if kinds[n].of == SHARED}
        if operator.type == "sum" and shared:
            once.append(operator)
        elif shared and _is_rowwise(operator, kinds):
            each += _without(operator, shared)
            once.append(_only(operator, shared))
        else:
            each.append(operator)
    return each, once


def _is_rowwise(operator: Operator, kinds: Mapping[str, Kind]) -> bool:
    reads = [kinds[name] for name in operator.reads()]
    return is_rowwise(operator) and all(kind.of == SHARED or kind.varies for kind in reads)


def _without(operator: Operator, shared: set[str]) -> Iterator[Operator]:
    outputs = {
        slot: tuple(EMPTY if name in shared else name for name in names)
        for slot, names in operator.outputs.items()
    }
    if any(chosen for names in outputs.values() for chosen in names):
        yield replace(operator, outputs=outputs)


def _only(operator: Operator, shared: set[str]) -> Operator:
    outputs = {
        slot: tuple(name if name in shared else EMPTY for name in names)
        for slot, names in operator.outputs.items()
    }
    inputs, reused = dict(operator.inputs), registry.gradient(operator.type.removesuffix("_grad")).reuses
    known = operator.outputs.get(reused + GRAD, (EMPTY,))
    if reused and known[0] and known[0] not in shared:
        inputs[reused + registry.KNOWN] = known
    return replace(operator, inputs=inputs, outputs=outputs)


def form_of(variable: Variable, rows: int, floating: str) -> Form:
    """The form of a variable at a moment at which it has so many rows, computed with in ``floating``."""
    dtype = floating if variable.dtype == "float32" else variable.dtype
    shape = variable.shape
    return Form((rows, *shape[1:]) if shape[:1] == (-1,) else shape, dtype)
