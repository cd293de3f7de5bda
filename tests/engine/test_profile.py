"""Profiles: what is counted, in whichever thread, and what is not; the table and the trace."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Iterator
from itertools import count, cycle, pairwise

import numpy as np
import pytest

from paddle._engine import profile as profiles
from paddle._engine.errors import ExchangeError
from paddle._engine.plans import room
from paddle._engine.profile import BETWEEN, FEED, FETCH, MOST_NAMES, OTHERS, Profile, switch
from paddle._engine.profile_table import table

from .jobs import IDS, Job, embedded, linear, noisy


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    switch(None)


def ticking(step: int = 1) -> Profile:
    """Every look at a clock finds it ``step`` later than the one before; that of the processor stands."""
    return Profile(clock=count(0, step).__next__, cpu=lambda: 0)


def trained(
    job: Job, feed: dict[str, np.ndarray], profile: Profile | None, runs: int = 3
) -> list[np.ndarray]:
    switch(profile)
    return [job.run(feed)[0] for _ in range(runs)]


def points(rows: int) -> dict[str, np.ndarray]:
    x = np.linspace(-1, 1, 2 * rows, dtype=np.float32).reshape(rows, 2)
    return {"x": x, "y": x[:, :1] + 1}


def counted(profile: Profile) -> dict[str, int]:
    return {line.name: line.calls for line in profile.lines()}


def test_every_operator_is_counted_once_a_run_and_so_is_what_is_around_them() -> None:
    profile = ticking()
    trained(linear(), points(4), profile, runs=3)
    assert profile.runs == 3
    calls = counted(profile)
    assert [calls.pop(name) for name in (BETWEEN, FEED, FETCH)] == [2, 3, 3]
    assert calls["exchange"] == calls["mul"] == calls["mul_grad"] == calls["square_error_cost"] == 3


def test_the_time_of_a_run_is_that_of_its_parts() -> None:
    profile = ticking(step=5)
    trained(linear(), points(4), profile, runs=100)  # they are worked out in lots of 64
    lines = profile.lines()
    parts = sum(line.calls for line in lines if line.name != BETWEEN)
    assert sum(line.wall_ns for line in lines if line.name != BETWEEN) == 5 * parts
    (between,) = [line for line in lines if line.name == BETWEEN]
    assert (between.calls, between.wall_ns) == (99, 5 * 99)  # nothing is known of before the first run


def test_a_run_computes_the_same_bits_under_a_profile() -> None:
    feed = {"x": np.ones((4, 8), np.float32)}
    alone, profiled = trained(noisy(), feed, None), trained(noisy(), feed, Profile())
    assert [each.tobytes() for each in alone] == [each.tobytes() for each in profiled]


def test_a_run_that_fails_is_not_counted_and_says_where_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    job, profile = linear(), ticking()
    trained(job, points(4), profile, runs=1)

    def fail(*_: object, **__: object) -> None:
        raise ExchangeError("away")

    with monkeypatch.context() as patch:
        patch.setattr(job.exchange, "step", fail)
        with pytest.raises(ExchangeError) as raised:
            job.run(points(4))
    assert "in operator - = exchange(" in raised.value.__notes__[0]
    trained(job, points(4), profile, runs=1)
    assert profile.runs == 2
    assert {calls for name, calls in counted(profile).items() if name != BETWEEN} == {2}


def test_what_runs_while_no_profile_is_on_is_not_counted() -> None:
    job, profile = linear(), ticking()
    trained(job, points(4), profile, runs=1)
    trained(job, points(4), None, runs=5)
    assert profile.runs == 1


def test_what_passes_while_it_is_switched_off_is_not_between_runs() -> None:
    job, profile = linear(), ticking()
    trained(job, points(4), profile, runs=2)
    trained(job, points(4), profile, runs=2)  # switched on again
    (between,) = [line for line in profile.lines() if line.name == BETWEEN]
    assert between.calls == 2


def test_one_with_a_budget_looks_at_some_runs_in_a_row_and_passes_over_others() -> None:
    profile = Profile(clock=count().__next__, cpu=count(0, 20).__next__, budget=0.01, mark_ns=10.0)
    trained(linear(), points(4), profile, runs=10_000)
    assert (profile.runs + profile.passed, profile.runs % 16) == (10_000, 0)
    assert profile.runs / 10_000 == pytest.approx(0.01, rel=0.3)  # marks take as long as all else here
    (between,) = [line for line in profile.lines() if line.name == BETWEEN]
    assert between.calls == profile.runs // 16 * 15
    assert table(profile.lines(), profile.runs, passed=profile.passed).startswith(f"{profile.runs} of 10000 ")


def test_runs_that_take_less_than_their_marks_are_looked_at_again() -> None:
    """As those of a small model: what they take by themselves cannot be told from what marks take in them."""
    profile = Profile(clock=count().__next__, cpu=count(0, 20).__next__, budget=0.01, mark_ns=50.0)
    trained(linear(), points(4), profile, runs=30_000)
    assert (profile.runs, profile.runs + profile.passed) == (48, 30_000)


def test_a_mark_costs_what_its_clocks_cost() -> None:
    profile = Profile(clock=count(0, 7).__next__, cpu=lambda: 0, budget=1.0)
    assert profile._mark_ns == pytest.approx(2 * 7, rel=0.05)


def test_plans_that_are_no_more_stay_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 0)
    job, profile = linear(), ticking()
    for rows in range(1, 101):  # each size of a batch is another plan, of which 16 are kept
        trained(job, points(rows), profile, runs=1)
    assert profile.runs == 100
    assert len(profile._watches) <= 17
    assert len(profile._records) <= 66


def test_one_that_is_left_on_holds_no_more_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many plans, events and names of the program's own there were."""
    monkeypatch.setattr(room, "MOST", 0)
    monkeypatch.setattr(profiles, "MOST_NAMES", 20)
    job, profile = linear(), Profile(clock=count().__next__, cpu=lambda: 0, most_events=200)
    sizes, names = cycle(range(1, 41)), count()

    def held_after(runs: int) -> int:
        for _ in range(runs):
            trained(job, points(next(sizes)), profile, runs=1)
            profile.note(f"batch {next(names)}", 0, 5, 1)
        gc.collect()
        own = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, profiles.__file__)])
        return sum(trace.size for trace in own.traces)

    tracemalloc.start()
    try:
        before = held_after(150)
        grown = held_after(250) - before
    finally:
        tracemalloc.stop()
    assert grown < before / 2
    assert sum(each.size for _, each in profile._events) == profile._held <= 200
    assert len(profile.trace(7)["traceEvents"]) <= 2 * 200
    assert sum(line.is_named for line in profile.lines()) <= 20 + 2
    assert profile.runs == 400


def test_names_beyond_so_many_are_one_line() -> None:
    profile = ticking()
    for number in range(MOST_NAMES + 50):
        profile.note(f"batch {number}", 0, 5, 1)
    profile.note("batch 3", 0, 5, 1)
    calls = counted(profile)
    assert (len(calls), calls["batch 3"], calls[OTHERS]) == (MOST_NAMES + 1, 2, 50)


def test_threads_are_told_apart_in_the_trace_and_counted_together() -> None:
    profile = ticking()
    switch(profile)
    jobs = [linear(), linear()]
    threads = [threading.Thread(target=job.run, args=(points(4),)) for job in jobs]
    for thread in threads:
        thread.start()
        thread.join()
    assert profile.runs == 2
    assert len({event["tid"] for event in profile.trace(7)["traceEvents"]}) == 2


def test_of_a_table_only_the_rows_that_are_looked_up_are_bytes() -> None:
    profile = ticking()
    trained(embedded(), IDS, profile, runs=1)
    lines = {line.name: line.nbytes for line in profile.lines()}
    rows, ids = 3 * 2 * 4, 3 * 8
    assert lines["lookup_beside"] == 2 * (ids + rows + rows)
    dense, sparse = 4 * 4, 6 * (2 * 4 + 8)
    assert lines["exchange"] == 2 * (dense + sparse)


def test_a_trace_has_operators_in_their_order_within_their_run() -> None:
    profile = ticking(step=1000)
    trained(linear(), points(4), profile, runs=2)
    events = profile.trace(7)["traceEvents"]
    runs = [event for event in events if event["name"] == "run"]
    assert [run["pid"] for run in runs] == [7, 7]
    inner = [event for event in events if event["name"] != "run"]
    assert {event["cat"] for event in inner} == {"forward", "backward"}
    for run, parts in zip(runs, (inner[: len(inner) // 2], inner[len(inner) // 2 :]), strict=True):
        assert parts[0]["ts"] == run["ts"]
        assert all(one["ts"] + one["dur"] == other["ts"] for one, other in pairwise(parts))
        assert parts[-1]["ts"] + parts[-1]["dur"] == run["ts"] + run["dur"]


def test_a_trace_has_the_last_events_of_many() -> None:
    profile = Profile(clock=count().__next__, cpu=lambda: 0, most_events=2000)
    trained(linear(), points(4), profile, runs=1000)
    assert profile.runs == 1000
    events = profile.trace(7)["traceEvents"]
    assert 500 < len(events) <= 2500
    assert events[-1]["name"] == FETCH


def test_what_a_program_names_is_counted_beside_operators() -> None:
    profile = ticking()
    profile.note("reader", 10, 30, 15)
    (line,) = profile.lines()
    assert (line.name, line.calls, line.wall_ns, line.cpu_ns) == ("reader", 1, 20, 15)
    assert profile.trace(7)["traceEvents"][0]["dur"] == 0.02


def test_a_profile_that_is_reset_begins_anew() -> None:
    profile = ticking()
    trained(linear(), points(4), profile)
    profile.reset()
    assert (profile.runs, profile.lines(), profile.trace(7)["traceEvents"]) == (0, [], [])


def test_the_table_has_a_line_for_each_and_shares_of_the_time_in_runs() -> None:
    profile = Profile(clock=count().__next__, cpu=count(0, 1_000_000).__next__)
    trained(linear(), points(4), profile, runs=2)
    profile.note("of the program", 0, 9, 9_000_000)
    text = table(profile.lines(), profile.runs).splitlines()
    assert text[0].startswith("2 runs, ")
    assert text[1].split() == [
        "calls",
        "CPU",
        "ms",
        "share",
        "wall",
        "ms",
        "us",
        "a",
        "call",
        *text[1].split()[9:],
    ]
    shares = [float(word[:-1]) for line in text[2:] for word in line.split() if word.endswith("%")]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert not any("%" in line for line in text if line.startswith(BETWEEN))


@pytest.mark.parametrize("order", ["total", "calls", "max", "min", "ave"])
def test_the_table_is_sorted_as_asked(order: str) -> None:
    profile = ticking()
    for name, took in (("a", [5, 5, 5]), ("b", [9]), ("c", [1, 7, 3, 1])):
        for cpu in took:
            profile.note(name, 0, cpu, cpu)
    first = {"total": "a", "calls": "c", "max": "b", "min": "c", "ave": "b"}[order]
    assert table(profile.lines(), 1, order).splitlines()[2].startswith(first)
