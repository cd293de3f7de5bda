"""Pserver processes are killed in the midst of training, and the job ends with the bits of one to which
nothing happened."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
from pathlib import Path

import pytest

from paddle._engine.exchange import ModeSpec, UpdateSpec
from paddle._pserver.errors import PserverError
from paddle._pserver.protocol.wire import wire_of
from tests.marks import on_demand
from tests.pserver.test_equality import assert_same, locally, update
from tests.waiting import PATIENCE_S, until

from .pservers import STEPS, TRAINERS, Job, pservers

pytestmark = [pytest.mark.faults, pytest.mark.patient]


@pytest.mark.parametrize(
    ("shard", "when"),
    [
        (0, 0),
        (0, 5),
        (2, 11),
        *(pytest.param(*at, marks=pytest.mark.thorough) for at in [(2, 1), (0, 4), (2, 6)]),
    ],
)
def test_a_killed_shard_comes_back_and_no_bit_is_different(tmp_path: Path, when: int, shard: int) -> None:
    spec = update("momentum")
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == when:
                job.kill(shard)

        first, second = job.train(spec, disturb)
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, TRAINERS, STEPS))


@pytest.mark.parametrize("wire", [on_demand("float16"), "topk"])
def test_a_killed_shard_is_told_the_same_again_in_whatever_numbers(tmp_path: Path, wire: str) -> None:
    """A residual knows of steps, not of sendings: what is told again is what was told."""
    spec, numbers = update("momentum"), wire_of(wire, 0.02)
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step in (4, 8):
                job.kill(0 if step == 4 else 1)

        first, second = job.train(spec, disturb, wire=numbers)
        job.end()
    with pservers(tmp_path / "undisturbed") as job:
        expected, _ = job.train(spec, lambda trainer, step: None, wire=numbers)
        job.end()
    assert_same(first, second)
    assert_same(first, expected)
    assert any((first[name] != array).any() for name, array in locally(spec, TRAINERS, STEPS).items())


@pytest.mark.thorough
def test_all_shards_killed_at_once_and_one_again(tmp_path: Path) -> None:
    spec = update("adam")
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 1 and step == 7:
                for child in job.children():  # listed once: one that has been killed may be gone from it
                    os.kill(child, signal.SIGKILL)
            if trainer == 0 and step == 9:
                job.kill(1)

        first, second = job.train(spec, disturb)
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, TRAINERS, STEPS))


def test_a_trainer_that_waits_at_one_shard_comes_back_to_another_meanwhile(tmp_path: Path) -> None:
    """Trainer 0 waits at a dense shard for trainer 1, which waits at the sparse one for trainer 0."""
    spec = update("momentum")
    pushes = threading.Event()
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 1 and step == 7:  # the snapshot is of step 5
                assert pushes.wait(PATIENCE_S)
                job.kill(2)

        def before_push(trainer: int, step: int) -> None:
            if trainer == 0 and step == 7:
                pushes.set()

        first, second = job.train(spec, disturb, before_push)
        job.end()
    assert_same(first, second)
    assert_same(first, locally(spec, TRAINERS, STEPS))


def test_asynchronous_training_goes_on_from_the_snapshot(tmp_path: Path) -> None:
    with pservers(tmp_path / "kept") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == 8:
                job.kill(0)

        first, second = job.train(update("sgd", mode=ModeSpec(name="async")), disturb)
        job.end()
    assert_same(first, second)


@pytest.mark.parametrize("journal_bytes", [3 * 50_000, on_demand(1)])  # of the latter one push is too much
def test_a_journal_that_is_full_asks_for_a_snapshot(tmp_path: Path, journal_bytes: int) -> None:
    spec, told = update("momentum"), list[dict[str, int]]()
    with pservers(tmp_path / "kept", "--snapshot_period=1000") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == 10:
                told.append(job.status()["snapshots"])
                job.kill(0)

        first, _ = job.train(spec, disturb, journal_bytes=journal_bytes)
        assert len(list((tmp_path / "kept" / "dense-0").iterdir())) > 3
        job.end()
    assert told[0]["start"] == 1 and told[0]["period"] == 0
    assert told[0]["journal"] >= 1, "it is counted by why it was written"
    assert_same(first, locally(spec, TRAINERS, STEPS))


def test_without_snapshots_a_killed_shard_ends_the_job(tmp_path: Path) -> None:
    with pservers(None) as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step == 5:
                job.kill(0)

        with pytest.raises(PserverError):
            job.train(update("sgd"), disturb)
        assert job.process.wait(PATIENCE_S) == 128 + signal.SIGKILL


def test_one_that_is_killed_too_often_ends_the_job(tmp_path: Path) -> None:
    with pservers(tmp_path / "kept", "--snapshot_restarts=1") as job:

        def disturb(trainer: int, step: int) -> None:
            if trainer == 0 and step in (4, 6):
                job.kill(0 if step == 4 else -1)  # the one that was started last

        with pytest.raises(PserverError):
            job.train(update("sgd"), disturb, reconnect_timeout_s=30)
        assert job.process.wait(PATIENCE_S) == 128 + signal.SIGKILL


def test_the_same_command_goes_on_after_all_of_it_was_killed(tmp_path: Path) -> None:
    """Another job goes on from what the last one had learned."""
    spec = update("sgd")
    with pservers(tmp_path / "kept") as job:
        first, _ = job.train(spec, lambda trainer, step: None)
        job.end()
    with pservers(tmp_path / "kept") as job:
        again, _ = job.train(spec, lambda trainer, step: None)
        job.end()
    assert any((first[name] != again[name]).any() for name in first)


def forget(folder: Path, shard: str, above: int) -> None:
    """Leave what the disk would have, had it been killed before snapshots ``above`` a version were whole."""
    for manifest in (folder / shard).glob("*.json"):
        if json.loads(manifest.read_bytes().partition(b"\n")[2])["version"] > above:
            manifest.unlink()


def written(job: Job) -> list[int]:
    """How many snapshots, of those that are due every few steps, each shard has that last."""
    return [job.status(shard)["snapshots"]["period"] for shard in range(3)]


def keep_three(folder: Path, spec: UpdateSpec) -> None:
    """A job whose shards have snapshots of versions 5, 10 and 12 when it has ended."""
    with pservers(folder) as job:

        def last(trainer: int, step: int) -> None:
            if trainer == 0 and step in (5, 10):  # one that is due while another is written is left out
                until(lambda: written(job) == [step // 5] * 3, f"snapshots of version {step}")

        job.train(spec, last)
        job.end()


def test_shards_that_were_killed_in_a_round_of_snapshots_go_back_to_the_one_that_all_have(
    tmp_path: Path,
) -> None:
    spec = update("momentum")
    keep_three(tmp_path / "kept", spec)
    shutil.copytree(tmp_path / "kept", tmp_path / "equal")
    for shard, newest in {"dense-0": 10, "dense-1": 5, "sparse-0": 12}.items():
        forget(tmp_path / "kept", shard, newest)
        forget(tmp_path / "equal", shard, 5)
    with pservers(tmp_path / "equal") as job:
        expected, _ = job.train(spec, lambda trainer, step: None)
        job.end()

    def disturb(trainer: int, step: int) -> None:
        if trainer == 0 and step == 2:  # what it went back behind does not come back either
            job.kill(2)

    with pservers(tmp_path / "kept") as job:
        first, second = job.train(spec, disturb)
        log = job.end()
    assert_same(first, second)
    assert_same(first, expected)
    assert "goes back from version 12 to 5" in log
    assert "goes back from version 10 to 5" in log


def newest(folder: Path) -> Path:
    """The data of a shard's newest snapshot."""
    return max(folder.glob("*.safetensors"))


def test_where_the_newest_snapshots_are_damaged_they_are_named_and_all_go_back_to_the_one_before(
    tmp_path: Path,
) -> None:
    """A bit of one shard's is flipped, another's is cut off, the third's is whole."""
    spec = update("momentum")
    keep_three(tmp_path / "kept", spec)
    shutil.copytree(tmp_path / "kept", tmp_path / "equal")
    flipped, cut = newest(tmp_path / "kept" / "dense-0"), newest(tmp_path / "kept" / "sparse-0")
    raw = bytearray(flipped.read_bytes())
    raw[len(raw) // 2] ^= 4
    flipped.write_bytes(raw)
    os.truncate(cut, cut.stat().st_size // 2)
    for shard in ("dense-0", "dense-1", "sparse-0"):
        forget(tmp_path / "equal", shard, 10)
    with pservers(tmp_path / "equal") as job:
        expected, _ = job.train(spec, lambda trainer, step: None)
        job.end()
    with pservers(tmp_path / "kept") as job:
        first, second = job.train(spec, lambda trainer, step: None)
        log = job.end()
    assert_same(first, second)
    assert_same(first, expected)
    for data, why in ((flipped, "its checksum is wrong"), (cut, "")):
        assert re.search(rf"passes over snapshot {data.stem} \(.*{why}.*\) in {data.parent}\n", log), log
    assert log.count("passes over snapshot") == 2
    assert log.count("goes back from version 12 to 10") == 1
