"""Plans: when one is made, kept, and made again."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from paddle._engine.arena import LEAST
from paddle._engine.builder import Builder
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.executor import PLANS_PER_PROGRAM
from paddle._engine.plans import room
from paddle._engine.plans.room import Kept

from .jobs import IDS, Job, embedded, linear


class TestPlans:
    def test_a_plan_is_made_once_for_each_shape_and_fetch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from paddle._engine import executor

        made = []
        monkeypatch.setattr(
            executor, "make_plan", lambda *a, real=executor.make_plan: made.append(1) or real(*a)
        )
        job = embedded()
        for _ in range(3):
            job.run(IDS)
            job.run({name: ids[:2] for name, ids in IDS.items()})
        assert len(made) == 2
        job.run(IDS, [])
        assert len(made) == 3

    def test_a_plan_follows_the_scope_when_an_array_is_replaced(self) -> None:
        job = embedded()
        job.executor.run(job.test, IDS, [job.loss])
        job.scope.bind({"w": np.zeros((4, 1), np.float32)})
        assert job.executor.run(job.test, IDS, [job.loss])[0] == 0

    def test_a_plan_follows_a_program_that_grows(self) -> None:
        b = Builder()
        out = b.op("scale", {"scale": 2.0}, X=b.data("x", (-1, 1)))
        job = Job(b, out, train=False)
        assert job.run({"x": np.ones((1, 1))})[0] == 2
        more = b.op("scale", {"scale": 5.0}, X=out)
        assert job.run({"x": np.ones((1, 1))}, [more])[0] == 10

    def test_where_room_is_spent_old_plans_are_dropped_and_made_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(room, "MOST", 0)
        job = linear()
        for size in [*range(1, PLANS_PER_PROGRAM + 5), 1]:
            job.run({"x": np.ones((size, 2)), "y": np.ones((size, 1))})
        (known,) = job.executor._programs.values()
        assert len(known.plans) == PLANS_PER_PROGRAM

    def test_the_first_run_of_each_plan_beyond_those_kept_in_any_case_is_watched(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """For that is when it takes memory. To watch takes longer than a small step: others are not."""
        watched, real = [], room.Room.growing
        monkeypatch.setattr(room.Room, "growing", lambda self, by: watched.append(1) or real(self, by))
        job = linear()
        for size in [*range(PLANS_PER_PROGRAM + 3, 0, -1), *range(1, PLANS_PER_PROGRAM + 4)]:
            job.run({"x": np.ones((size, 2)), "y": np.ones((size, 1))})
        assert len(watched) == 2 * 3  # as it is made, and as it is run

    def test_plans_of_37_shapes_are_made_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from paddle._engine import executor

        made, real = [], executor.make_plan
        monkeypatch.setattr(executor, "make_plan", lambda *a: made.append(a[1]["x"][0]) or real(*a))
        job = linear()
        for size in [37, *range(1, 38), *range(1, 38)]:  # the largest first: an arena that grows voids plans
            job.run({"x": np.ones((size, 2)), "y": np.ones((size, 1))})
        assert sorted(made) == list(range(1, 38))

    def test_plans_of_arrays_that_were_replaced_do_not_stay(self) -> None:
        job = embedded()
        for size in range(1, 4):
            job.run({name: ids[:size] for name, ids in IDS.items()})
        job.scope.bind({"w": np.zeros((4, 1), np.float32)})
        job.run({name: ids[:2] for name, ids in IDS.items()})
        assert [len(known.plans) for known in job.executor._programs.values()] == [1]

    def test_a_plan_in_use_outlives_one_not_used_for_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from paddle._engine import executor

        monkeypatch.setattr(room, "MOST", 0)
        made, real = [], executor.make_plan
        monkeypatch.setattr(executor, "make_plan", lambda *a: made.append(a[1]["x"][0]) or real(*a))
        job = linear()
        for size in range(2, 2 * PLANS_PER_PROGRAM):
            for batch in (1, size):
                job.run({"x": np.ones((batch, 2)), "y": np.ones((batch, 1))})
        assert made == list(range(1, 2 * PLANS_PER_PROGRAM))

    def test_buffers_are_reused(self) -> None:
        b = Builder()
        x = b.data("x", (-1, 1000))
        for _ in range(20):
            x = b.op("softsign", X=x)  # never in place
        job = Job(b, x, train=False)
        job.run({"x": np.ones((10, 1000))})
        (plan,) = next(iter(job.executor._programs.values())).plans
        arrays = {id(a): a for step, _ in plan.steps for a in step.args if isinstance(a, np.ndarray)}
        assert len(arrays) > 20
        assert len({a.ctypes.data for a in arrays.values()}) <= 3  # what is read, what is written, the feed

    def test_a_parameter_of_another_shape_in_the_scope_is_refused(self) -> None:
        job = linear()
        job.scope.bind({"w": np.zeros((3, 1), np.float32)})
        with pytest.raises(ShapeError, match=r"float32\[2, 1\] in the program, float32\[3, 1\] in the scope"):
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))})


def _batch(size: int) -> dict[str, np.ndarray]:
    return {"x": np.ones((size, 2), np.float32), "y": np.ones((size, 1), np.float32)}


class TestTheSameAgain:
    """Most runs are asked what the one before them was, and are not looked up then."""

    def test_no_plan_is_looked_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        job, asked, real = linear(), [], Kept.get
        monkeypatch.setattr(Kept, "get", lambda kept, key: asked.append(key) or real(kept, key))
        for _ in range(3):
            job.run(_batch(4))
            job.run(dict(reversed(_batch(4).items())))
        assert len(asked) == 1

    def test_whatever_is_asked_otherwise_is_seen(self) -> None:
        job = linear()
        costs = job.program.main.operators[-2].outputs
        assert costs
        for _ in range(2):
            assert job.run(_batch(4))[0].shape == (1,)
        assert job.run(_batch(4), [job.loss, "w@GRAD"])[1].shape == (2, 1)
        assert job.run(_batch(3), ["x"])[0].shape == (3, 2)
        assert job.run(_batch(3) | {"x": np.full((3, 2), 5.0)}, ["x"])[0].sum() == 30
        assert job.run({name: array.tolist() for name, array in _batch(3).items()}, ["x"])[0].sum() == 6

    def test_a_feed_that_lacks_something_or_has_too_much_is_refused_as_at_first(self) -> None:
        job = linear()
        wrong = {"x": _batch(4)["x"]}, _batch(4) | {"z": np.ones(3)}, {"x": _batch(4)["x"], "z": np.ones(3)}
        said = []
        for _ in range(2):
            for feed in wrong:
                with pytest.raises(FeedError) as told:
                    job.run(feed)
                said.append(str(told.value))
            job.run(_batch(4))
            job.run(_batch(4))
        assert said[:3] == said[3:] and len(set(said)) > 1

    def test_plans_that_an_arena_has_outgrown_do_not_stay(self) -> None:
        job = linear()
        job.run(_batch(4))
        (plan,) = next(iter(job.executor._programs.values())).plans
        outgrown = weakref.ref(plan)
        del plan
        job.executor.run(job.test, _batch(LEAST), [job.loss])
        gc.collect()
        assert outgrown() is None
        assert job.run(_batch(4))[0].shape == (1,)
