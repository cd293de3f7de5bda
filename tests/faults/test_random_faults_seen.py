"""Broken promises that random faults are to find are found: pservers that break one each, and the checks on
their own, with what they would have seen."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.faults.random_faults.account import Fate, Span, span, together
from tests.faults.random_faults.cluster import ShardProcess
from tests.faults.random_faults.counting import SHARDS, SLOTS
from tests.faults.random_faults.job import Job
from tests.faults.random_faults.ledger import Pushes
from tests.faults.random_faults.monitor import Monitor, Seen, read
from tests.faults.random_faults.passes import Passes, note
from tests.faults.random_faults.run import Broken, run
from tests.faults.random_faults.said import NEAR, Said
from tests.faults.random_faults.scenario import ModeName, Scenario
from tests.marks import on_demand

pytestmark = [pytest.mark.faults, pytest.mark.patient]

RUNS, SECONDS = 5, 2.0
_CAME = "dense shard at 127.0.0.1:1: trainer 1 came back from 127.0.11.1:40000"
_LOST = "dense shard at 127.0.0.1:1: steps 3 to 5 of trainer 1 are lost: they came after the snapshot"
_AGAIN = "dense shard at 127.0.0.1:1: goes on from version 7 in a folder"


@pytest.mark.parametrize(
    ("defect", "mode", "seed", "what"),
    [
        on_demand("twice", "ssp", 114, "moved by .* for process"),
        on_demand("never", "ssp", 114, "moved by .* for process"),
        on_demand("back", "ssp", 114, "went back from version"),
        ("twice", "sync", 3, "has another w at the end of pass 0 than"),
        ("torn", "sync", 3, "has not the w that trainers ended with"),
    ],
)
def test_pservers_that_break_a_promise_are_found_out(
    tmp_path: Path, defect: str, mode: ModeName, seed: int, what: str
) -> None:
    """A step that is applied twice, or not at all; a version that goes back; a snapshot of two moments. It
    may take a few runs. (Whether rows that change while a table is read are kept aside is test_frozen.py's:
    that a shard goes on from just such a snapshot is too rare here.)"""
    with pytest.raises(Broken, match=what):
        for number in range(RUNS):
            (folder := tmp_path / str(number)).mkdir()
            run(seed, mode, SECONDS, folder, defect=defect)


def seen(version: int, samples: int, pid: int = 1, state: str = "ready") -> Seen:
    return Seen(version, samples, 0, state, pid)


@pytest.mark.parametrize(
    ("mode", "before", "now", "what"),
    [
        ("sync", seen(9, 216), seen(10, 240), None),
        ("sync", seen(10, 240), seen(9, 216), "went back from version 10 to 9"),
        ("sync", seen(9, 216), seen(10, 248), "counts 248 samples in 10 steps"),
        ("sync", seen(9, 216), seen(10, 232), "counts 232 samples in 10 steps"),
        ("sync", seen(10, 240), seen(7, 168, pid=2), None),
        ("sync", seen(10, 240), seen(6, 144, pid=2), "came back at version 6, and had saved 7"),
        ("sync", seen(10, 240), seen(0, 0, pid=2, state="waiting"), None),
        ("ssp", seen(9, 72), seen(10, 80), None),
        ("ssp", seen(9, 72), seen(10, 72), "counts 72 samples in 10 steps"),
        ("half_async", seen(9, 9 * 32), seen(10, 9 * 32 + 8), None),  # the last push of a trainer
        ("half_async", seen(9, 9 * 32), seen(10, 10 * 32 + 8), "counts 328 samples in 10 steps"),
        ("half_async", seen(9, 9 * 32), seen(10, 6 * 32), "counts 192 samples in 10 steps"),
    ],
)
def test_what_two_looks_at_a_shard_tell(mode: ModeName, before: Seen, now: Seen, what: str | None) -> None:
    job = Job(1, Scenario(mode), "")
    monitor = Monitor(SimpleNamespace(job=job, shards=[]))  # type: ignore[arg-type]
    monitor._floors["dense 0"] = 7
    monitor._look_at("dense 0", now, before)
    assert monitor.broken == ([] if what is None else [f"dense 0 {what}"])


def test_a_shard_that_is_killed_in_the_midst_of_an_answer_is_one_that_is_not_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        shard = ShardProcess("dense 0", *listener.getsockname(), Path())
        seen = pool.submit(read, shard, "/v1/status")
        with listener.accept()[0] as peer:
            peer.recv(1 << 16)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
        assert seen.result() is None


def test_where_a_pass_ends_all_have_the_same_parameters_and_what_is_half_written_waits(
    tmp_path: Path,
) -> None:
    passes, files = Passes(), [(name, tmp_path / name) for name in ("one", "other", "right")]
    ones, twos = {"w": np.ones(3), "t": np.ones(2)}, {"w": np.ones(3), "t": np.full(2, 2.0)}
    for number, each in enumerate([ones, twos]):
        note(files[0][1], number, each)
    assert passes.look(files) == [] and not passes.compared
    note(files[1][1], 0, ones)
    note(files[2][1], 0, ones)
    assert passes.look(files) == [] and passes.compared == {0: 2}
    note(files[2][1], 1, ones)
    whole = files[2][1].read_bytes()
    files[2][1].write_bytes(whole[:-9])
    assert passes.look(files) == []
    files[2][1].write_bytes(whole)
    assert passes.look(files) == ["right has another t at the end of pass 1 than one"]
    assert passes.look(files) == []


def pushed(*sizes: float, answered: int | None = None, dropped: tuple[int, ...] = ()) -> Pushes:
    """What a process of slot 0 moved; ``dropped``: the numbers of those that the first shard discarded."""
    moves = np.zeros((len(sizes), len(SHARDS), SLOTS))
    moves[:, :, 0] = np.array(sizes)[:, None]
    is_dropped = np.zeros((len(sizes), len(SHARDS)), np.bool_)
    is_dropped[np.array(dropped, np.int64) - 1, 0] = bool(dropped)
    return Pushes(moves, is_dropped, len(sizes) if answered is None else answered)


def ends(found: Span) -> tuple[float, float]:
    return float(found.least[0]), float(found.most[0])


@pytest.mark.parametrize(
    ("pushes", "fate", "expected"),
    [
        (pushed(1, 2, 4), Fate(), (7, 7)),
        (pushed(1, 2, 4, dropped=(2,)), Fate(), (5, 5)),
        (pushed(1, 2, 4), Fate(lost={1, 3}), (2, 2)),
        (pushed(1, 2, 4, dropped=(3,)), Fate(lost={3}), (3, 3)),
        (pushed(1, 2, 4, answered=2), Fate(), (3, 7)),
        (pushed(1, 2, 4), Fate(lost={2}, is_sure=False), (5, 7)),
        (pushed(1, -2, 4), Fate(may_forget=True), (-2, 5)),
        (pushed(), Fate(), (0, 0)),
    ],
)
def test_a_push_counts_once_unless_it_is_said_not_to(
    pushes: Pushes, fate: Fate, expected: tuple[float, float]
) -> None:
    assert ends(span(pushes, 0, fate)) == expected


def test_what_one_shard_discards_another_may_count_and_processes_add_up() -> None:
    pushes = pushed(1, 2, dropped=(2,))
    assert [ends(span(pushes, shard, Fate())) for shard in (0, 1)] == [(1, 1), (3, 3)]
    assert ends(together([span(pushes, 0, Fate()), span(pushed(4, answered=0), 0, Fate())])) == (1, 5)


def test_what_rounding_has_left_behind_in_a_process_is_in_doubt() -> None:
    assert ends(span(pushed(1, -64, 4), 0, Fate(), kept=2.0**-8)) == (-59.25, -58.75)
    assert ends(span(pushed(), 0, Fate(), kept=2.0**-8)) == (0, 0)


def test_what_is_lost_is_of_whom_the_next_line_names_at_the_shard_that_says_so() -> None:
    said = Said([[_CAME, _LOST, _CAME.replace("trainer 1", "trainer 0"), _CAME], []])
    assert said.lost("dense 0", 1) == {3, 4, 5}
    assert not said.lost("sparse 0", 1) and not said.lost("dense 1", 1) and not said.lost("dense 0", 0)
    near = Said([[_LOST, "dense shard at 127.0.0.1:1: trainer 1 came back from 127.0.0.1 (same machine)"]])
    assert near.lost("dense 0", NEAR) == {3, 4, 5}


def test_a_shard_that_is_started_again_may_forget_only_who_does_not_come_back() -> None:
    assert not Said([[_CAME]]).has_restarted("dense 0", 1)
    assert Said([[_CAME, _AGAIN]]).has_restarted("dense 0", 1)
    assert not Said([[_CAME, _AGAIN.replace("dense", "sparse")]]).has_restarted("dense 0", 1)
    assert not Said([[_CAME, _AGAIN, _CAME]]).has_restarted("dense 0", 1)


def test_a_snapshot_that_is_worse_than_cut_short_is_told() -> None:
    passes = "W dense shard at 127.0.0.1:1: passes over snapshot 000007 ({}) in a folder"
    assert not Said([[passes.format("it was cut short while it was written")]]).torn
    assert Said([[passes.format("its checksum is wrong")]]).torn
