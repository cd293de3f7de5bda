"""Operators that PyTorch has too: value and gradient of the same cases, where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.single import Single
from tests.observed import observe

from ..passes.case import Case
from ..test_operators import DIFFERENTIABLE, OTHERS
from .further_torch_twins import FURTHER, LISTED
from .test_further_torch import DRAWN
from .torch_twins import LATER, PLAIN, F, Tensor, Twin, of_two, of_x, torch


def reduced(function: Callable[..., Tensor]) -> Twin:
    def twin(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
        x, dim = slots["X"][0], attrs["dim"]
        return function(x).reshape(1) if dim is None else function(x, dim, keepdim=attrs["keep_dim"])

    return twin


def runs(slots: dict[str, list[Tensor]], x: str = "X", offsets: str = "Offsets") -> Sequence[Tensor]:
    return torch.tensor_split(slots[x][0], slots[offsets][0][1:-1])


def pooled(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    """Bags of all rows, one after another; PyTorch's of nothing is zero, too."""
    x, offsets = slots["X" if "X" in slots else "W"][0], slots["Offsets"][0]
    rows = slots["Ids"][0].reshape(-1) if "Ids" in slots else torch.arange(len(x))
    how = attrs.get("pooltype", "max")
    mode = {"average": "mean", "sqrt": "sum"}.get(how, how)
    bags = F.embedding_bag(rows, x, offsets, mode=mode, include_last_offset=True)
    lengths = offsets.diff().clamp(min=1)[:, None].to(x.dtype)
    return bags / lengths.sqrt() if how == "sqrt" else bags


def normalized(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    scale, bias, mean, variance = (slots[s][0].reshape(-1) for s in ("Scale", "Bias", "Mean", "Variance"))
    training, x = not (attrs["use_global_stats"] or attrs["is_test"]), slots["X"][0]
    return F.batch_norm(
        x, mean.detach().clone(), variance.detach().clone(), scale, bias, training, eps=attrs["epsilon"]
    )


def multiplied(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    return entries(slots, len(slots["W"][0])) @ slots["W"][0]


def entries(slots: dict[str, list[Tensor]], width: int) -> Tensor:
    """The matrix of which these are the entries of each row; what lies in one place is added up."""
    starts, columns, amounts = (slots[slot][0] for slot in ("Starts", "Ids", "Amounts"))
    rows = torch.repeat_interleave(torch.arange(len(starts) - 1), starts.diff())
    places, shape = torch.stack([rows, columns]), (len(starts) - 1, width)
    return torch.sparse_coo_tensor(places, amounts, shape, check_invariants=True).to_dense()


def windowed(pool: Callable[..., Tensor]) -> Twin:
    def twin(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
        how = {} if pool is F.max_pool2d else {"count_include_pad": not attrs["exclusive"]}
        x = slots["X"][0]
        window = tuple(side or whole for side, whole in zip(attrs["ksize"], x.shape[2:], strict=True))
        moving = window, attrs["strides"], attrs["paddings"]
        return pool(x, *moving, ceil_mode=attrs["ceil_mode"], **how)

    return twin


def cut(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    """PyTorch has no slices backwards: those are chosen one by one."""
    x = slots["X"][0]
    steps = attrs["steps"] or (1,) * len(attrs["axes"])
    for axis, *bounds in zip(attrs["axes"], attrs["starts"], attrs["ends"], steps, strict=True):
        chosen = range(x.shape[axis])[slice(*bounds)]
        x = x.index_select(axis, torch.tensor(chosen))
    return x


def reshaped(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    x = slots["X"][0]
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(attrs["shape"])])


def cost(function: Callable[..., Tensor], x: Tensor, slots: dict[str, list[Tensor]], attrs: Any) -> Tensor:
    """PyTorch passes over the label -100 if it is told no other."""
    passed = -100 if attrs["ignored"] is None else attrs["ignored"]
    return function(x, slots["Label"][0][:, 0], reduction="none", ignore_index=passed)[:, None]


def divided(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    x, y = slots["X"][0], slots["Y"][0]
    return torch.div(x, y, rounding_mode=None if x.is_floating_point() else "trunc")


def squared_error(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    found = F.mse_loss(slots["X"][0], slots["Label"][0], reduction="none")
    return found.sum(1, keepdim=True) if attrs["per_sample"] else found


def clipped_by_norm(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    """PyTorch bounds a tensor by its own norm; here it is given, perhaps that of others besides."""
    return slots["X"][0] * (attrs["max_norm"] / slots["Squares"][0].sqrt().clamp(min=attrs["max_norm"]))


def with_clipped_error(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    out = slots["X"][0] * 1
    out.register_hook(lambda error: error.clamp(attrs["min"], attrs["max"]))
    return out


def put_back(slots: dict[str, list[Tensor]], attrs: dict[str, Any]) -> Tensor:
    x, places = slots["X"][0].flatten(2), slots["Places"][0].flatten(2)
    height, width = attrs["size"]
    return x.new_zeros(*x.shape[:2], height * width).scatter(2, places, x).unflatten(2, (height, width))


TWINS: dict[str, Twin] = {
    "square_error_cost": squared_error,
    "clip_by_norm": clipped_by_norm,
    "clip_error": with_clipped_error,
    "prune": lambda s, a: s["X"][0].masked_fill(s["Mask"][0] == 0, 0),
    "unpool": put_back,
    "mul": of_two(torch.matmul),
    "elementwise_add": of_two(torch.add),
    "elementwise_sub": of_two(torch.sub),
    "elementwise_mul": of_two(torch.mul),
    "elementwise_div": divided,
    "sum": lambda slots, attrs: torch.stack(slots["X"]).sum(0),
    "scale": lambda slots, attrs: slots["X"][0] * attrs["scale"] + attrs["bias"],
    "sigmoid": of_x(torch.sigmoid),
    "tanh": of_x(torch.tanh),
    "stanh": lambda slots, attrs: torch.tanh(slots["X"][0] * attrs["scale_a"]) * attrs["scale_b"],
    "relu": of_x(F.relu),
    "brelu": lambda slots, attrs: F.hardtanh(slots["X"][0], attrs["t_min"], attrs["t_max"]),
    "soft_relu": lambda s, a: F.softplus(s["X"][0].clamp(-a["threshold"], a["threshold"])),
    "softsign": of_x(F.softsign),
    "exp": of_x(torch.exp),
    "log": of_x(torch.log),
    "abs": of_x(torch.abs),
    "square": of_x(torch.square),
    "sqrt": of_x(torch.sqrt),
    "reciprocal": of_x(torch.reciprocal),
    "softmax": of_x(lambda x: F.softmax(x, -1)),
    "mean": of_x(lambda x: x.mean().reshape(1)),
    "reduce_sum": reduced(torch.sum),
    "reduce_mean": reduced(torch.mean),
    "reshape": reshaped,
    "concat": lambda slots, attrs: torch.cat(slots["X"], attrs["axis"]),
    "elementwise_pow": of_two(torch.pow),
    "outer_product": of_two(lambda x, y: x[:, :, None] * y[:, None, :]),
    "slice": cut,
    "pad": lambda s, a: F.pad(  # other numbers than constants want a batch of images
        s["X"][0][None, None],
        [side for pair in a["paddings"][::-1] for side in pair],
        {"edge": "replicate"}.get(a["mode"], a["mode"]),
        a["value"],
    )[0, 0],
    "transpose": lambda slots, attrs: slots["X"][0].permute(attrs["axis"]),
    "reverse": lambda slots, attrs: slots["X"][0].flip(attrs["axis"]),
    "bias_activation": lambda s, a: getattr(torch, a["act"])(s["X"][0] + s["Bias"][0].reshape(-1)),
    "bias_softmax_cost": lambda s, a: cost(F.cross_entropy, s["X"][0] + s["Bias"][0].reshape(-1), s, a),
    "lookup_pool": pooled,
    "lookup_beside": lambda slots, attrs: torch.cat(
        [F.embedding(ids.reshape(-1), slots["W"][0]) for ids in slots["Ids"]], 1
    ),
    "lookup_table": lambda slots, attrs: F.embedding(slots["Ids"][0][:, 0], slots["W"][0]),
    "sparse_mul": multiplied,
    "sparse_spread": lambda slots, attrs: entries(slots, attrs["width"]),
    "sequence_pool": pooled,
    "sequence_max": pooled,
    "sequence_expand": lambda s, a: torch.repeat_interleave(s["X"][0], s["Offsets"][0].diff(), 0),
    "sequence_reverse": lambda s, a: torch.cat([run.flip(0) for run in runs(s)]),
    "sequence_softmax": lambda s, a: torch.cat([F.softmax(run, 0) for run in runs(s)]),
    "sequence_concat": lambda s, a: torch.cat(
        [each for pair in zip(runs(s), runs(s, "Y", "YOffsets"), strict=True) for each in pair]
    ),
    "conv2d": lambda s, a: F.conv2d(
        s["X"][0], s["Filter"][0], None, a["strides"], a["paddings"], a["dilations"], a["groups"]
    ),
    "max_pool2d": windowed(F.max_pool2d),
    "adaptive_max_pool2d": lambda s, a: F.adaptive_max_pool2d(s["X"][0], a["size"]),
    "average_pool2d": windowed(F.avg_pool2d),
    "batch_norm": normalized,
    "cross_entropy": lambda s, a: cost(F.nll_loss, s["X"][0].log(), s, a),
    "softmax_with_cross_entropy": lambda s, a: cost(F.cross_entropy, s["Logits"][0], s, a),
    "softmax_with_soft_labels": lambda s, a: F.cross_entropy(s["Logits"][0], s["Label"][0], reduction="none")[
        :, None
    ],
    "cast": lambda slots, attrs: slots["X"][0].to(getattr(torch, attrs["dtype"])),
    "fill_constant": lambda slots, attrs: torch.full(
        attrs["shape"], attrs["value"], dtype=getattr(torch, attrs["dtype"])
    ),
    "fill_any_like": lambda slots, attrs: torch.full_like(slots["X"][0], attrs["value"]),
    "clip_by_value": lambda slots, attrs: slots["X"][0].clamp(attrs["min"], attrs["max"]),
    "squared_l2_norm": of_x(lambda x: x.square().sum().reshape(1)),
    "top_k": lambda slots, attrs: torch.topk(slots["X"][0], attrs["k"]).values,
    "batch_norm_told": normalized,
    **LATER,
    **FURTHER,
}

OWN = {"passes_one", "x_min"}
OTHER_NUMBERS = "other random numbers"
NO_SUCH = "no such function, and not to be said in a few of its own"
A_PROGRAM = "runs a program of its own"
BOOK, RECURRENT, MORE = (
    f"engine/ops/test_{name}_torch.py::test_" for name in ("book", "recurrent", "further")
)
OF_BOOK = ("cos_sim", "lrn", "maxout", "bilinear_interp", "huber_loss")
COMPARED = {
    **dict.fromkeys(OF_BOOK, f"{BOOK}values_and_slopes_are_those_of_torch"),
    "ctc": f"{BOOK}alignments_of_logits_cost_what_they_cost_in_torch",
    "lstm": f"{RECURRENT}an_lstm_without_peepholes_agrees",
    "lstmp": f"{RECURRENT}an_lstm_with_a_projection_agrees",
    "gru": f"{RECURRENT}a_gru_agrees",
    "lstm_layer": f"{RECURRENT}a_layer_of_lstm_in_time_agrees",
    "gru_layer": f"{RECURRENT}a_layer_of_gru_in_time_agrees",
    "lstm_step": f"{RECURRENT}a_moment_of_an_lstm_without_peepholes_agrees",
    "gru_step": f"{RECURRENT}a_moment_of_a_gru_agrees",
    "slices": f"{MORE}slices_and_their_slopes_agree",
    "spread_row": f"{MORE}a_row_for_each_sequence_agrees",
    "is_id": f"{MORE}an_id_agrees",
    "dropout": f"{MORE}what_dropout_leaves_agrees",
    "auc": f"{MORE}the_area_under_a_curve_agrees",
    "data_norm": f"{MORE}norms_of_what_was_counted_agree",
    "cvm": f"{MORE}logarithms_of_shows_and_clicks_agree",
    "descend": f"{MORE}parameters_descend_as_those_of_torch",
}
"""Tests of their own, values and gradients, where something has to be said."""

ELSEWHERE = {
    **dict.fromkeys(("recurrent", "generate"), A_PROGRAM),
    "exchange": "computes nothing: it gives gradients away",
    **dict.fromkeys(("chunk_eval", "edit_distance", "lambda_rank", "beam_cost"), NO_SUCH),
    **dict.fromkeys(("multibox_loss", "detection_output", "pushed_rows"), NO_SUCH),
    **dict.fromkeys(DRAWN, OTHER_NUMBERS),
}
"""What PyTorch has nothing for, and why: see ``test_what_has_no_peer_has_none``."""


def attributes(case: Case) -> dict[str, Any]:
    return registry.row(case.type).attributes(case.attrs)


def tensors(slots: dict[str, list[np.ndarray]]) -> dict[str, list[Tensor]]:
    made = {slot: [torch.from_numpy(array.copy()) for array in arrays] for slot, arrays in slots.items()}
    for each in (tensor for several in made.values() for tensor in several):
        each.requires_grad_(each.is_floating_point())
    return made


def comparable(cases: Sequence[Case]) -> list[Case]:
    """PyTorch's convolutions and pools have as many zeros on either side, and refuse what is larger than an
    image; its plain functions take no attributes, and others not those of ``OWN``."""
    both = [case for case in cases if case.type in TWINS and not (case.type in PLAIN and case.attrs)]
    both = [case for case in both if not OWN & case.attrs.keys()]
    sides = {"image_windows": 4}
    even = [c for c in both if len(c.attrs.get("paddings", "xy")) == sides.get(c.type, 2)]
    return [case for case in even if not is_larger(case)]


def is_larger(case: Case) -> bool:
    """Whether a filter or a window is larger than the image, zeros beside it included."""
    if case.type not in ("conv2d", "max_pool2d", "average_pool2d"):
        return False
    image, zeros = case.inputs["X"].shape[2:], case.attrs.get("paddings", (0, 0))
    window = case.inputs["Filter"].shape[2:] if case.type == "conv2d" else case.attrs["ksize"]
    return any(w > i + 2 * z for w, i, z in zip(window, image, zeros, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", comparable(DIFFERENTIABLE + OTHERS), ids=str)
def test_values_agree(case: Case, dtype: type) -> None:
    slots = case.slots(dtype)
    expected = TWINS[case.type](tensors(slots), attributes(case)).detach().numpy()
    found = Single(case.type, slots, case.attrs).forward()[registry.row(case.type).outputs[0]]
    tolerance = 2e-5 if found.dtype == np.float32 else 1e-10  # what is made of no number is in 32 bits
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", comparable(DIFFERENTIABLE), ids=str)
def test_gradients_agree(case: Case, dtype: type) -> None:
    slots = case.slots(dtype)
    given = tensors(slots)
    out = TWINS[case.type](given, attributes(case))
    back = np.random.default_rng(3).standard_normal(out.shape).astype(dtype)
    of = [slot for slot in registry.gradient(case.type).of if given[slot][0].is_floating_point()]
    sources = [tensor for slot in of for tensor in given[slot]]
    expected = torch.autograd.grad(out, sources, torch.from_numpy(back))
    found = Single(case.type, slots, case.attrs).gradient(back, of)
    tolerance = 1e-4 if dtype is np.float32 else 1e-9
    for one, other in zip([array for slot in of for array in found[slot]], expected, strict=True):
        np.testing.assert_allclose(one, other.numpy().reshape(one.shape), rtol=tolerance, atol=tolerance)


def test_every_operator_is_compared_or_said_why_not() -> None:
    lists = (TWINS, COMPARED, LISTED, ELSEWHERE)
    assert sum(map(len, lists)) == len(set().union(*lists)), "some are in two lists"
    assert set().union(*lists) == set(registry.table())
    assert {case.type for case in comparable(DIFFERENTIABLE + OTHERS)} == TWINS.keys()


def test_tests_that_are_named_here_compute_these_operators_and_their_gradients() -> None:
    observed = observe(COMPARED.values())
    for type, node in COMPARED.items():
        of_type = {type} if registry.row(type).gradient is None else {type, f"{type}_grad"}
        assert of_type <= observed[node].operators, node


def test_what_has_no_peer_has_none() -> None:
    """That what is said to be drawn is, test_further_torch.py holds."""
    for type, reason in ELSEWHERE.items():
        row = registry.row(type)
        assert (reason == A_PROGRAM) == ("loop" in row.attrs)
        assert (type == "exchange") == (not row.outputs)
        if reason == NO_SUCH:
            assert not any(hasattr(place, type) for place in (torch, F, torch.special, torch.nn.utils))
