"""Which slots of operators take floats alone: what whole numbers have no answer in.

One table for all operators: a row's shape rule need not look at it. Sources of the semantics: what the
original's layers refuse (TypeError), or have no kernel for. What whole numbers can be computed with, such as
sums, products and comparisons, is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paddle._engine.registry import Forms

Slots = tuple[str, ...]


def _only(*slots: str) -> Callable[[Forms], Slots]:
    return lambda forms: slots


def _beside(slot: str, other: str) -> Callable[[Forms], Slots]:
    """A slot, where another one has floats."""
    return lambda forms: (slot,) if forms[other].dtype.startswith("float") else ()


def _where(attr: str, *values: object) -> Callable[[Forms], Slots]:
    """X, where an attribute is none of these."""
    return lambda forms: () if forms.attrs[attr] in values else ("X",)


def _by_factor(forms: Forms) -> Slots:
    """Powers of whole numbers are whole by whole ones that are not negative."""
    factor = forms.attrs["factor"]
    return () if isinstance(factor, int) and factor >= 0 else ("X",)


_OF_X = (
    "acos asin atan bias_activation bias_softmax_cost brelu clip clip_by_norm clip_by_value cos cosh "
    "cross_entropy data_norm elu erf exp gelu hard_sigmoid hard_swish huber_loss leaky_relu log log1p "
    "log_softmax logsigmoid lrn mean mish nce_cost reciprocal reduce_mean relu6 round rsqrt scale "
    "scale_piece selu sequence_softmax sigmoid sin sinh soft_relu softmax softplus softshrink softsign sqrt "
    "standardize stanh swish tan tanh tanh_shrink"
)
FLOATS: Mapping[str, Callable[[Forms], Slots]] = {
    **dict.fromkeys(_OF_X.split(), _only("X")),
    **dict.fromkeys(("batch_norm", "batch_norm_told"), _only("X", "Mean", "Variance")),
    **dict.fromkeys(("softmax_with_cross_entropy", "softmax_with_soft_labels"), _only("Logits")),
    **dict.fromkeys(("lstm", "lstmp"), _only("X", "First", "FirstState")),
    **dict.fromkeys(("conv2d", "conv2d_transpose"), _beside("X", "Filter")),
    **dict.fromkeys(("outer_product", "scale_by"), _beside("X", "Y")),
    "square_error_cost": _beside("X", "Label"),
    "accuracy": _only("Out"),
    "cos_sim": _only("X", "Y"),
    "cvm": _where("is_kept", False),
    "dropout": _where("is_test", True),
    "gru": _only("X", "First"),
    "gru_layer": _only("X", "Hidden"),
    "lstm_layer": _only("X", "Hidden", "Cell"),
    "matmul": _where("alpha", 1),
    "multibox_loss": _only("Conf"),
    "pow": _by_factor,
    "selected_mul": _beside("X", "W"),
}
