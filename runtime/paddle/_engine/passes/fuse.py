"""Fuse softmax and the cross entropy of its result into one operator.

Faces write the two apart, because a program also reports the probabilities. Together they are faster, and
exact where a probability is too small for float32: the gradient never divides by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddle._engine.program import GRAD, Operator


def fuse_softmax_cost(operators: Sequence[Operator], keep: frozenset[str]) -> list[Operator]:
    """Each softmax and cross_entropy, and their gradients where there are any, as softmax_with_cross_entropy.

    Not where something else contributes to the gradient of the probabilities or wants to see it.
    """
    replaced: dict[int, Operator | None] = {}
    for softmax in operators:
        if softmax.type == "softmax" and (pair := _pair(operators, softmax)) and pair.can_fuse(keep):
            replaced |= pair.fused()
    with_gaps = [replaced.get(id(operator), operator) for operator in operators]
    return [operator for operator in with_gaps if operator is not None]


@dataclass(frozen=True)
class _Pair:
    """A softmax, the cross entropy of its result, and the gradients of the two."""

    softmax: Operator
    cost: Operator
    softmax_grad: Operator | None
    cost_grad: Operator | None
    label_comes_first: bool

    def can_fuse(self, keep: frozenset[str]) -> bool:
        if self.softmax_grad is None or self.cost_grad is None:
            return self.label_comes_first and self.softmax_grad is self.cost_grad
        between = self.cost_grad.outputs["X" + GRAD]
        alone = self.softmax_grad.inputs["Out" + GRAD] == between and keep.isdisjoint(between)
        return self.label_comes_first and alone

    def fused(self) -> dict[int, Operator | None]:
        """What stands in the place of each of these operators, by identity."""
        probabilities, label = self.softmax.outputs["Out"], self.cost.inputs["Label"]
        forward = Operator(
            "softmax_with_cross_entropy",
            {"Logits": self.softmax.inputs["X"], "Label": label},
            {"Loss": self.cost.outputs["Out"], "Softmax": probabilities},
            self.cost.attrs,
        )
        if self.softmax_grad is None or self.cost_grad is None:
            return {id(self.softmax): forward, id(self.cost): None}
        backward = Operator(
            "softmax_with_cross_entropy_grad",
            {"Softmax": probabilities, "Label": label, "Loss" + GRAD: self.cost_grad.inputs["Out" + GRAD]},
            {"Logits" + GRAD: self.softmax_grad.outputs["X" + GRAD]},
            self.cost.attrs,
            role="backward",
        )
        return {
            id(self.softmax): forward,
            id(self.cost): None,
            id(self.cost_grad): None,
            id(self.softmax_grad): backward,
        }


def _pair(operators: Sequence[Operator], softmax: Operator) -> _Pair | None:
    """The pair that a softmax is part of, if exactly one cross entropy reads its result."""
    probabilities = softmax.outputs["Out"]

    def reading(type: str, slot: str) -> list[Operator]:
        return [each for each in operators if each.type == type and each.inputs[slot] == probabilities]

    costs, cost_grads = reading("cross_entropy", "X"), reading("cross_entropy_grad", "X")
    softmax_grads = reading("softmax_grad", "Out")
    if len(costs) != 1:
        return None
    before = operators[: next(i for i, each in enumerate(operators) if each is softmax)]
    made_later = {name for each in operators for name in each.writes()} - {
        n for e in before for n in e.writes()
    }
    return _Pair(
        softmax,
        costs[0],
        softmax_grads[0] if softmax_grads else None,
        cost_grads[0] if cost_grads else None,
        made_later.isdisjoint(costs[0].inputs["Label"]),
    )
