"""What operators draw: by the chances and within the bounds that attributes say, and anew unless one says."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.program import Operator
from paddle._engine.registry import Call, Run
from paddle._engine.single import Single

MANY, CLASSES = (400, 250), 6
LABEL = np.array([[3], [0], [5]])
X = np.linspace(-2, 2, 600).reshape(60, 10)
UNEVEN = (0.05, 0.3, 0.0, 0.4, 0.05, 0.2)
LOG_UNIFORM = tuple(np.diff(np.log(np.arange(1, CLASSES + 2))) / np.log(CLASSES + 1))


def first(type: str, attrs: dict[str, Any], **inputs: np.ndarray) -> np.ndarray:
    slots = {slot: [each] for slot, each in inputs.items()}
    return Single(type, slots, attrs).forward()[registry.row(type).outputs[0]]


def drawn(type: str, run: Run, name: str, attrs: dict[str, Any], **inputs: np.ndarray) -> np.ndarray:
    """In a run, under a name."""
    row = registry.row(type)
    operator = Operator(
        type, {s: (s,) for s in inputs}, {s: (name + s,) for s in row.outputs}, row.attributes(attrs)
    )
    forms = {slot: registry.Form(each.shape, each.dtype.name) for slot, each in inputs.items()}
    outputs = row.shape(registry.Forms({slot: (form,) for slot, form in forms.items()}, operator.attrs))
    made = {slot: np.empty(form.shape, form.dtype) for slot, form in outputs.items()}
    for step in row.forward.bind(Call(operator, {s: (each,) for s, each in (inputs | made).items()}, run)):
        step()
    return made[row.outputs[0]]


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (2.0, 7.0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_fill_their_bounds(low: float, high: float, dtype: str) -> None:
    found = first("uniform_random", {"shape": MANY, "min": low, "max": high, "dtype": dtype, "seed": 3})
    assert found.dtype == dtype
    assert (low, high) == pytest.approx((found.min(), found.max()), abs=0.01)
    assert (found.mean(), found.std()) == pytest.approx(((low + high) / 2, (high - low) / 12**0.5), abs=0.03)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (-2.0, 0.3), (1.5, 4.0)])
@pytest.mark.parametrize(("type", "share"), [("gaussian_random", 1.0), ("truncated_gaussian_random", 0.8796)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gaussian_numbers_lie_about_their_mean(
    type: str, share: float, mean: float, std: float, dtype: str
) -> None:
    found = first(type, {"shape": MANY, "mean": mean, "std": std, "dtype": dtype, "seed": 3})
    assert found.dtype == dtype
    assert (found.mean(), found.std()) == pytest.approx((mean, std * share), abs=0.02 * std)
    assert (np.abs(found - mean).max() <= 2 * std) == (type == "truncated_gaussian_random")


@pytest.mark.parametrize(("low", "high"), [(0, 3), (-4, 2)])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_integers_are_each_as_likely(low: int, high: int, dtype: str) -> None:
    found = first("randint", {"shape": MANY, "low": low, "high": high, "dtype": dtype, "seed": 3})
    assert found.dtype == dtype
    values, counts = np.unique(found, return_counts=True)
    assert values.tolist() == list(range(low, high))
    np.testing.assert_allclose(counts / found.size, 1 / (high - low), atol=0.01)


OF_SHAPE = {
    "uniform_random": {"min": 2.0, "max": 3.0, "dtype": "float64"},
    "gaussian_random": {"mean": 4.0, "std": 2.0, "dtype": "float64"},
    "truncated_gaussian_random": {"mean": 4.0, "std": 2.0, "dtype": "float64"},
    "randint": {"low": 5, "high": 900, "dtype": "int32"},
}


OTHERS: dict[str, dict[str, Any]] = {
    "uniform_random": {"dtype": "float32"},
    "gaussian_random": {"std": 0.5, "dtype": "float32"},
    "truncated_gaussian_random": {"std": 0.5, "dtype": "float32"},
    "randint": {"dtype": "int64"},
}


@pytest.mark.parametrize("others", [{}, OTHERS], ids=["these", "others"])
@pytest.mark.parametrize("type", OF_SHAPE)
def test_as_many_as_another_array_has_are_drawn_like_any_others(type: str, others: dict[str, Any]) -> None:
    attrs = {**OF_SHAPE[type], **others.get(type, {}), "seed": 9}
    plain = first(type, {"shape": (60, 7), **attrs})
    np.testing.assert_array_equal(first(f"{type}_batch_size_like", {"shape": (-1, 7), **attrs}, X=X), plain)


REPEATED: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]] = {
    **{type: ({"shape": (60, 10), **attrs}, {}) for type, attrs in OF_SHAPE.items()},
    **{
        f"{type}_batch_size_like": ({"shape": (-1, 10), **attrs}, {"X": X})
        for type, attrs in OF_SHAPE.items()
    },
    "dropout": ({}, {"X": X}),
}


@pytest.mark.parametrize("type", REPEATED)
def test_a_seed_of_its_own_draws_the_same_in_every_run(type: str) -> None:
    attrs, inputs = REPEATED[type]
    one, other, again = Run(seed=1, step=0), Run(seed=1, step=1), Run(seed=1, step=0)
    anew = [drawn(type, run, "a", attrs, **inputs) for run in (one, other)]
    assert (anew[0] != anew[1]).any()
    np.testing.assert_array_equal(anew[0], drawn(type, again, "a", attrs, **inputs))
    assert (anew[0] != drawn(type, again, "b", attrs, **inputs)).any()
    fixed = [
        drawn(type, run, name, {**attrs, "seed": 5}, **inputs) for run, name in ((one, "a"), (other, "b"))
    ]
    np.testing.assert_array_equal(*fixed)
    assert (fixed[0] != drawn(type, one, "a", {**attrs, "seed": 6}, **inputs)).any()


def test_dropout_draws_as_another_where_it_is_told_to() -> None:
    own = drawn("dropout", Run(seed=1), "a", {}, X=X)
    np.testing.assert_array_equal(drawn("dropout", Run(seed=1), "b", {"draws_as": "aOut"}, X=X), own)
    assert (drawn("dropout", Run(seed=1), "b", {}, X=X) != own).any()


@pytest.mark.parametrize(("name", "values"), [("seed", (5, 6)), ("draws_as", ("one", "another"))])
def test_what_goes_back_through_dropout_is_what_was_kept_whatever_drew_it(name: str, values: tuple) -> None:
    given, kept = np.random.default_rng(2).normal(size=X.shape), []
    for value in values:
        single = Single("dropout", {"X": [X]}, {name: value})
        kept.append(single.forward()["Mask"])
        np.testing.assert_array_equal(single.gradient(given, ["X"])["X"][0], given * kept[-1])
    assert (kept[0] != kept[1]).any()


@pytest.mark.parametrize(
    ("classes", "count", "distribution"),
    [(CLASSES, 30_000, ()), (9, 40_000, ()), (CLASSES, 30_000, UNEVEN), (CLASSES, 30_000, LOG_UNIFORM)],
)
def test_classes_are_drawn_by_their_distribution(
    classes: int, count: int, distribution: tuple[float, ...]
) -> None:
    attrs = {"num_classes": classes, "num_neg_samples": count, "distribution": distribution}
    found = drawn("sample_classes", Run(seed=2), "", attrs, Label=LABEL)
    np.testing.assert_array_equal(found[:, :1], LABEL)
    assert found.shape == (3, 1 + count)
    for row in found[:, 1:]:
        shares = np.bincount(row, minlength=classes) / row.size
        np.testing.assert_allclose(shares, distribution or 1 / classes, atol=0.01)
        assert (shares[list(UNEVEN).index(0)] == 0) == (distribution == UNEVEN)
    assert (found[0, 1:] != found[1, 1:]).any()


@pytest.mark.parametrize("without_label", [True, False])
@pytest.mark.parametrize("count", [2, CLASSES])
def test_classes_drawn_apart_are_each_there_once(count: int, without_label: bool) -> None:
    attrs = {"num_classes": CLASSES, "num_samples": count, "without_label": without_label}
    made = Single("sample_apart", {"Label": [LABEL]}, attrs).forward()
    np.testing.assert_array_equal(made["Out"][:, :1], LABEL)
    (others,) = {tuple(row) for row in made["Out"][:, 1:].tolist()}
    assert len(set(others)) == count
    assert set(others) <= set(range(CLASSES))
    is_label = made["Out"] == LABEL
    is_label[:, 0] = False
    taken = np.where(is_label & without_label, 1e20, 0)
    np.testing.assert_allclose(made["Less"], np.log(made["Chances"]) + taken, rtol=1e-6)
    if count == CLASSES:  # all are, and all chances are 1 but for how they are reckoned
        assert is_label.any(1).all()


def test_classes_drawn_apart_are_as_likely_as_their_chances_say() -> None:
    """Small numbers more often: how many of 1000 runs draw each, beside the mean of what they say."""
    classes, count = 100, 20
    attrs, every = {"num_classes": classes, "num_samples": count}, np.arange(classes)[:, None]
    counts, said, row = np.zeros(classes), np.zeros(classes), registry.row("sample_apart")
    operator = Operator("sample_apart", {"Label": ("l",)}, {"Out": ("o",)}, row.attributes(attrs))
    slots = {"Label": every, "Out": np.empty((classes, count + 1), np.int64)}
    slots |= {slot: np.empty((classes, count + 1), np.float32) for slot in ("Chances", "Less")}
    run = Run(seed=4)
    steps = list(row.forward.bind(Call(operator, {s: (a,) for s, a in slots.items()}, run)))
    for run.step in range(1000):
        for each in steps:
            each()
        counts[slots["Out"][0, 1:]] += 1
        said += slots["Chances"][:, 0]
    np.testing.assert_allclose(counts / 1000, said / 1000, atol=0.06)
    assert counts[:5].min() > counts[10:20].max() > counts[50:].max()
    assert counts.sum() == 1000 * count == pytest.approx(said.sum(), rel=0.02)


@pytest.mark.parametrize("count", range(1, 41, 3))
def test_classes_are_drawn_apart_as_if_one_by_one(count: int) -> None:
    """Until there are so many; how many draws that took says how often each class is expected."""
    classes, found, tries = 40, dict[int, None](), 0
    name = zlib.crc32(b"Out")
    numbers = np.random.Generator(np.random.Philox(key=np.array([0, name], np.uint64)))
    ends = np.cumsum(np.log1p(1 / np.arange(1, classes + 1)) / np.log(classes + 1))
    once = np.diff(ends, prepend=0)
    while len(found) < count:
        for number in numbers.random(4 * count):
            if len(found) < count:
                tries += 1
                found.setdefault(int(np.searchsorted(ends, number * ends[-1], "right")))
    made = Single(
        "sample_apart", {"Label": [LABEL]}, {"num_classes": classes, "num_samples": count}
    ).forward()
    assert made["Out"][0, 1:].tolist() == list(found)
    chances = count * once if tries == count else 1 - (1 - once) ** tries
    np.testing.assert_allclose(made["Chances"], chances[made["Out"]], rtol=1e-5)
