"""Products that a crew shares come to what one thread makes of them, and nobody is left behind."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.profile import BETWEEN, Profile, switch
from paddle._engine.scope import Scope
from paddle._engine.teams import shared
from paddle._engine.teams.crew import Crew
from tests.waiting import PATIENCE_S

from ..jobs import Recorder
from ..passes.test_descent import Lender
from ..test_overlap import Late

HEIGHT, HIDDEN, WIDTH = 40, 90, 400


def trained(crew: Crew | None, exchange_of: type[Recorder], samples: int) -> dict[str, np.ndarray]:
    b, scope = Builder(), Scope()
    v = b.parameter("v", (HEIGHT, HIDDEN), Normal(0, 0.1))
    w = b.parameter("w", (HIDDEN, WIDTH), Normal(0, 0.1))
    out = b.op("mul", X=b.op("tanh", X=b.op("mul", X=b.data("x", (-1, HEIGHT)), Y=v)), Y=w)
    loss = b.op("reduce_sum", X=b.op("square", X=out))
    append_exchange(b.program, append_backward(b.program, loss))
    initialize(b.program, scope, 3)
    exchange = exchange_of(scope)
    exchange.learning_rate = 1e-3 / samples
    exchange.rate = lambda samples: 1e-3 / samples  # type: ignore[attr-defined]
    executor = Executor(scope, exchange, crew=crew)
    feed = {"x": np.random.default_rng(1).normal(size=(samples, HEIGHT)).astype(np.float32)}
    first = scope.get("w").copy()
    for _ in range(3):
        executor.run(b.program, feed, [loss])
    if isinstance(exchange, Late):
        exchange.settle()
    assert np.abs(scope.get("w") - first).max() > 1e-4
    return {name: scope.get(name) for name in "vw"}


@pytest.mark.parametrize("samples", [3, 30, 300])
@pytest.mark.parametrize("exchange_of", [Recorder, Lender, Late])
def test_parameters_become_what_one_thread_makes_of_them(
    exchange_of: type[Recorder], samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "LEAST", 1)
    monkeypatch.setattr(shared, "_LEAST_SIDE", 1)
    started: list[int] = []
    crew = Crew(2)
    start = crew.start
    monkeypatch.setattr(crew, "start", lambda number, task: (started.append(number), start(number, task)))
    expected = trained(None, exchange_of, samples)
    assert not started
    found = trained(crew, exchange_of, samples)
    assert {*started} == {0, 1}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-6)


def test_a_profile_counts_what_all_threads_have_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "LEAST", 1)
    monkeypatch.setattr(shared, "_LEAST_SIDE", 1)
    crew, profile = Crew(2), Profile()
    switch(profile)
    try:
        trained(crew, Recorder, 300)
    finally:
        switch(None)
    products = [line.cpu_ns for line in profile.lines() if line.name in ("mul", "mul_grad")]
    assert sum(products) > crew.spent_ns > 0


def test_between_runs_with_a_crew_and_without_no_time_of_the_crew_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared, "LEAST", 1)
    monkeypatch.setattr(shared, "_LEAST_SIDE", 1)
    crew, profile = Crew(2), Profile(cpu=lambda: 0)
    switch(profile)
    try:
        for each in (crew, None, crew):
            trained(each, Recorder, 300)
    finally:
        switch(None)
    (between,) = [line for line in profile.lines() if line.name == BETWEEN]
    assert crew.spent_ns > 0
    assert (between.cpu_ns, between.least_ns, between.most_ns) == (0, 0, 0)


@pytest.mark.parametrize("size", [16, 90, 400, 1000])
@pytest.mark.parametrize("axis", [0, 1])
def test_parts_are_all_of_a_parameter_once(size: int, axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "LEAST", 1)
    monkeypatch.setattr(shared, "_LEAST_SIDE", 1)
    parameter = np.empty((size, 64) if axis == 0 else (64, size), np.float32)
    for count in (1, 2, 5):
        spans = shared.spans(Crew(count), 8, parameter, axis)
        assert [i for span in spans for i in range(span.start, span.stop)] == list(range(size))
        assert len(spans) == min(count + 1, size // 16)
    assert shared.spans(None, 8, parameter, axis) == [slice(0, size)]


def test_what_is_small_or_narrow_is_not_shared() -> None:
    crew, large = Crew(1), np.empty((512, 512), np.float32)
    assert len(shared.spans(crew, 1024, large, 1)) == 2
    assert len(shared.spans(crew, 32, large, 1)) == 1
    assert len(shared.spans(crew, 1 << 20, np.empty((784, 128), np.float32), 1)) == 1


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_who_fails_is_told_when_all_have_ended(failing: int) -> None:
    ended, may_end = [], threading.Event()

    def part(number: int):
        def run(factor: float) -> None:
            if number == failing:
                may_end.set()
                raise ArithmeticError(f"part {number}")
            assert may_end.wait(PATIENCE_S)
            ended.append((number, factor))

        return run

    crew = Crew(2)
    step = shared.together(crew, [part(number) for number in range(3)])
    with pytest.raises(ArithmeticError, match=f"part {failing}"):
        step(0.5)
    assert sorted(ended) == [(number, 0.5) for number in range(3) if number != failing]
    assert crew.finish() == {}
