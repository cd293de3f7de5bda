"""Fuse the gradient of a parameter with its subtraction, where nobody else wants that and the exchange lends
the parameter: the product is added to the parameter, and a large gradient is never written or read.

A parameter is subtracted from after the last operator that reads it. Where that one makes the slope of what
is below, the two become one, so that few rows go through the parameter once (tiled.py). What is rounded once
here is rounded twice otherwise, so values differ in their last bit from those of an exchange that lends
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in, without
from paddle._engine.program import GRAD, Operator

LEAST = 1 << 15
"""Values of a parameter from which on this pays; all smaller ones together are updated in one call."""


def descend(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each gradient of a product that only the exchange reads, of a large parameter that is lent, with its
    subtraction."""
    exchanges = [each for each in operators if each.type == "exchange"]
    if not setting.lent or len(exchanges) != 1:
        return list(operators)
    found = list(_descents(operators, exchanges[0], setting))
    return _moved(operators, exchanges[0], found) if found else list(operators)


@dataclass(frozen=True)
class _Descent:
    """A gradient that need not be. ``product`` makes it, ``last`` is the last that reads ``parameter``."""

    product: Operator
    parameter: str
    last: Operator
    multiplier: float

    def operator(self) -> Operator:
        """What stands for the gradient and its subtraction."""
        names = {"X": self.product.inputs["X"], "Slope": self.product.inputs["Out" + GRAD]}
        attrs = {"multiplier": self.multiplier}
        below = {"Below": self.last.outputs["X" + GRAD]} if self.passes_back else {}
        return Operator("descend", names | {"Param": (self.parameter,)}, below, attrs, "exchange")

    @property
    def passes_back(self) -> bool:
        """Whether the last one makes nothing but the other gradient of the same product."""
        last, product = self.last, self.product
        is_of_it = last.type == product.type and last.inputs == product.inputs
        return is_of_it and tuple(last.writes()) == last.outputs.get("X" + GRAD)


def _descents(operators: Sequence[Operator], exchange: Operator, setting: Setting) -> Iterator[_Descent]:
    uses = Uses(operators, setting.keep)
    for parameter, gradient in zip(exchange.inputs["Param"], exchange.inputs["Grad"], strict=True):
        variable, product = setting.variables.get(parameter), uses.writer(gradient)
        if variable is None or parameter not in setting.lent or prod(variable.shape) < LEAST:
            continue
        if product is None or product.type != "mul_grad" or tuple(product.writes()) != (gradient,):
            continue
        is_its_own = product.inputs["Y"] == (parameter,) and "Y" + GRAD in product.outputs
        if is_its_own and uses.only_reader(gradient) is exchange:
            last = [each for each in uses.readers(parameter) if each is not exchange][-1]
            yield _Descent(product, parameter, last, setting.lent[parameter])


def _moved(operators: Sequence[Operator], exchange: Operator, descents: Sequence[_Descent]) -> list[Operator]:
    """``mul_grad`` reads its parameter even where it makes that one's gradient: so it is at its place, or
    earlier than the last reader."""
    behind: dict[int, list[Operator]] = {}
    for each in sorted(descents, key=lambda each: not each.passes_back):
        behind.setdefault(id(each.last), []).append(each.operator())
    gone = {id(each.product) for each in descents} | {id(each.last) for each in descents if each.passes_back}
    replaced: Replaced = {
        id(operator): (*(() if id(operator) in gone else (operator,)), *behind.get(id(operator), ()))
        for operator in operators
        if id(operator) in gone or id(operator) in behind
    }
    replaced[id(exchange)] = (without(exchange, {each.parameter for each in descents}),)
    return replaced_in(operators, replaced)
