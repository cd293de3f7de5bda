"""Costs: one number for each sample unless it is said."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import of_layers
from paddle.fluid.layers.appending import appended, several

__all__ = [
    "bpr_loss",
    "cross_entropy",
    "dice_loss",
    "hinge_loss",
    "huber_loss",
    "kldiv_loss",
    "log_loss",
    "margin_rank_loss",
    "mse_loss",
    "npair_loss",
    "rank_loss",
    "sigmoid_cross_entropy_with_logits",
    "smooth_l1",
    "softmax_with_cross_entropy",
    "square_error_cost",
]


def cross_entropy(
    input: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100
) -> Variable:
    """-log of the probability of the label; of soft labels the sum over all, each as much as it is said."""
    inputs = {"X": input, "Label": label}
    if not soft_label:
        return appended("cross_entropy2", inputs, {"ignore_index": ignore_index}, out="Y")
    return appended("cross_entropy", inputs, {"soft_label": True, "ignore_index": ignore_index}, out="Y")


def softmax_with_cross_entropy(
    logits: Variable,
    label: Variable,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Variable | tuple[Variable, Variable]:
    """The cross entropy of the softmax, computed together."""
    attrs = {
        "soft_label": soft_label,
        "ignore_index": ignore_index,
        "numeric_stable_mode": numeric_stable_mode,
        "axis": axis,
    }
    inputs, outs = {"Logits": logits, "Label": label}, {"Softmax": None, "Loss": None}
    softmax, loss = several("softmax_with_cross_entropy", inputs, outs, attrs)
    return (loss, softmax) if return_softmax else loss


def square_error_cost(input: Variable, label: Variable) -> Variable:
    """The square of the difference, element by element."""
    helper = LayerHelper("square_error_cost")
    apart, squared = (helper.create_variable_for_type_inference(input.dtype) for _ in range(2))
    helper.append_op("elementwise_sub", {"X": input, "Y": label}, {"Out": [apart]}, {"axis": -1})
    helper.append_op("square", {"X": apart}, {"Out": [squared]})
    return squared


def mse_loss(input: Variable, label: Variable) -> Variable:
    """The mean of the squares of all differences."""
    from paddle.fluid.layers import nn

    return nn.reduce_mean(square_error_cost(input, label))


def log_loss(input: Variable, label: Variable, epsilon: float = 1e-4, name: str | None = None) -> Variable:
    """-y log(p + epsilon) - (1 - y) log(1 - p + epsilon)."""
    inputs = {"Predicted": input, "Labels": label}
    return appended("log_loss", inputs, {"epsilon": epsilon}, out="Loss", name=name)


def sigmoid_cross_entropy_with_logits(
    x: Variable, label: Variable, ignore_index: int = -100, name: str | None = None, normalize: bool = False
) -> Variable:
    """The cross entropy of each sigmoid; labels that are ignored cost nothing."""
    attrs = {"ignore_index": ignore_index, "normalize": normalize}
    return appended("sigmoid_cross_entropy_with_logits", {"X": x, "Label": label}, attrs, name=name)


def huber_loss(input: Variable, label: Variable, delta: float) -> Variable:
    """Half the square near 0, a straight line beyond ``delta``."""
    inputs, outs = {"X": input, "Y": label}, {"Residual": None, "Out": None}
    return several("huber_loss", inputs, outs, {"delta": float(delta)})[1]


def smooth_l1(
    x: Variable,
    y: Variable,
    inside_weight: Variable | None = None,
    outside_weight: Variable | None = None,
    sigma: float | None = None,
) -> Variable:
    """The sum over each row of squares near 0 and straight lines beyond 1 / sigma**2."""
    inputs = {"X": x, "Y": y, "InsideWeight": inside_weight, "OutsideWeight": outside_weight}
    attrs = {"sigma": 1.0 if sigma is None else float(sigma)}
    return several("smooth_l1_loss", inputs, {"Diff": None, "Out": None}, attrs)[1]


def bpr_loss(input: Variable, label: Variable, name: str | None = None) -> Variable:
    """How far the label's score is from being above all others', as Bayes ranks them."""
    return appended("bpr_loss", {"X": input, "Label": label}, out="Y", name=name)


def rank_loss(label: Variable, left: Variable, right: Variable, name: str | None = None) -> Variable:
    """The cross entropy of which of two scores is the greater one."""
    return appended("rank_loss", {"Label": label, "Left": left, "Right": right}, name=name, dtype=left.dtype)


def margin_rank_loss(
    label: Variable, left: Variable, right: Variable, margin: float = 0.1, name: str | None = None
) -> Variable:
    """max(0, margin - label * (left - right))."""
    inputs = {"Label": label, "X1": left, "X2": right}
    outs = {"Out": left.dtype, "Activated": left.dtype}
    return several("margin_rank_loss", inputs, outs, {"margin": margin}, name)[0]


def hinge_loss(input: Variable, label: Variable, name: str | None = None) -> Variable:
    """max(0, 1 - x) of the class 1, max(0, 1 + x) of the class 0."""
    return appended("hinge_loss", {"Logits": input, "Labels": label}, out="Loss", name=name)


def kldiv_loss(x: Variable, target: Variable, reduction: str = "mean", name: str | None = None) -> Variable:
    """How far from ``target`` the distribution is whose logarithms are ``x``."""
    return appended("kldiv_loss", {"X": x, "Target": target}, {"reduction": reduction}, out="Loss", name=name)


def dice_loss(
    input: Variable, label: Variable, epsilon: float = 0.00001, name: str | None = None
) -> Variable:
    """1 less twice what two sets share over what both have."""
    from paddle.fluid.layers import nn

    bare = nn.one_hot(label, depth=input.shape[-1])
    dims = list(range(1, len(input.shape)))
    inside = nn.reduce_sum(input * bare, dim=dims)
    both = nn.reduce_sum(input, dim=dims) + nn.reduce_sum(bare, dim=dims)
    return nn.reduce_mean(1 - inside * 2 / (both + epsilon), name=name)


def npair_loss(anchor: Variable, positive: Variable, labels: Variable, l2_reg: float = 0.002) -> Variable:
    """The cross entropy of who belongs to whom among a batch of pairs, and a penalty on long vectors."""
    from paddle.fluid.layers import nn
    from paddle.fluid.layers.tensor import cast

    count = max(labels.shape[0], anchor.shape[0])
    if count < 0:
        raise BadArgument(
            "npair_loss: the number of pairs is to be known: give data with append_batch_size=False"
        )
    helper = LayerHelper("npair_loss")
    of_each = nn.expand(nn.reshape(labels, [count, 1]), [1, count])
    same = helper.create_variable_for_type_inference("bool")
    turned = nn.transpose(of_each, [1, 0])
    helper.append_op("equal", {"X": [of_each], "Y": [turned]}, {"Out": [same]})
    shares = cast(same, "float32")
    shares = nn.elementwise_div(shares, nn.reduce_sum(shares, dim=1, keep_dim=True))
    scores = nn.matmul(anchor, positive, transpose_y=True)
    cost = softmax_with_cross_entropy(scores, shares, soft_label=True)
    assert isinstance(cost, Variable)
    squares = nn.elementwise_add(
        nn.reduce_mean(nn.reduce_sum(nn.elementwise_mul(anchor, anchor), 1)),
        nn.reduce_mean(nn.reduce_sum(nn.elementwise_mul(positive, positive), 1)),
    )
    return nn.elementwise_add(nn.scale(squares, 0.25 * l2_reg), nn.reduce_mean(cost))


__getattr__ = of_layers(__name__)
