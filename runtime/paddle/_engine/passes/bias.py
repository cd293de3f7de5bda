"""Fuse a bias with the activation behind it, or with the softmax and cost behind it: a layer that is fully
connected becomes a product of matrices and one pass over its result, and so does the way back.

The gradient of the activation's input and that of the bias, which is its sum, are made by one operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddle._engine.ops.biased import ACTIVATIONS
from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import GRAD, Operator, Slots, Variable

_COST = "softmax_with_cross_entropy"


def fuse_bias(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """Each sum of rows and a vector that only an activation reads, with it; and their gradients."""
    uses, replaced = Uses(operators, setting.keep), Replaced()
    for operator in operators:
        if operator.type == "elementwise_add" and _adds_a_bias(operator, setting.variables):
            pair = _pair(operator, uses)
            replaced |= pair.fused() if pair is not None else {}
    return replaced_in(operators, replaced)


def _adds_a_bias(add: Operator, variables: Mapping[str, Variable]) -> bool:
    x, y = (variables.get(add.inputs[slot][0]) for slot in ("X", "Y"))
    if x is None or y is None or len(x.shape) < 2 or len(y.shape) > len(x.shape):
        return False
    (*before, size), (*others, width) = x.shape, y.shape or (0,)
    return width == size > 0 and set(others) <= {1} and set(before) != {1}


@dataclass(frozen=True)
class _Pair:
    """A bias being added, what is behind it, and their gradients, of which there may be none."""

    add: Operator
    behind: Operator
    add_grad: Operator | None
    behind_grad: Operator | None

    def fused(self) -> Replaced:
        found: Replaced = {id(self.add): (), id(self.behind): (self._forward(),)}
        if self.add_grad is not None and self.behind_grad is not None:
            found |= {id(self.behind_grad): (), id(self.add_grad): (self._backward(self.behind_grad),)}
        return found

    def _forward(self) -> Operator:
        both = {"X": self.add.inputs["X"], "Bias": self.add.inputs["Y"]}
        if self.behind.type == _COST:
            told = both | {"Label": self.behind.inputs["Label"]}
            return Operator("bias_softmax_cost", told, self.behind.outputs, self.behind.attrs)
        return Operator("bias_activation", both, self.behind.outputs, self._attrs())

    def _backward(self, behind: Operator) -> Operator:
        assert self.add_grad is not None
        given = "Loss" if behind.type == _COST + "_grad" else "Out"
        inputs = {slot: names for slot, names in behind.inputs.items() if slot in self._needed(given)}
        outputs: Slots = {
            slot + GRAD: self.add_grad.outputs[of + GRAD]
            for slot, of in (("X", "X"), ("Bias", "Y"))
            if of + GRAD in self.add_grad.outputs
        }
        if given == "Loss":
            return Operator("bias_softmax_cost_grad", inputs, outputs, self.behind.attrs, "backward")
        return Operator("bias_activation_grad", inputs, outputs, self._attrs(), "backward")

    def _attrs(self) -> dict[str, object]:
        limits = {name: self.behind.attrs[name] for name in ("x_min", "x_max") if name in self.behind.attrs}
        return {"act": self.behind.type, "x_min": -float("inf"), "x_max": float("inf")} | limits

    @staticmethod
    def _needed(given: str) -> tuple[str, ...]:
        return ("Softmax", "Label", "Loss" + GRAD) if given == "Loss" else ("Out", "Out" + GRAD)


def _pair(add: Operator, uses: Uses) -> _Pair | None:
    """The pair that ``add`` is part of, if it and its gradients are of no use to others."""
    (between,) = add.outputs["Out"]
    behind = uses.only_reader(between)
    if behind is None or behind.type not in (*ACTIVATIONS, _COST) or uses.has_other_gradients(between):
        return None
    behind_grad = uses.writer(between + GRAD)
    if behind_grad is None:
        return _Pair(add, behind, None, None)
    add_grad = uses.only_reader(between + GRAD)
    if (
        behind_grad.type != behind.type + "_grad"
        or add_grad is None
        or add_grad.type != "elementwise_add_grad"
    ):
        return None
    return _Pair(add, behind, add_grad, behind_grad)
