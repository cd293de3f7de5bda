"""The shard against small references, for any number of trainers, batches and orders of events."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec
from paddle._pserver.messages import Answer, Pull, PullRows

from .talk import LEARNING_RATE, Talk, gradient, update

# Small whole numbers: sums and products are exact in float32, so that the references need no rounding.
VALUE = st.integers(-8, 8)


Batches = list[list[int]]  # of one pass: per trainer, per step


@st.composite
def jobs(draw: st.DrawFn) -> tuple[int, list[Batches]]:
    trainers = draw(st.integers(1, 4))
    batches = st.lists(st.lists(VALUE, max_size=3), min_size=trainers, max_size=trainers)
    return trainers, draw(st.lists(batches, min_size=1, max_size=3))


def definition(passes: list[Batches], reduce: str) -> list[list[float]]:
    """What each trainer sees: step s of a pass is everybody's s-th batch, of those that have that many."""
    value, seen = 0.0, [[] for _ in passes[0]]  # type: ignore[var-annotated]
    for batches in passes:
        for step in range(max(len(mine) for mine in batches)):
            present = {id: mine[step] for id, mine in enumerate(batches) if step < len(mine)}
            value -= LEARNING_RATE * sum(present.values()) / (len(present) if reduce == "mean" else 1)
            for id in present:
                seen[id].append(value)
        for mine in seen:
            mine.append(value)
    return seen


def questions(talk: Talk, id: int, passes: list[Batches]) -> Iterator[None]:
    """A trainer: asks its next question each time it is advanced."""
    for pass_id, batches in enumerate(passes):
        for batch in batches[id]:
            yield None
            talk.push(id, gradient([batch, 0, 0, 0]), pass_id=pass_id)
        yield None
        talk.end_pass(id, pass_id)


@given(jobs(), st.sampled_from(["sum", "mean"]), st.randoms(use_true_random=False))
def test_synchronous_mode_equals_its_definition(
    job: tuple[int, list[Batches]], reduce: str, random: Random
) -> None:
    trainers, passes = job
    talk = Talk(trainers, update(reduce=reduce)).start()
    running = {id: questions(talk, id, passes) for id in range(trainers)}
    seen: list[list[float]] = [[] for _ in range(trainers)]
    free = set(running)
    for script in running.values():
        next(script)
    while free:
        id = random.choice(sorted(free))
        free.remove(id)
        before = len(talk.replies)
        more = next(running[id], "no more")
        for to, _ in talk.replies[before:]:
            seen[to].append(float(talk.bodies[to][0][0]))
            free.add(to)
        if more == "no more":
            free.discard(id)
            del running[id]
        free &= running.keys()
    assert seen == [pytest.approx(mine, abs=1e-5) for mine in definition(passes, reduce)]


Event = tuple[str, int, int, list[int]]
"""What a trainer does, its number, the gradient's value, and the rows that it touches or looks up."""

ROWS = st.lists(st.integers(0, 4), max_size=3)


@st.composite
def unordered(draw: st.DrawFn) -> tuple[int, list[Event]]:
    trainers = draw(st.integers(1, 5))
    kinds = st.sampled_from(["push", "push", "push", "look", "peek", "pull"])
    event = st.tuples(kinds, st.integers(0, trainers - 1), VALUE, ROWS)
    return trainers, draw(st.lists(event, max_size=40))


@given(unordered(), st.sampled_from([0.5, 1.0, 1.01, 1.5, 1.6, 2.0, 3.0]))
def test_asynchronous_mode_equals_an_event_by_event_simulation(
    job: tuple[int, list[Event]], ratio: float
) -> None:
    trainers, events = job
    talk = Talk(trainers, update(mode=ModeSpec(name="async", discard_ratio=ratio))).start()
    value, rows, applied, others_since = 0.0, np.zeros(5, np.float32), 0, [0] * trainers
    limit = int(trainers * (ratio if ratio > 1.0 else 1.5))
    dropped = [0] * trainers
    for kind, trainer, given_value, ids in events:
        if kind in ("look", "peek"):  # makes nobody fresh
            talk.ask(trainer, PullRows((len(ids),), peeks=kind == "peek"), ids=[np.array(ids, np.int64)])
            assert talk.bodies[trainer][0][:, 0].tolist() == rows[ids].tolist()
            continue
        if kind == "pull":
            others_since[trainer] = 0
            assert talk.ask(trainer, Pull()) == [Answer(applied)]
            continue
        # The push itself counts as one, so that `limit - 1` pushes of others make it stale; but at least one
        # must.
        stale = others_since[trainer] > 0 and others_since[trainer] + 1 >= limit
        if stale:
            dropped[trainer] += 1
        else:
            value -= LEARNING_RATE * given_value
            np.subtract.at(rows, ids, LEARNING_RATE * given_value)
            applied += 1
        for other in range(trainers):
            others_since[other] = 0 if other == trainer else others_since[other] + 1
        given_gradient = gradient([given_value, 0, 0, 0], ids)
        assert talk.push(trainer, given_gradient) == [Answer(applied, dropped=stale)]
        assert talk.bodies[trainer][0][0] == np.float32(value)
    assert talk.shard.clocks.dropped == dropped
    assert talk.shard.tables is not None
    assert talk.shard.tables.rows["t"].values[:, 0].tolist() == rows.tolist()
