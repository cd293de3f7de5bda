"""Operators beside PyTorch where it is not the first output, or its derivative, that is compared."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.passes import descent
from paddle._engine.registry import Run
from paddle._engine.single import Single

from ..passes.test_descent import FEED, Keeper, Lender, Tower
from .ahead_operators import AHEAD, DURING, OFFSETS
from .further_torch_twins import LISTED
from .tally_operators import COUNTS, KEPT, SEEN, SHOWS, SLOTS
from .test_ahead_of_runs import found as known
from .torch_twins import F, torch

RNG = np.random.default_rng(17)
X = RNG.normal(size=(5, 4))
GIVEN = RNG.normal(size=(5, 4))
OF_FLOATS = ("uniform_random", "gaussian_random", "truncated_gaussian_random")
Given = dict[str, Any]


def single(type: str, inputs: Given, **attrs: Any) -> Single:
    return Single(type, {slot: [each.copy()] for slot, each in inputs.items()}, attrs)


@pytest.mark.parametrize(("type", "inputs", "attrs"), [case[:3] for case in (*AHEAD, *DURING)])
def test_what_says_which_rows_there_are_agrees(type: str, inputs: Given, attrs: Given) -> None:
    listed = {slot: each if isinstance(each, list) else [each] for slot, each in inputs.items()}
    given = {slot: [torch.from_numpy(each) for each in arrays] for slot, arrays in listed.items()}
    row = registry.row(type)
    found = Single(type, listed, attrs).forward() if row.ahead is None else known(type, inputs, attrs)
    expected = LISTED[type](given, row.attributes(attrs))
    assert expected.keys() == found.keys()
    for slot, each in expected.items():
        np.testing.assert_array_equal(found[slot], each.numpy(), err_msg=slot)


def test_each_of_them_is_compared() -> None:
    assert LISTED.keys() == {type for type, *_ in (*AHEAD, *DURING)}


def test_slices_and_their_slopes_agree() -> None:
    x = torch.tensor(X, requires_grad=True)
    pieces = tuple(
        {"axes": (axis,), "starts": (start,), "ends": (end,), "steps": (), "clamps": False}
        for axis, start, end in ((0, 1, 3), (1, 0, 2))
    )
    own = single("slices", {"X": X}, pieces=pieces)
    found, expected = own.forward(), {"Out0": x[1:3], "Out1": x[:, :2]}
    back = {name: RNG.normal(size=tuple(each.shape)) for name, each in expected.items()}
    for name, each in expected.items():
        np.testing.assert_array_equal(found[name], each.detach().numpy())
    torch.autograd.backward(list(expected.values()), [torch.from_numpy(each) for each in back.values()])
    np.testing.assert_allclose(own.gradient(back, ["X"])["X"][0], x.grad.numpy())


def test_a_row_for_each_sequence_agrees() -> None:
    x, own = torch.tensor(X[:1], requires_grad=True), single("spread_row", {"X": X[:1], "Offsets": OFFSETS})
    out = x.expand(len(OFFSETS) - 1, -1)
    np.testing.assert_array_equal(own.forward()["Out"], out.detach().numpy())
    out.backward(torch.from_numpy(GIVEN[:3]))
    np.testing.assert_allclose(own.gradient(GIVEN[:3], ["X"])["X"][0], x.grad.numpy())


@pytest.mark.parametrize("id", [0, 2])
def test_an_id_agrees(id: int) -> None:
    ids = np.array([[2], [0], [1], [2]])
    expected = torch.eq(torch.from_numpy(ids), id).numpy()
    np.testing.assert_array_equal(single("is_id", {"X": ids}, id=id).forward()["Out"], expected)


@pytest.mark.parametrize("how", ["downgrade_in_infer", "upscale_in_train"])
def test_what_dropout_leaves_agrees(how: str) -> None:
    """Of its mask, which PyTorch would draw otherwise; a test has none."""
    own = single("dropout", {"X": X}, dropout_prob=0.4, dropout_implementation=how)
    x, found, up = torch.tensor(X, requires_grad=True), own.forward(), how == "upscale_in_train"
    kept = torch.from_numpy(found["Out"] != 0)
    assert 0 < kept.sum() < kept.numel()
    out = F.dropout(x, 0.0) * kept / (0.6 if up else 1)
    np.testing.assert_allclose(found["Out"], out.detach().numpy())
    out.backward(torch.from_numpy(GIVEN))
    np.testing.assert_allclose(own.gradient(GIVEN, ["X"])["X"][0], x.grad.numpy())
    tested = single("dropout", {"X": X}, dropout_prob=0.4, dropout_implementation=how, is_test=True).forward()
    expected = F.dropout(x, 0.4, training=False) * (1 if up else 0.6)
    np.testing.assert_allclose(tested["Out"], expected.detach().numpy())


def test_the_area_under_a_curve_agrees() -> None:
    """That below the line through all steps, of counts of two batches."""
    parts, counts = 20, [np.zeros((1, 21), np.int64) for _ in range(2)]
    seen = torch.zeros(2, parts + 1).long()
    for _ in range(2):
        scores, label = RNG.integers(0, 20, size=30) / 20 + 0.001, RNG.integers(0, 2, size=(30, 1))
        inputs = {"Predict": [np.stack([1 - scores, scores], 1)], "Label": [label]}
        kept = {"Positive": [counts[0]], "Negative": [counts[1]]}
        found = Single("auc", inputs | kept, {"num_thresholds": parts}).forward()["AUC"][0]
        steps = torch.from_numpy(scores * parts).long()
        for kind in (0, 1):
            of_kind = steps[torch.from_numpy(label[:, 0]) == 1 - kind]
            seen[kind] += torch.bincount(of_kind, minlength=parts + 1)
        true, false = F.pad(seen.flip(1).cumsum(1), (1, 0)).double()
        area = torch.trapezoid(true / true[-1], false / false[-1])
        np.testing.assert_allclose(found, area.item(), rtol=1e-6)


@pytest.mark.parametrize(("seen", "slot_dim"), [(SEEN, -1), (SLOTS, 2)])
def test_norms_of_what_was_counted_agree(seen: np.ndarray, slot_dim: int) -> None:
    """What goes back to the counts is no derivative, but what was counted."""
    own = single("data_norm", {"X": seen, **KEPT}, slot_dim=slot_dim)
    x, (size, total, square) = torch.tensor(seen, requires_grad=True), map(torch.from_numpy, KEPT.values())
    shown = torch.ones_like(x) if slot_dim < 0 else (x.detach()[:, ::slot_dim] != 0).repeat_interleave(2, 1)
    out = torch.addcmul(torch.zeros_like(x), x - total / size, (size / square).sqrt()) * shown
    np.testing.assert_allclose(own.forward()["Out"], out.detach().numpy())
    out.backward(torch.from_numpy(GIVEN))
    np.testing.assert_allclose(own.gradient(GIVEN, ["X"])["X"][0], x.grad.numpy())


@pytest.mark.parametrize("is_kept", [True, False])
def test_logarithms_of_shows_and_clicks_agree(is_kept: bool) -> None:
    """What goes back to the two is no derivative, but what was counted."""
    own = single("cvm", {"X": SHOWS, "Counts": COUNTS}, is_kept=is_kept)
    x = torch.tensor(SHOWS, requires_grad=True)
    logs = torch.log1p(x[:, :2])
    told = [logs[:, :1], logs[:, 1:] - logs[:, :1]] if is_kept else []
    out = torch.cat([*told, x[:, 2:]], 1)
    np.testing.assert_allclose(own.forward()["Out"], out.detach().numpy())
    given = GIVEN[:, : out.shape[1]].copy()
    out.backward(torch.from_numpy(given))
    np.testing.assert_allclose(own.gradient(given, ["X"])["X"][0][:, 2:], x.grad.numpy()[:, 2:])


@pytest.mark.parametrize("multiplier", [2.0, 0.5])
def test_parameters_descend_as_those_of_torch(multiplier: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "LEAST", 1)
    monkeypatch.setattr(Keeper, "multiplier", multiplier)
    tower = Tower()
    v, w = (torch.tensor(tower.scope.get(name), requires_grad=True) for name in "vw")
    optimizer = torch.optim.SGD([v, w], lr=multiplier * 0.01 * len(FEED["x"]))
    for _ in range(3):
        optimizer.zero_grad()
        (torch.from_numpy(FEED["x"]) @ v @ w).square().sum().backward()
        optimizer.step()
    assert [*tower.trained(Lender).given] == [{}] * 3
    for name, each in (("v", v), ("w", w)):
        np.testing.assert_allclose(tower.scope.get(name), each.detach().numpy(), rtol=1e-5)


DRAWN: dict[str, tuple[Given, Given]] = {
    "sample_apart": ({"Label": np.zeros((3, 1), np.int64)}, {"num_classes": 99, "num_samples": 5}),
    "sampling_id": ({"X": np.full((9, 9), 1 / 9)}, {}),
    "sample_classes": ({"Label": np.zeros((3, 1), np.int64)}, {"num_classes": 99}),
    **{
        name + like: ({"X": X} if like else {}, {"shape": (5, 2), **more})
        for name, more in {**{each: {} for each in OF_FLOATS}, "randint": {"high": 99}}.items()
        for like in ("", "_batch_size_like")
    },
}


@pytest.mark.parametrize("type", DRAWN)
def test_what_is_left_out_as_drawn_is_drawn(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the seed of a run, and so by generators that PyTorch has not."""
    inputs, attrs = DRAWN[type]
    found = []
    for seed in (0, 0, 1):
        monkeypatch.setattr("paddle._engine.single.Run", partial(Run, seed=seed))
        found.append(single(type, inputs, **attrs).forward()["Out"])
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()
