"""The shard against small references, for any number of trainers, batches and orders of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec, RuleSpec
from paddle._engine.penalties import Penalties
from paddle._pserver.protocol.messages import Answer, Pull, PullRows
from tests.engine.rules.rule_twins import OPTIONS, Twin

from ..talk import LEARNING_RATE, Talk, gradient, update

# Small whole numbers: sums and products are exact in float32, so that the references need no rounding.
VALUE = st.integers(-8, 8)


ROWS = st.lists(st.integers(0, 4), max_size=3)

Batch = tuple[int, list[int]]  # the gradient's value, and the rows that it touches
Batches = list[list[Batch]]  # of one pass: per trainer, per step
Sight = tuple[np.ndarray, np.ndarray]  # the dense values, and all rows

RULES = {name: RuleSpec(name=name, options=OPTIONS[name]) for name in ("sgd", "adagrad", "ftrl")}
RULES["momentum"] = RuleSpec(name="momentum", options={"momentum": 0.5, "sparse": 1})
RULES["adam"] = RuleSpec(name="adam", options=OPTIONS["adam"] | {"lazy": 0})
"""Of those for which a row that batches pass by goes on as a dense parameter would."""


@st.composite
def jobs(draw: st.DrawFn) -> tuple[int, list[Batches]]:
    trainers = draw(st.integers(1, 4))
    batches = st.lists(st.lists(st.tuples(VALUE, ROWS), max_size=3), min_size=trainers, max_size=trainers)
    return trainers, draw(st.lists(batches, min_size=1, max_size=3))


def definition(passes: list[Batches], rule: RuleSpec, reduce: str) -> list[list[Sight]]:
    """What each trainer sees: step s of a pass is everybody's s-th batch, of those that have that many."""
    momentum = rule.options.get("momentum", 0.0)
    w, t = (Twin(rule.name, np.zeros(shape), momentum, Penalties()) for shape in (4, (5, 2)))
    seen: list[list[Sight]] = [[] for _ in passes[0]]
    for batches in passes:
        for step in range(max(len(mine) for mine in batches)):
            present = {id: mine[step] for id, mine in enumerate(batches) if step < len(mine)}
            dense, rows = np.zeros(4), np.zeros((5, 2))
            for value, ids in present.values():
                dense[0] += value
                np.add.at(rows, ids, value)
            for twin, total in ((w, dense), (t, rows)):
                twin.update(total / (len(present) if reduce == "mean" else 1), LEARNING_RATE)
            for id in present:
                seen[id].append((w.w.copy(), t.w.copy()))
        for mine in seen:
            mine.append((w.w.copy(), t.w.copy()))
    return seen


def questions(talk: Talk, id: int, passes: list[Batches], seen: list[Sight]) -> Iterator[bool]:
    """A trainer: asks its next question each time it is advanced, and says whether that was answered."""

    def look() -> None:
        (dense,) = talk.bodies[id]
        talk.ask(id, PullRows((5,)), ids=[np.arange(5)])
        seen.append((dense, talk.bodies[id][0]))

    for pass_id, batches in enumerate(passes):
        for value, ids in batches[id]:
            yield bool(talk.push(id, gradient([value, 0, 0, 0], ids), pass_id=pass_id))
            look()
        yield bool(talk.end_pass(id, pass_id))
        look()


@given(
    jobs(),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(["sum", "mean"]),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_synchronous_mode_equals_its_definition(
    job: tuple[int, list[Batches]], rule: str, reduce: str, random: Random
) -> None:
    trainers, passes = job
    talk = Talk(trainers, replace(update(reduce=reduce), rule=RULES[rule])).start()
    seen: list[list[Sight]] = [[] for _ in range(trainers)]
    running = {id: questions(talk, id, passes, seen[id]) for id in range(trainers)}
    free = set(running)
    while free:
        id = random.choice(sorted(free))
        free.remove(id)
        before = len(talk.replies)
        is_answered = next(running[id], False)
        free |= {to for to, _ in talk.replies[before:] if to != id} | ({id} if is_answered else set())
    for mine, expected in zip(seen, definition(passes, RULES[rule], reduce), strict=True):
        assert len(mine) == len(expected)
        for sight, values in zip(mine, expected, strict=True):
            for found, value in zip(sight, values, strict=True):
                np.testing.assert_allclose(found, value, rtol=1e-3, atol=1e-4)


Event = tuple[str, int, int, list[int]]
"""What a trainer does, its number, the gradient's value, and the rows that it touches or looks up."""


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
