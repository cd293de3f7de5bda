"""Products that the threads of a team compute together: what they come to, and when they are not."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize, watch_plans
from paddle._engine.initial import Normal
from paddle._engine.plan import Plan
from paddle._engine.program import Program
from paddle._engine.scope import Scope
from paddle._engine.teams import joint, share
from paddle._engine.teams.joint import pays, span
from paddle._engine.teams.team import Team

from ..jobs import Recorder
from ..passes.test_descent import Keeper, Lender
from ..test_overlap import Late
from .test_team import cut

FEED = {"x": np.random.default_rng(6).normal(size=(7, 3)).astype(np.float32)}
SIZES = [(7,), (4, 3), (3, 2, 2), (1, 1, 5)]


class Tower:
    """tanh(x @ v) @ w, squared; ``uses`` times w."""

    def __init__(self, uses: int = 1) -> None:
        b = Builder()
        v, w = b.parameter("v", (3, 5), Normal()), b.parameter("w", (5, 5), Normal())
        out = b.op("tanh", X=b.op("mul", X=b.data("x", (-1, 3)), Y=v))
        for _ in range(uses):
            out = b.op("mul", X=out, Y=w)
        self.loss = b.op("reduce_sum", X=b.op("square", X=out))
        append_exchange(b.program, append_backward(b.program, self.loss))
        self.program, self.scope = b.program, Scope()
        initialize(b.program, self.scope, 3)

    def in_parts(self, exchange: Recorder, *sizes: int, fetch: tuple[str, ...] = (), steps: int = 3) -> list:
        team = Team(self.scope, 3, exchange)
        for step in range(steps):
            fetched = team.run(self.program, cut(FEED, *sizes), [self.loss, *fetch], seed=0, step=step)
        return fetched

    def alone(self, exchange: Recorder, steps: int = 3) -> None:
        executor = Executor(self.scope, exchange)
        for _ in range(steps):
            executor.run(self.program, FEED, [self.loss], samples=7)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch):
    """The operators of each plan that is made; every product with a parameter may be joint."""
    monkeypatch.setattr(share, "pays", lambda shape, samples: len(shape) == 2)
    plans: list[list[str]] = []

    def watch(program: Program, plan: Plan) -> None:
        plans.append([each.type for each in {id(operator): operator for _, operator in plan.steps}.values()])

    watch_plans(watch)
    yield plans
    watch_plans(None)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("exchange_of", [Recorder, Keeper, Lender, Late])
def test_parameters_become_what_one_thread_makes_of_them(exchange_of: type[Recorder], sizes, seen) -> None:
    alone, team = Tower(), Tower()
    alone.alone(by_one := exchange_of(alone.scope))
    team.in_parts(exchange := exchange_of(team.scope), *sizes)
    for each in (by_one, exchange):
        if isinstance(each, Late):
            each.settle()
    for name in "vw":
        np.testing.assert_allclose(team.scope.get(name), alone.scope.get(name), rtol=1e-5, atol=1e-6)
    is_moved = len(sizes) > 1 and exchange_of is Lender
    assert [set(given) for given in exchange.given] == [set() if is_moved else {"v", "w"}] * 3
    assert exchange.samples == [7] * 3
    assert ("joint_mul_grad" in seen[-1]) == (len(sizes) > 1)


@pytest.mark.parametrize("exchange_of", [Recorder, Lender])
@pytest.mark.parametrize("samples", [30, 300])
def test_what_is_wide_is_multiplied_by_all_threads_as_by_one(
    samples: int, exchange_of: type[Recorder], seen
) -> None:
    """Few rows by loops of our own, each thread some columns and rows of a parameter; many by BLAS."""
    feed = {"x": np.random.default_rng(1).normal(size=(samples, 40)).astype(np.float32)}
    scopes = []
    for count in (1, 3):
        b = Builder()
        v, w = b.parameter("v", (40, 90), Normal(0, 0.1)), b.parameter("w", (90, 400), Normal(0, 0.1))
        out = b.op("mul", X=b.op("tanh", X=b.op("mul", X=b.data("x", (-1, 40)), Y=v)), Y=w)
        loss = b.op("reduce_sum", X=b.op("square", X=out))
        append_exchange(b.program, append_backward(b.program, loss))
        scope = Scope()
        initialize(b.program, scope, 3)
        size = samples // count
        team = Team(scope, count, exchange := exchange_of(scope))
        exchange.learning_rate, first = 5e-5, scope.get("w").copy()
        exchange.rate = lambda samples: 2.5e-5  # type: ignore[attr-defined]
        for step in range(2):
            team.run(b.program, cut(feed, *[size] * count), [loss], seed=0, step=step)
        assert 1e-3 < np.abs(scope.get("w") - first).max() < 1
        scopes.append(scope)
    for name in "vw":
        np.testing.assert_allclose(*(scope.get(name) for scope in scopes), rtol=1e-3, atol=1e-5)


def test_equal_parts_give_equal_bits(seen) -> None:
    def trained() -> np.ndarray:
        tower = Tower()
        tower.in_parts(Lender(tower.scope), 3, 2, 2)
        return tower.scope.get("w")

    first = trained()
    assert all(np.array_equal(first, trained()) for _ in range(5))


def test_batches_of_other_sizes_and_fewer_parts_may_come_between(seen) -> None:
    alone, tower = Tower(), Tower()
    executor = Executor(alone.scope, Lender(alone.scope))
    team = Team(tower.scope, 3, Lender(tower.scope))
    for sizes in [(3, 2, 2), (1, 1), (4,), (2, 2, 2), (4, 3), (3, 2, 2)]:
        feed = {"x": FEED["x"][: sum(sizes)]}
        executor.run(alone.program, feed, [alone.loss], samples=sum(sizes))
        team.run(tower.program, cut(feed, *sizes), [tower.loss], seed=0, step=0)
    np.testing.assert_allclose(tower.scope.get("w"), alone.scope.get("w"), rtol=1e-4)


def test_a_gradient_that_is_fetched_is_made_in_parts_and_the_first_has_that_of_the_whole_batch(seen) -> None:
    whole = Tower()
    executor = Executor(whole.scope, Recorder(whole.scope))
    (expected,) = executor.run(whole.program, FEED, ["w@GRAD"], samples=7)
    tower = Tower()
    fetched = tower.in_parts(Lender(tower.scope), 4, 3, fetch=("w@GRAD",), steps=1)
    np.testing.assert_allclose(fetched[0][1], expected, rtol=1e-5)
    assert seen[-1].count("joint_mul") == 1  # that with v


def test_a_parameter_that_others_read_too_is_computed_with_in_parts(seen) -> None:
    tower = Tower(uses=2)
    tower.in_parts(exchange := Lender(tower.scope), 4, 3)
    assert [set(given) for given in exchange.given] == [{"w"}] * 3 and seen[-1].count("joint_mul") == 1


def test_an_error_before_the_threads_meet_ends_all_of_them(seen) -> None:
    tower = Tower()
    team = Team(tower.scope, 2, exchange := Lender(tower.scope))
    parts = cut(FEED, 4, 3)
    parts[1].feed["x"] = np.zeros((3, 4), np.float32)  # type: ignore[index]
    with pytest.raises(Exception, match="does not fit"):
        team.run(tower.program, parts, [tower.loss], seed=0, step=0)
    team.run(tower.program, cut(FEED, 4, 3), [tower.loss], seed=0, step=0)
    assert exchange.samples == [7]


def test_it_pays_where_the_parameter_is_larger_than_what_the_batch_has_beside_it() -> None:
    assert pays((256, 10_000), 32) and pays((256, 10_000), 128) and not pays((256, 10_000), 1024)
    assert not pays((400, 400), 512) and not pays((10, 10), 1) and not pays((1 << 20,), 1)
    assert joint.LEAST <= 256 * 10_000


@pytest.mark.parametrize(("size", "count"), [(10, 3), (2, 3), (7, 1)])
def test_the_parts_of_a_parameter_are_all_of_it_once(size: int, count: int) -> None:
    found = [i for number in range(count) for i in range(size)[span(size, number, count)]]
    assert found == list(range(size))
