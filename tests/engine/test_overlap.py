"""What a plan asks of an exchange that overlaps, and when: seen by one that spoils all it may spoil."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import Overlapping, StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope

from .jobs import Recorder


class Late(Recorder):
    """Has the new parameters at once, and gives each away only when it is settled: NaN until then.

    Of gradients it keeps what it was given: they must be the same when all are there.
    """

    def __init__(self, scope: Scope):
        super().__init__(scope)
        self.held: dict[str, np.ndarray] = {}
        self.ahead: dict[str, np.ndarray] = {}
        self.log: list[tuple[str, object]] = []
        self.pushed: Mapping[str, np.ndarray | SparseRows] = {}
        self.copies: dict[str, np.ndarray] = {}

    def start(self, *_: object) -> None: ...

    fetch = averages = begin_pass = end_pass = close = lookup = export = shrink = start
    room = start

    def begin_step(self) -> None:
        self.log.append(("begin", None))
        self.ahead.clear()

    def give(self, name: str, gradient: np.ndarray) -> None:
        assert not self.held, "a gradient was written while it might have been sent again"
        self.log.append(("give", name))
        self.ahead[name] = gradient.copy()

    def commit(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> None:
        for name, gradient in self.ahead.items():
            np.testing.assert_array_equal(gradients[name], gradient)
        self.ahead.clear()
        self.pushed = gradients
        self.copies = {n: g.copy() for n, g in gradients.items() if isinstance(g, np.ndarray)}
        self.step(gradients, samples)
        for name in gradients:
            array = self.scope.get(name)
            self.held[name] = array.copy()
            array.fill(np.nan)

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        if self.held:
            self.log.append(("settle", names))
        for name in list(self.held) if names is None else self.held.keys() & set(names):
            if name in self.copies:
                np.testing.assert_array_equal(self.pushed[name], self.copies[name])
            self.scope.get(name)[...] = self.held.pop(name)
        return StepReport(version=len(self.given))


class Small:
    """A network with as many layers, of which some have the same weights, and some a bias."""

    def __init__(self, shared: list[bool], biased: list[bool]) -> None:
        b = Builder()
        hidden, before = b.data("x", (-1, 3)), None
        for number, (same, has_bias) in enumerate(zip(shared, biased, strict=True)):
            if before is None or not same:
                before = b.parameter(f"w{number}", (3, 3), Normal())
            hidden = b.op("mul", X=hidden, Y=before)
            if has_bias:
                hidden = b.op("elementwise_add", X=hidden, Y=b.parameter(f"b{number}", (3,), Normal()))
            hidden = b.op("sigmoid", X=hidden)
        self.loss = b.op("mean", X=hidden)
        self.test = b.program.clone(for_test=True)
        self.program = b.program
        pairs = append_backward(b.program, self.loss)
        append_exchange(b.program, pairs)
        self.names = [parameter.name for parameter, _ in pairs]

    def executor(self, kind: type[Recorder]) -> tuple[Executor, Recorder, Scope]:
        scope = Scope()
        initialize(self.program, scope, 1)
        exchange = kind(scope)
        assert isinstance(exchange, Overlapping) == (kind is Late)
        return Executor(scope, exchange), exchange, scope


def feed(seed: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(seed).standard_normal((4, 3)).astype(np.float32)}


LAYERS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4)
RUNS = st.lists(st.sampled_from(["train", "test", "train and look"]), min_size=1, max_size=5)


@settings(deadline=None)  # the first examples wait for modules to load
@given(LAYERS, RUNS)
def test_overlap_changes_nothing_of_what_is_computed(
    layers: list[tuple[bool, bool]], runs: list[str]
) -> None:
    net = Small(*map(list, zip(*layers, strict=True)))
    results = []
    for kind in (Recorder, Late):
        executor, exchange, scope = net.executor(kind)
        seen = []
        for seed, run in enumerate(runs):
            program = net.test if run == "test" else net.program
            fetch = [net.loss.name, *(net.names if run == "train and look" else [])]
            seen += executor.run(program, feed(seed), fetch)
        if isinstance(exchange, Late):
            exchange.settle()
        results.append([*seen, *(scope.get(name) for name in net.names)])
        assert not any(np.isnan(value).any() for value in results[-1])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_run_gives_the_last_layer_first_and_waits_for_each_parameter_before_it_reads_it() -> None:
    net = Small([False] * 3, [False] * 3)
    executor, exchange, _ = net.executor(Late)
    assert isinstance(exchange, Late)
    executor.run(net.program, feed(0), [])
    assert exchange.log == [("begin", None), ("give", "w2"), ("give", "w1"), ("give", "w0")]
    exchange.log.clear()
    executor.run(net.program, feed(1), [])
    needs = [("settle", frozenset({name})) for name in ("w0", "w1", "w2")]
    assert exchange.log == [*needs, ("begin", None), ("give", "w2"), ("give", "w1"), ("give", "w0")]


def test_gradients_of_weights_that_several_layers_share_are_final_with_the_last_of_them() -> None:
    net = Small([False, False, True], [False] * 3)  # the second and the third share w1
    executor, exchange, _ = net.executor(Late)
    assert isinstance(exchange, Late)
    executor.run(net.program, feed(0), [])
    assert [name for what, name in exchange.log if what == "give"] == ["w1", "w0"]


def test_what_is_fetched_is_waited_for_and_nothing_else() -> None:
    net = Small([False] * 3, [False] * 3)
    executor, exchange, _ = net.executor(Late)
    assert isinstance(exchange, Late)
    (value,) = executor.run(net.program, feed(0), ["w1"])
    assert not np.isnan(value).any()
    assert exchange.held.keys() == {"w0", "w2"}


def test_the_last_report_is_of_a_step_that_is_over() -> None:
    net = Small([False] * 2, [True] * 2)
    executor, exchange, _ = net.executor(Late)
    assert isinstance(exchange, Late)
    assert executor.last_report is None
    executor.run(net.program, feed(0), [])
    assert exchange.held
    assert executor.last_report == StepReport(version=1)
    assert not exchange.held


def test_a_run_that_fails_midway_gives_nothing_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Small([False] * 3, [False] * 3)
    executor, exchange, _ = net.executor(Late)
    assert isinstance(exchange, Late)
    give = exchange.give

    def fails(name: str, gradient: np.ndarray) -> None:
        give(name, gradient)
        if name == "w1":
            raise KeyboardInterrupt

    exchange.give = fails  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        executor.run(net.program, feed(0), [])
    assert exchange.ahead.keys() == {"w2", "w1"}
    exchange.give = give  # type: ignore[method-assign]
    assert exchange.given == []


def test_an_exchange_that_does_not_overlap_hears_of_a_step_at_once() -> None:
    net = Small([False] * 2, [True] * 2)
    executor, exchange, _ = net.executor(Recorder)
    executor.run(net.program, feed(0), [])
    assert [sorted(given) for given in exchange.given] == [["b0", "b1", "w0", "w1"]]
