"""Pool first: what keeps the order of numbers, the bias of a channel and relu, is done after a maximum is
found, to a quarter of the numbers; and so is the way back.

The maximum of what is made of numbers is what is made of their maximum, in every bit, as rounding keeps
order, too. Of pixels that a bias makes equal, by rounding, another one may have the gradient; those that
relu makes zero have none in either order. No window of the pooling may be empty: it would give zero, with
no bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import GRAD, Operator, Shape


def pool_first(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each pooling for a maximum goes before biases and relus that nobody else wants; and their gradients."""
    uses, replaced = Uses(operators, setting.keep), Replaced()
    for operator in operators:
        if operator.type == "max_pool2d" and _sees_something(**operator.attrs):
            found = _Chain(operator, uses, setting).links()
            if found:
                replaced |= _swapped(operator, found, uses)
    return replaced_in(operators, replaced)


def _sees_something(
    ksize: Sequence[int], strides: Sequence[int], paddings: Sequence[int] | str, *, ceil_mode: bool
) -> bool:
    """Whether no window can lie beyond the image: where they touch, one that sticks out begins within it."""
    if not ceil_mode:
        return True
    touch = all(step <= size for size, step in zip(ksize, strides, strict=True))
    return touch and not isinstance(paddings, str) and not any(paddings)


@dataclass(frozen=True)
class _Link:
    """An operator that keeps order, or only reshapes, and its gradient, if there is one."""

    operator: Operator
    gradient: Operator | None

    @property
    def computes(self) -> bool:
        return self.operator.type != "reshape"

    @property
    def source(self) -> str:
        return self.operator.inputs["X"][0]


@dataclass(frozen=True)
class _Chain:
    """What stands between a pooling and what a bias is added to."""

    pool: Operator
    uses: Uses
    setting: Setting

    def links(self) -> list[_Link]:
        """Those that can go behind the pooling, from it upwards; none where it stays where it is."""
        (name,), (places,) = self.pool.inputs["X"], self.pool.outputs["Places"]
        gradient = self._gradient_of_pool()
        if places in self.setting.keep or any(each is not gradient for each in self.uses.readers(places)):
            return []
        shape, found, last = self._shape(name), list[_Link](), 0
        below, below_gradient = self.pool, gradient
        while (link := self._link(name, below, below_gradient)) is not None:
            found.append(link)
            name, below, below_gradient = link.source, link.operator, link.gradient
            if self._shape(name) == shape and link.computes:
                last = len(found)
        return found[:last]

    def _gradient_of_pool(self) -> Operator | None:
        made = self.uses.writer(self.pool.inputs["X"][0] + GRAD)
        return made if made is not None and made.type == "max_pool2d_grad" else None

    def _shape(self, name: str) -> Shape | None:
        variable = self.setting.variables.get(name)
        return None if variable is None else variable.shape

    def _link(self, name: str, below: Operator, below_gradient: Operator | None) -> _Link | None:
        """What makes ``name``, which ``below`` reads, if both ways go through it and nobody else looks on."""
        operator, made = self.uses.writer(name), self.uses.writer(name + GRAD)
        if operator is None or operator.role != "forward" or not self._keeps_order(operator):
            return None
        gradient = self.uses.only_reader(name + GRAD)
        readers = {id(each) for each in self.uses.readers(name)} - {id(gradient)}
        if name in self.setting.keep or readers != {id(below)} or made is not below_gradient:
            return None
        if self.uses.has_other_gradients(name):
            return None
        if below_gradient is None:
            return _Link(operator, None)
        back = (operator.inputs["X"][0] + GRAD,)
        if gradient is None or gradient.type != operator.type + "_grad":
            return None
        return _Link(operator, gradient) if gradient.outputs["X" + GRAD] == back else None

    def _keeps_order(self, operator: Operator) -> bool:
        if operator.type != "elementwise_add":
            return operator.type in ("relu", "reshape")
        x, y = (self._shape(operator.inputs[slot][0]) for slot in ("X", "Y"))
        return x is not None and len(x) == 4 and y in ((x[1], 1, 1), (1, x[1], 1, 1))


def _swapped(pool: Operator, links: Sequence[_Link], uses: Uses) -> Replaced:
    (out,) = pool.outputs["Out"]
    moved = [link for link in links if link.computes]
    names = [out, *(f"{out}.{number}" for number in range(len(moved) - 1, -1, -1))]
    forward = [
        replace(link.operator, inputs={**link.operator.inputs, "X": (before,)}, outputs={"Out": (behind,)})
        for link, behind, before in zip(moved, names, names[1:], strict=False)
    ]
    source = links[-1].source
    first = replace(pool, inputs={"X": (source,)}, outputs={**pool.outputs, "Out": (names[-1],)})
    replaced: Replaced = {id(link.operator): () for link in links} | {id(pool): (first, *forward[::-1])}
    pool_gradient = uses.writer(pool.inputs["X"][0] + GRAD)
    if pool_gradient is None:
        return replaced
    given = (*pool_gradient.inputs["Out" + GRAD], *(name + GRAD for name in names[1:]))
    backward = [
        _gradient(link.gradient, names[i], given[i], given[i + 1])
        for i, link in enumerate(moved)
        if link.gradient is not None
    ]
    last = replace(
        pool_gradient,
        inputs={**pool_gradient.inputs, "Out" + GRAD: given[-1:]},
        outputs={"X" + GRAD: (source + GRAD,)},
    )
    gone = {id(link.gradient): () for link in links}
    return replaced | gone | {id(pool_gradient): (*backward, last)}


def _gradient(gradient: Operator, out: str, given: str, made: str) -> Operator:
    inputs = {**gradient.inputs, "Out" + GRAD: (given,)}
    if "Out" in inputs:
        inputs["Out"] = (out,)
    return replace(gradient, inputs=inputs, outputs={**gradient.outputs, "X" + GRAD: (made,)})
