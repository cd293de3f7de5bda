"""The watch over plans (tests/plain): what passes or shared memory do wrong is seen in any test that has an
executor plan it, and right ones are passed over. Of each kind of wrong there is one here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from paddle._engine import memory, passes
from paddle._engine.builder import Builder
from paddle._engine.initial import Constant, Normal
from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import without
from paddle._engine.profile import Profile, switch
from paddle._engine.program import Operator
from tests.plain import watch

from ..jobs import Job

FEED = {"x": np.float32([[1, 2, 3], [4, 5, 6.5]]), "label": np.array([[0], [2]])}


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[watch.Watch]:
    """One that knows no plan yet; what it finds is these tests' own."""
    own = watch.Watch()
    monkeypatch.setattr(watch, "watching", own)
    yield own


def classifier(name: str = "") -> Job:
    """A layer with a bias, normalized with averages that stay, whose activation is read twice."""
    b = Builder()
    x, label = b.data("x", (-1, 3)), b.data("label", (-1, 1), "int64")
    hidden = b.op("mul", X=x, Y=b.parameter(f"{name}w", (3, 4), Normal()))
    names = {"Scale": 1.0, "Bias": 0.1, "Mean": 0.0, "Variance": 1.0}
    kept = {slot: b.parameter(f"{name}{slot}", (4,), Constant(value)) for slot, value in names.items()}
    hidden = b.op("batch_norm", X=hidden, **kept)
    hidden = b.op("elementwise_add", X=hidden, Y=b.parameter(f"{name}b", (4,), Constant(0.5)))
    hidden = b.op("tanh", X=hidden)
    both = b.op("elementwise_add", X=hidden, Y=b.op("square", X=b.op("scale", X=hidden)))
    cost = b.op("cross_entropy", X=b.op("softmax", X=both), Label=label)
    return Job(b, b.op("mean", X=cost))


def turned(type: str, into: str, attrs: dict[str, Any] | None = None, *slots: str) -> passes.Pass:
    """A pass that puts another operator in the place of those of one type, of some of its inputs."""

    def wrong(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
        return [
            replace(
                each,
                type=into,
                attrs=each.attrs if attrs is None else attrs,
                inputs={slot: each.inputs[slot] for slot in slots or each.inputs},
            )
            if each.type == type
            else each
            for each in operators
        ]

    return wrong


def told_nothing(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    return [without(each, {"w"}) if each.type == "exchange" else each for each in operators]


def moves_an_average(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    kept = {"momentum": 0.5}
    return [
        replace(each, attrs={**each.attrs, **kept}) if each.type == "batch_norm" else each
        for each in operators
    ]


WRONG = {
    "a forgotten bias": (turned("bias_activation", "tanh", {}, "X"), "what is fetched of mean"),
    "a factor": (turned("scale", "scale", {"scale": 1.001, "bias": 0.0}), "what is fetched of mean"),
    "a gradient of another": (turned("square_grad", "abs_grad"), "the gradient of b differs"),
    "a gradient that is not given": (told_nothing, "the gradient of w is there once only"),
    "an average": (moves_an_average, "what is written to Mean differs"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_pass_that_computes_otherwise_is_found(wrong: str, watched: watch.Watch, monkeypatch: Any) -> None:
    made, said = WRONG[wrong]
    monkeypatch.setattr(passes, "PASSES", {**passes.PASSES, wrong: made})
    classifier().run(FEED)
    assert any(text.startswith(said) for text in watched.unlike), watched.unlike


def test_an_input_that_is_written_over_and_read_later_is_found(
    watched: watch.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overwrite(self: memory.Memory, name: str, of: str, nbytes: int, time: int, read: Any) -> bool:
        if self[of].owned:
            self._join(name, self[of], time)
        return self[of].owned

    monkeypatch.setattr(memory.Memory, "overwrite", overwrite)
    classifier().run(FEED)
    assert watched.unlike


def test_memory_that_is_given_twice_is_found(watched: watch.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "arrange", lambda storages: max(each.nbytes for each in storages))
    classifier().run(FEED)
    assert watched.unlike


def test_what_is_as_it_should_be_is_compared_twice_and_passed_over(watched: watch.Watch) -> None:
    for job in (classifier(), classifier("other_")):
        for _ in range(3):
            job.run(FEED)
    assert (watched.unlike, list(watched.runs.values())) == ([], [2])
    classifier().run({"x": FEED["x"][:1], "label": FEED["label"][:1]})
    classifier().run(FEED, [])
    assert (watched.unlike, list(watched.runs.values())) == ([], [2, 1, 1])


def test_what_another_pass_makes_of_the_same_program_is_compared_too(
    watched: watch.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier().run(FEED)
    monkeypatch.setattr(passes, "PASSES", {})
    classifier().run(FEED)
    assert (watched.unlike, list(watched.runs.values())) == ([], [1, 1])


def test_the_test_that_has_it_planned_fails(watched: watch.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PASSES", {"an average": moves_an_average})
    classifier().run(FEED)
    with pytest.raises(AssertionError, match="with passes and without: what is written to Mean differs"):
        watched.tell()
    watched.tell()  # once


def test_runs_beside_others_in_their_scope_are_not_compared_but_the_next_ones_are(
    watched: watch.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "PASSES", {"an average": moves_an_average})
    job = classifier()
    with watched.alone(id(job.scope)):
        job.run(FEED)
    assert (watched.unlike, watched.runs.total()) == ([], 0)
    job.run(FEED)
    assert (bool(watched.unlike), watched.runs.total()) == (True, 1)


def test_under_a_profile_it_is_compared_too(watched: watch.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PASSES", {"an average": moves_an_average})
    profile = Profile(clock=count().__next__, cpu=lambda: 0)
    switch(profile)
    try:
        classifier().run(FEED)
    finally:
        switch(None)
    assert watched.unlike and profile.runs == 1


def test_what_rounding_alone_explains_is_no_difference(watched: watch.Watch) -> None:
    """The gradient of a bias before a normalization is what rounding leaves of zero."""
    b = Builder()
    hidden = b.op("mul", X=b.data("x", (-1, 3)), Y=b.parameter("w", (3, 4), Normal()))
    hidden = b.op("elementwise_add", X=hidden, Y=b.parameter("bias", (4,), Constant(0.5)))
    hidden = b.op("relu", X=hidden)
    names = {"Scale": 1.0, "Bias": 0.1, "Mean": 0.0, "Variance": 1.0}
    hidden = b.op("batch_norm", X=hidden, **{s: b.parameter(s, (4,), Constant(v)) for s, v in names.items()})
    job = Job(b, b.op("mean", X=b.op("tanh", X=hidden)))
    job.run({"x": np.abs(np.random.default_rng(1).normal(size=(64, 3))).astype(np.float32)})
    assert not watched.unlike
