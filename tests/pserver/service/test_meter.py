"""How long answers take and how often they come: time is an argument."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec, ParameterSpec, RowsSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.errors import NotCounted
from paddle._pserver.protocol.messages import (
    Answer,
    CountChanges,
    EndPass,
    Export,
    Goodbye,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Seed,
    Waiting,
    failure,
)
from paddle._pserver.service import metrics
from paddle._pserver.service.meter import BOUNDS_S, Latency, Meter, Traffic
from paddle._pserver.service.report import Report, lines
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

from ..conftest import Start, update

PUSH = Push(1, 0, 1)


@given(st.lists(st.floats(0, 100), max_size=50))
def test_every_answer_is_in_the_bucket_of_its_time(times: list[float]) -> None:
    meter = Meter()
    for seconds in times:
        meter.asked(1, PUSH, 5.0)
        meter.told(1, Answer(1), 5.0 + seconds)
    push = meter.latencies()["push"]
    expected = [0] * (len(BOUNDS_S) + 1)
    for seconds in times:
        expected[bisect_left(BOUNDS_S, 5.0 + seconds - 5.0)] += 1
    assert push.counts == tuple(expected)
    assert push.count == len(times)
    assert push.sum_s == pytest.approx(sum(times))


def test_the_kinds_of_questions_are_told_apart_and_who_comes_and_goes_is_not_measured() -> None:
    meter = Meter()
    pulls = [Pull(), PullRows((1,)), Pull("t"), PullChanges((1,)), Export("t", 1)]
    for session, message in enumerate([PUSH, *pulls, CountChanges(), EndPass(0), Seed(), Goodbye()]):
        meter.asked(session, message, 0.0)
        meter.told(session, Answer(1), 1.0)
    assert {name: latency.count for name, latency in meter.latencies().items()} == {
        "push": 1,
        "pull": 2,
        "pull_rows": 1,
        "count_changes": 1,
        "pull_changes": 1,
        "export": 1,
        "end_pass": 1,
    }


def test_whatever_brings_values_is_a_pull() -> None:
    meter = Meter()
    meter.look(0, 0, 0.0)
    for message in (Pull(), PullRows((1,)), PullChanges((1,)), Export("t", 1), CountChanges(), EndPass(0)):
        meter.asked(1, message, 0.0)
        meter.told(1, Answer(1), 0.0)
    assert (meter.rates(0, 0, 1.0).pulls, meter.rates(0, 0, 1.0).pushes) == (4.0, 0.0)


def test_a_question_is_open_until_its_answer_and_a_notice_is_none() -> None:
    meter = Meter()
    meter.asked(1, PUSH, 0.0)
    meter.told(1, Waiting("for trainer 2"), 1.0)
    assert meter.latencies()["push"].count == 0
    meter.told(1, Answer(1), 2.0)
    meter.told(1, Answer(1), 9.0)  # to a question of another kind
    assert meter.latencies()["push"].sum_s == 2.0


def test_what_waits_to_be_dealt_with_is_measured_from_when_it_came() -> None:
    meter = Meter()
    for now in (1.0, 4.0):  # it came, and was dealt with
        meter.asked(1, PUSH, now)
    meter.told(1, Answer(1), 5.0)
    assert meter.latencies()["push"].sum_s == 4.0
    meter.asked(1, PUSH, 6.0)
    meter.told(1, failure(NotCounted("of rows")), 7.0)
    meter.asked(1, PUSH, 8.0)
    meter.told(1, Answer(1), 9.0)
    assert (meter.latencies()["push"].count, meter.latencies()["push"].sum_s) == (2, 5.0)


def test_a_gradient_that_was_discarded_is_counted_once_however_often_that_is_told() -> None:
    meter = Meter(lambda: 1)
    for _ in range(3):
        meter.asked(1, PUSH, 0.0)
        meter.told(1, Answer(1, dropped=True), 0.0)
    assert meter.drops == 1


def test_a_question_of_a_lost_connection_is_forgotten() -> None:
    meter = Meter()
    meter.asked(1, PUSH, 0.0)
    meter.lost(1)
    meter.lost(2)
    assert not meter._open


def test_rates_are_those_of_the_last_looks() -> None:
    discarded = 0
    meter = Meter(lambda: discarded)
    assert meter.rates(0, 0, 0.0).steps == 0.0
    for second in range(100):
        speed = 1 if second < 50 else 5
        for _ in range(speed):
            meter.asked(1, PUSH, second)
            meter.told(1, Answer(1, dropped=True), second)
        discarded += 5
        meter.asked(1, Pull(), second)
        meter.told(1, Answer(1), second)
        meter.worked(0.25)
        meter.look(3 * second, 30 * second, second)
    rates = meter.rates(3 * 99, 30 * 99, 99.0)
    assert (rates.steps, rates.samples, rates.pushes, rates.drops, rates.pulls, rates.busy) == (
        3.0,
        30.0,
        5.0,
        5.0,
        1.0,
        0.25,
    )
    assert len(meter._looks) < 20


def test_a_shard_that_counts_anew_has_no_negative_rate() -> None:
    meter = Meter()
    meter.look(100, 1000, 0.0)
    assert meter.rates(5, 50, 1.0).steps == 0.0


@pytest.mark.parametrize(("share", "bound"), [(0.5, BOUNDS_S[0]), (0.9, BOUNDS_S[2]), (1.0, float("inf"))])
def test_shares_are_told_by_the_bucket_that_holds_them(share: float, bound: float) -> None:
    counts = [0] * (len(BOUNDS_S) + 1)
    counts[0], counts[2], counts[-1] = 5, 4, 1
    assert Latency(counts=tuple(counts), sum_s=0.0).bound_of(share) == bound


def test_the_traffic_of_connections_that_are_gone_counts_on() -> None:
    meter = Meter()
    meter.lost(1, Traffic(received=10, sent=1))
    meter.lost(2, Traffic(received=5, sent=0))
    assert meter.total([Traffic(received=100, sent=7)]) == Traffic(received=115, sent=8)
    assert meter.total([]) == Traffic(received=15, sent=1)


def test_a_running_shard_measures_what_trainers_ask_that_update_by_themselves(start_pservers: Start) -> None:
    model = (
        ParameterSpec(name="w", shape=(30,)),
        ParameterSpec(name="t", shape=(OPEN, 2), sparse=True, rows=RowsSpec()),
    )
    pservers, mode = start_pservers(ports_num_for_sparse=1), ModeSpec(name="geo", k_steps=1)

    def run(remote: RemoteExchange) -> Report:
        exchange = in_mode(remote, mode, 1)
        exchange.start(model, update(mode=mode), {"w": np.zeros(30, np.float32)})
        rows = SparseRows(np.array([1, 4]), np.ones((2, 2), np.float32), OPEN)
        exchange.step({"w": np.ones(30, np.float32), "t": rows}, 1)
        exchange.end_pass(0)
        exchange.export("t")
        return pservers.call(pservers.hubs[1].report)

    (report,) = pservers.train(run)
    counts = {name: latency.count for name, latency in report.latencies.items()}
    assert counts["count_changes"] == counts["pull_changes"] == 2  # once it has pushed, and as the pass ends
    assert (counts["export"], counts["end_pass"]) == (1, 1)
    said = "\n".join(lines(report))
    assert all(f'question="{name}"' in metrics.text(report) for name in counts)
    assert "end_pass: 1 answered" in said and "pull_changes: 2 answered" in said
