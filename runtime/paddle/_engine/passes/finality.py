"""Let gradients of parameters be final as early as they can, so that they are on their way while others are
computed.

The gradient of a product of matrices is two products. The one that is a parameter's and leaves is computed
first, as an operator of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddle._engine.passes.setting import Setting
from paddle._engine.program import GRAD, Operator

_FIRST, _THEN = "Y" + GRAD, "X" + GRAD


def finish_gradients_early(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Part the gradients of products of which one leaves. The results are the same, bit for bit."""
    leaving = {name for each in operators if each.type == "exchange" for name in each.inputs["Grad"]}
    found: list[Operator] = []
    for operator in operators:
        outputs = operator.outputs
        if operator.type == "mul_grad" and len(outputs) == 2 and leaving.intersection(outputs[_FIRST]):
            found += [replace(operator, outputs={slot: outputs[slot]}) for slot in (_FIRST, _THEN)]
        else:
            found.append(operator)
    return found
