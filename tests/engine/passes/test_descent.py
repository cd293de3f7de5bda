"""Large gradients that are subtracted and never made; BLAS as it is called for that, and without it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine import blas
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor, initialize, watch_plans
from paddle._engine.initial import Normal
from paddle._engine.passes import descent
from paddle._engine.program import Operator
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope
from paddle._engine.single import Single

from ..jobs import Recorder

RNG = np.random.default_rng(6)
FEED = {"x": RNG.normal(size=(5, 3)).astype(np.float32)}


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (64, 130, 33), (0, 4, 2)])
def test_a_product_is_added_by_blas_as_by_numpy(shape: tuple[int, int, int]) -> None:
    count, height, width = shape
    x, y = (RNG.normal(size=(count, size)).astype(np.float32) for size in (height, width))
    start = RNG.normal(size=(height, width)).astype(np.float32)
    found, apart = start.copy(), start.copy()
    add, add_apart = blas.add_product(x, y, found), blas.apart(x, y, apart)
    for factor in (-0.5, 2.0):
        add(factor)
        add_apart(factor)
    np.testing.assert_allclose(found, start + 1.5 * (x.T.astype(np.float64) @ y), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, apart, rtol=1e-4, atol=1e-4)


def test_numpys_wheels_have_a_library_that_can_be_called() -> None:
    assert blas.sgemm() is not None


def test_a_library_that_answers_wrongly_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def __call__(self, *arguments: object) -> None: ...

    assert not blas._answers(Wrong())
    monkeypatch.setattr(blas, "_answers", lambda function: False)
    blas.sgemm.cache_clear()
    try:
        assert blas.sgemm() is None
        x, out = np.ones((2, 3), np.float32), np.zeros((3, 3), np.float32)
        blas.add_product(x, x, out)(1.0)
        assert (out == 2).all()
    finally:
        blas.sgemm.cache_clear()


class Keeper(Recorder):
    """Lends nothing, at a rate that grows with the number of samples."""

    multiplier = 2.0

    def rate(self, samples: int) -> float:
        return 0.01 * samples

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        self.learning_rate = self.multiplier * self.rate(samples)
        return super().step(gradients, samples)

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        raise AssertionError("there are no open tables")


class Lender(Keeper):
    """Lends all that it keeps."""

    def lent(self) -> Mapping[str, float]:
        return dict.fromkeys(self.scope.names(), self.multiplier)


class Tower:
    """x @ v @ w, squared; w is used ``uses`` times."""

    def __init__(self, uses: int = 1) -> None:
        b = Builder()
        v, w = b.parameter("v", (3, 4), Normal()), b.parameter("w", (4, 4), Normal())
        self.hidden = b.op("mul", X=b.data("x", (-1, 3)), Y=v)
        out = self.hidden
        for _ in range(uses):
            out = b.op("mul", X=out, Y=w)
        self.loss = b.op("reduce_sum", X=b.op("square", X=out))
        append_exchange(b.program, append_backward(b.program, self.loss))
        self.program, self.scope = b.program, Scope()
        initialize(b.program, self.scope, 3)

    def trained(self, exchange_of: type[Recorder], fetch: tuple[str, ...] = (), steps: int = 3) -> Recorder:
        exchange = exchange_of(self.scope)
        executor = Executor(self.scope, exchange)
        for _ in range(steps):
            executor.run(self.program, FEED, [self.loss, *fetch])
        return exchange


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "LEAST", 1)


@pytest.mark.parametrize("multiplier", [2.0, 0.5])
@pytest.mark.parametrize("uses", [1, 2])
def test_parameters_become_what_they_would_from_their_gradients(
    uses: int, multiplier: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keeper, "multiplier", multiplier)
    lent, kept = Tower(uses), Tower(uses)
    exchange = lent.trained(Lender)
    kept.trained(Keeper)
    for name in "vw":
        np.testing.assert_allclose(lent.scope.get(name), kept.scope.get(name), rtol=1e-5)
    given = [set(gradients) for gradients in exchange.given]
    assert given == [set() if uses == 1 else {"w"}] * 3


def test_a_gradient_that_is_fetched_is_made_and_given() -> None:
    assert [set(given) for given in Tower().trained(Lender, ("w@GRAD",)).given] == [{"w"}] * 3


def test_a_small_parameter_is_left_to_the_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "LEAST", 16)
    assert [set(given) for given in Tower().trained(Lender).given] == [{"v"}] * 3


def test_a_parameter_is_moved_after_all_that_reads_it() -> None:
    """The gradient of the hidden layer needs w as it was."""
    tower = Tower()
    before = tower.scope.get("w").copy()
    executor = Executor(tower.scope, Lender(tower.scope))
    hidden, slope, after = executor.run(tower.program, FEED, [tower.hidden, tower.hidden.name + "@GRAD", "w"])
    np.testing.assert_allclose(slope, 2 * hidden @ before @ before.T, rtol=1e-5)
    assert not np.array_equal(after, before)


@pytest.mark.parametrize("samples", [3, 24, 300])
def test_few_rows_make_the_slope_below_and_move_a_parameter_as_many_do(
    samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer wide enough for loops of our own, below one that is not, against gradients that are kept."""
    feed = {"x": RNG.normal(size=(samples, 40)).astype(np.float32)}
    scopes = []
    for exchange_of in (Lender, Keeper):
        b = Builder()
        v, w = b.parameter("v", (40, 90), Normal(0, 0.1)), b.parameter("w", (90, 200), Normal(0, 0.1))
        hidden = b.op("tanh", X=b.op("mul", X=b.data("x", (-1, 40)), Y=v))
        loss = b.op("reduce_mean", X=b.op("square", X=b.op("mul", X=hidden, Y=w)))
        append_exchange(b.program, append_backward(b.program, loss))
        scope = Scope()
        initialize(b.program, scope, 3)
        first = scope.get("w").copy()
        executor = Executor(scope, exchange := exchange_of(scope))
        plans: list[list[Operator]] = []
        watch_plans(lambda program, plan, seen=plans: seen.append([each for _, each in plan.steps]))
        for _ in range(3):
            executor.run(b.program, feed, [loss], samples=50)
        watch_plans(None)
        assert np.abs(scope.get("w") - first).max() > 1e-4
        scopes.append(scope)
        assert [set(given) for given in exchange.given] == [
            {"v", "w"} if exchange_of is Keeper else set()
        ] * 3
        moved = [each for each in plans[0] if each.type == "descend"]
        below = [each for each in moved if list(each.writes()) == [f"{hidden.name}@GRAD"]]
        assert bool(below) == bool(moved) == (exchange_of is Lender)
    for name in "vw":
        moved, kept = (scope.get(name) for scope in scopes)
        np.testing.assert_allclose(moved, kept, rtol=1e-4, atol=1e-6)


def test_it_takes_an_exchange_that_lends() -> None:
    x = [np.ones((2, 2), np.float32)]
    with pytest.raises(ExchangeError, match="only where the exchange lends it"):
        Single("descend", {"X": x, "Slope": x, "Param": x}, {}).forward()
