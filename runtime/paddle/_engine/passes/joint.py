"""Have the threads of a team compute a product with a large parameter together, and its gradients; where the
exchange lends the parameter, they move it, and its gradient is never made.

Only where the product, its gradients and the exchange are all that read the parameter, and nobody but the
exchange wants its gradient: what a part knows of a gradient is otherwise its own samples'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in, without
from paddle._engine.program import GRAD, Operator


def join(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each product with a parameter that the setting says, and its gradients, as a joint one."""
    exchanges = [each for each in operators if each.type == "exchange"]
    if not setting.joint or len(exchanges) != 1:
        return list(operators)
    replaced, moved = Replaced(), set[str]()
    for pair in _pairs(operators, exchanges[0], setting):
        replaced |= pair.joint()
        if pair.multiplier is not None:
            moved.add(pair.parameter)
    if moved:
        replaced[id(exchanges[0])] = (without(exchanges[0], moved),)
    return replaced_in(operators, replaced)


@dataclass(frozen=True)
class _Pair:
    """A product, and the gradients of it."""

    product: Operator
    gradients: Operator
    parameter: str
    multiplier: float | None

    def joint(self) -> Replaced:
        attrs = {"multiplier": self.multiplier}
        outputs = dict(self.gradients.outputs)
        if self.multiplier is not None:
            del outputs["Y" + GRAD]
        forward = replace(self.product, type="joint_mul", attrs=attrs)
        backward = replace(self.gradients, type="joint_mul_grad", outputs=outputs, attrs=attrs)
        return {id(self.product): (forward,), id(self.gradients): (backward,)}


def _pairs(operators: Sequence[Operator], exchange: Operator, setting: Setting) -> Iterator[_Pair]:
    uses = Uses(operators, setting.keep)
    for parameter, gradient in zip(exchange.inputs["Param"], exchange.inputs["Grad"], strict=True):
        if parameter not in setting.joint or uses.only_reader(gradient) is not exchange:
            continue
        readers = uses.readers(parameter)
        if [each.type for each in readers] != ["mul", "mul_grad", "exchange"]:
            continue
        product, gradients, _ = readers
        is_its_own = gradients.outputs.get("Y" + GRAD) == (gradient,)
        if is_its_own and product.inputs["Y"] == gradients.inputs["Y"] == (parameter,):
            yield _Pair(product, gradients, parameter, setting.joint[parameter])
