"""Snapshots on disk: found, checked, and cut for another number of pservers, all of it or nothing."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from paddle import __main__ as command
from paddle._engine.exchange import ModeSpec, ParameterSpec, UpdateSpec
from paddle._pserver.errors import CannotReshard, NotOneJob, NoValidCheckpoint, SnapshotsInUse
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.shard.state import Facts
from paddle._pserver.snapshots import offline
from paddle._pserver.snapshots.archive import Archive
from paddle._pserver.snapshots.gathering import Gathered, gather
from paddle._pserver.snapshots.offline import Cluster, reshard
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.storage import Folder

from ..test_equality import MODEL, update
from .test_resharding import Cluster as Tables
from .test_resharding import assert_equal, cluster

SPEC = update("adam")


def kept(folder: Path, tables: Tables, *versions: int, model: Sequence[ParameterSpec] = MODEL) -> None:
    """Train on, and have every shard keep these versions; two pservers, with half of the shards each."""
    storages = {}
    for role, shard, shards in tables.places:
        storages[role, shard] = Folder(folder / f"node-{shard * 2 // shards}" / f"{role}-{shard % 2}")
    kept = {place: Snapshots(storage) for place, storage in storages.items()}
    for snapshots in kept.values():
        snapshots.load()
    for version in versions:
        tables.train(version - tables.steps)
        for (role, shard, shards), own in zip(tables.places, tables.models, strict=True):
            facts = Facts(Declare(tuple(model), tables.spec, shard, shards), version, 8 * version, ())
            kept[role, shard].write(facts, own.tables.state())
    for storage in storages.values():
        storage.close()


def loaded(gathered: Gathered, spec: UpdateSpec = SPEC) -> Tables:
    tables = cluster(MODEL, spec, len(gathered.dense), len(gathered.sparse))
    for model, state in zip(tables.models, gathered.shards, strict=True):
        model.restore(state.arrays, state.facts.version, "a folder")
    tables.steps = gathered.version
    return tables


def damage(folder: Path, version: int) -> None:
    """Turn a bit of the data of a version."""
    survey = Archive(Folder(folder)).survey()
    number = next(n for n, manifest in survey.whole.items() if manifest.version == version)
    path = folder / f"{number:06}.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_what_is_written_for_another_cluster_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    old, unbroken = cluster(MODEL, SPEC, 2, 2), cluster(MODEL, SPEC, 1, 1)
    kept(tmp_path / "old", old, 2, 4)
    unbroken.train(4)
    reshard(
        [tmp_path / "old"], tmp_path / "new", Cluster(nodes=2, ports_num=2, ports_num_for_sparse=1), print
    )
    names = sorted(str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").glob("*/*"))
    assert names == [
        f"node-{node}/{shard}" for node in (0, 1) for shard in ("dense-0", "dense-1", "sparse-0")
    ]
    new = loaded(gather([tmp_path / "new"], print))
    for each in (new, unbroken):
        each.train(3)
    assert_equal(unbroken, new)


def test_folders_are_found_by_pserver_by_job_and_all_together(tmp_path: Path) -> None:
    kept(tmp_path / "jobs" / "JOB1", cluster(MODEL, SPEC, 2, 2), 3)
    job = tmp_path / "jobs" / "JOB1"
    for folders in ([job], [job.parent], [job / "node-0", job / "node-1"], [job, job / "node-0" / "dense-0"]):
        assert gather(folders, print).version == 3


def test_a_folder_of_several_names_in_a_jobs_workspaces_is_found(tmp_path: Path) -> None:
    kept(tmp_path / "old", cluster(MODEL, SPEC, 2, 2), 2)
    for node in ("node-0", "node-1"):
        deep = tmp_path / "JOB" / node / "output" / "of mine" / "kept"
        deep.parent.mkdir(parents=True)
        (tmp_path / "old" / node).rename(deep)
    assert len(gather([tmp_path / "JOB"], print).shards) == 4


def test_where_no_pserver_runs_nobody_looks_twice(tmp_path: Path) -> None:
    kept(tmp_path, cluster(MODEL, SPEC, 2, 2), 2)
    damage(tmp_path / "node-0" / "dense-0", 2)
    told: list[str] = []
    with pytest.raises(NoValidCheckpoint, match=r"no snapshot in .*dense-0 is whole"):
        gather([tmp_path], told.append, is_running=True)
    assert len(told) == 1 and told[0].startswith("passes over snapshot 000001")


def test_the_newest_version_that_all_have_is_taken_and_what_is_damaged_is_passed_over_by_name(
    tmp_path: Path,
) -> None:
    old = cluster(MODEL, SPEC, 2, 2)
    kept(tmp_path, old, 2, 4, 6)
    for manifest in sorted((tmp_path / "node-0" / "dense-0").glob("*.json"))[2:]:
        manifest.unlink()
    damage(tmp_path / "node-1" / "sparse-1", 4)
    notices: list[str] = []
    gathered = gather([tmp_path], notices.append)
    assert gathered.version == 2
    assert "dense-0" in notices[0] and "000003 (it was cut short" in notices[0]
    assert "sparse-1" in notices[1] and "000002" in notices[1] and "checksum is wrong" in notices[1]
    unbroken = cluster(MODEL, SPEC, 1, 1)
    unbroken.train(2)
    assert_equal(unbroken, loaded(gathered))


def test_where_no_version_is_common_all_are_told(tmp_path: Path) -> None:
    old = cluster(MODEL, SPEC, 2, 1)
    kept(tmp_path, old, 2)
    shutil.move(tmp_path / "node-0" / "dense-0", tmp_path / "node-1" / "dense-0")
    other = cluster(MODEL, SPEC, 2, 1)
    kept(tmp_path / "other", other, 4)
    shutil.rmtree(tmp_path / "node-1" / "dense-0")
    shutil.move(tmp_path / "other" / "node-0" / "dense-0", tmp_path / "node-1" / "dense-0")
    shutil.rmtree(tmp_path / "other")
    with pytest.raises(NoValidCheckpoint, match=r"no version in common.*dense-1: \[2\]"):
        gather([tmp_path], print)


def test_asynchronous_shards_are_each_taken_at_their_newest(tmp_path: Path) -> None:
    spec = update("sgd", mode=ModeSpec(name="async"))
    old = cluster(MODEL, spec, 2, 1)
    kept(tmp_path, old, 2, 4)
    for manifest in sorted((tmp_path / "node-0" / "dense-0").glob("*.json"))[1:]:
        manifest.unlink()
    assert [shard.facts.version for shard in gather([tmp_path], print).shards] == [2, 4, 4]


def test_what_is_no_whole_job_is_refused_by_name(tmp_path: Path) -> None:
    kept(tmp_path / "one", cluster(MODEL, SPEC, 2, 2), 2)
    with pytest.raises(NotOneJob, match="no snapshots of shards are in"):
        (tmp_path / "empty").mkdir()
        gather([tmp_path / "empty"], print)
    with pytest.raises(NotOneJob, match=r"nowhere is not a folder"):
        gather([tmp_path / "nowhere"], print)
    with pytest.raises(NotOneJob, match=r"had 2 dense shards, and dense shard 1 is not among"):
        gather([tmp_path / "one" / "node-0"], print)
    shutil.copytree(tmp_path / "one" / "node-0", tmp_path / "again")
    with pytest.raises(NotOneJob, match=r"dense-0 and .*again/dense-0 are both dense shard 0"):
        gather([tmp_path / "one", tmp_path / "again"], print)
    shutil.copytree(tmp_path / "one" / "node-0" / "dense-0", tmp_path / "one" / "node-0" / "dense-1")
    with pytest.raises(NotOneJob, match=r"dense-1 are both dense shard 0: a program of several optimizers"):
        gather([tmp_path / "one"], print)
    shutil.rmtree(tmp_path / "one" / "node-0" / "dense-1")
    kept(tmp_path / "other", cluster(MODEL, update("sgd"), 2, 2), 2)
    with pytest.raises(NotOneJob, match="different models"):
        gather([tmp_path / "one" / "node-0", tmp_path / "other" / "node-1"], print)


def test_a_folder_that_a_pserver_has_is_left_alone(tmp_path: Path) -> None:
    kept(tmp_path, cluster(MODEL, SPEC, 1, 1), 2)
    pserver = Folder(tmp_path / "node-0" / "dense-0")
    with pytest.raises(SnapshotsInUse, match=r"dense-0 is in use by a pserver: end its job first"):
        gather([tmp_path], print)
    assert gather([tmp_path], print, is_running=True).version == 2
    pserver.close()
    assert gather([tmp_path], print).version == 2


def test_nothing_is_overwritten_and_nothing_is_left_of_what_failed(tmp_path: Path, monkeypatch) -> None:
    kept(tmp_path / "old", cluster(MODEL, SPEC, 2, 2), 2)
    size = Cluster(nodes=1, ports_num=1, ports_num_for_sparse=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    with pytest.raises(CannotReshard, match=r"full is there already"):
        reshard([tmp_path / "old"], tmp_path / "full", size, print)
    with pytest.raises(CannotReshard, match=r"'emb' is sparse: give --ports_num_for_sparse=1"):
        reshard(
            [tmp_path / "old"], tmp_path / "new", Cluster(nodes=1, ports_num=1, ports_num_for_sparse=0), print
        )

    def flush(folder: Folder, name: str) -> None:
        if folder.where.endswith("sparse-0"):
            raise OSError("no space left on device")

    monkeypatch.setattr(Folder, "flush", flush)
    with pytest.raises(OSError, match="no space left"):
        reshard([tmp_path / "old"], tmp_path / "new", size, print)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "old"]


@pytest.mark.parametrize("argv", [["reshard", "--ports_num_for_sparse=1"], ["export"]])
def test_a_signal_ends_it_in_words_and_leaves_nothing_half_made(
    argv: list[str], tmp_path: Path, monkeypatch, capsys
) -> None:
    def flush(path: Path) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    kept(tmp_path / "old", cluster(MODEL, SPEC, 2, 2), 2)
    monkeypatch.setattr(offline, "flush", flush)
    before = signal.getsignal(signal.SIGTERM)
    assert command.main([*argv, str(tmp_path / "old"), f"--to={tmp_path / 'new'}"]) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == f"paddle {argv[0]}: stopped by SIGTERM\n"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_what_is_made_for_the_next_job_is_no_part_of_the_one_before(tmp_path: Path) -> None:
    kept(tmp_path / "old", cluster(MODEL, SPEC, 2, 2), 2)
    size = Cluster(nodes=1, ports_num=1, ports_num_for_sparse=1)
    with pytest.raises(CannotReshard, match=r"wider is in .*old, where it would be taken for a part of"):
        reshard([tmp_path / "old"], tmp_path / "old" / "node-0" / "wider", size, print)
    assert gather([tmp_path / "old"], print).version == 2


def test_the_command_says_what_it_does_and_what_next(tmp_path: Path, capsys) -> None:
    kept(tmp_path / "old", cluster(MODEL, SPEC, 2, 2), 2)
    argv = ["reshard", str(tmp_path / "old"), f"--to={tmp_path / 'new'}", "--ports_num=3"]
    assert command.main(argv) == 2
    assert "give --ports_num_for_sparse=1 or more" in capsys.readouterr().err
    assert command.main([*argv, "--ports_num_for_sparse=1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "version 2 of 2 dense and 2 sparse shards"
    assert lines[1] == f"wrote dense shard 0 of 3 to {tmp_path}/new/node-0/dense-0"
    assert lines[-1] == (
        f"start the next job, on 1 node, with --snapshot_dir={tmp_path / 'new'} --ports_num=3 "
        "--ports_num_for_sparse=1"
    )
    assert command.main([*argv, "--ports_num_for_sparse=1"]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "say which snapshots, and where to"),
        (["here"], "say which snapshots, and where to"),
        (["here", "--to=there", "--port=1"], "port is a flag of the"),
        (["nowhere", "--to=there"], "nowhere is not a folder: name the --snapshot_dir of"),
    ],
)
def test_a_wrong_call_is_one_paragraph(argv: list[str], words: str, capsys) -> None:
    assert command.main(["reshard", *argv]) == 2
    assert words in capsys.readouterr().err


def test_help_shows_the_flags(capsys) -> None:
    assert command.main(["reshard", "--help"]) == 0
    page = capsys.readouterr().out
    for word in ("--to=TEXT", "--nodes=N", "--ports_num=N", "--ports_num_for_sparse=N"):
        assert word in page
