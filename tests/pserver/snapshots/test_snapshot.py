"""Snapshots on a disk that fails, stops and rots, operation by operation and bit by bit."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._pserver.errors import NoValidCheckpoint, SnapshotsInUse
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.shard.state import Facts, State, TrainerState
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.storage import Folder
from paddle._pserver.tables.streamed import whole

from ..conftest import MODEL, update
from ..disk import Disk, Killed

DECLARE = Declare(MODEL, update("adam", gradient_clipping_threshold=float("inf")), 0, 1)


def state(version: int, is_regular: bool = True) -> State:
    facts = Facts(DECLARE, version, 8 * version, (TrainerState("me", ("he",), version),))
    random = np.random.default_rng(version)
    arrays = {
        "values/w": random.standard_normal((6, 7)).astype(np.float32),
        "last_step/emb": random.integers(-9, 9, 5),
        "rates/emb": random.standard_normal(4),
        "slot first/no rows here": np.empty((0, 3), np.float32),
    }
    return State(facts, arrays, is_regular)


def test_what_is_renamed_was_flushed_before_and_its_name_is_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of real files: the data, then its name; the manifest, then its name."""
    told: list[str] = []

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        told.append(f"flush {name}")
        really_flush(descriptor)

    def replace(self: Path, target: Path) -> Path:
        told.append(f"rename {self.name}")
        return really_rename(self, target)

    really_flush, really_rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    Snapshots(Folder(tmp_path / "kept"), 3, lambda: None).save(state(1))
    assert told == [
        *("flush 000001.safetensors.new", "rename 000001.safetensors.new", "flush kept"),
        *("flush 000001.json.new", "rename 000001.json.new", "flush kept"),
    ]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_that_is_full_is_told_with_the_file_that_it_has_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def parts() -> Iterator[memoryview]:
        if call == "write":
            raise OSError(errno.ENOSPC, "No space left on device")
        yield memoryview(b"a")

    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = Folder(tmp_path / "kept")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path}/kept/000001.safetensors'"):
        folder.write("000001.safetensors", parts())
        folder.flush("000001.safetensors")


def is_same(one: State | None, other: State) -> bool:
    return (
        one is not None
        and one.facts == other.facts
        and one.is_regular == other.is_regular
        and all(
            whole(one.arrays[name]).tobytes() == whole(array).tobytes()
            and one.arrays[name].shape == array.shape
            for name, array in other.arrays.items()
        )
    )


def saved(*states: State, keep: int = 2) -> Disk:
    disk = Disk()
    snapshots = Snapshots(disk, keep)
    snapshots.load()
    for each in states:
        snapshots.save(each)
    return disk


def test_what_is_loaded_is_what_was_saved() -> None:
    loaded = Snapshots(saved(state(0), state(100))).load()
    assert is_same(loaded.state, state(100))
    assert loaded.damaged == ()


def test_an_empty_folder_holds_nothing_and_that_is_no_error() -> None:
    assert Snapshots(Disk()).load().state is None


def test_the_newest_are_kept_regular_ones_and_the_last() -> None:
    disk = saved(*(state(version) for version in range(5)), state(5, False), state(6, False), keep=2)
    assert disk.names() == [f"{n:06}.{kind}" for n in (4, 5, 7) for kind in ("json", "safetensors")]


def test_a_file_is_read_by_the_library_of_its_format(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    snapshots = Snapshots(Folder(tmp_path))
    snapshots.load()
    snapshots.save(state(3))
    found = load_file(tmp_path / "000001.safetensors")
    assert found["values/w"].tobytes() == state(3).arrays["values/w"].tobytes()


def operations_of_a_save() -> int:
    disk = saved(state(1), state(2))
    before = disk.operations
    snapshots = Snapshots(disk, 2)
    snapshots.load()
    snapshots.save(state(3))
    return disk.operations - before


def interrupted(at: int, stop: type[BaseException]) -> tuple[Disk, Snapshots]:
    """Two states are saved, and a third one is not, or hardly."""
    disk = saved(state(1), state(2))
    disk.stop_at, disk.stop = disk.operations + at, stop
    snapshots = Snapshots(disk, 2)
    snapshots.load()
    with pytest.raises(stop):
        snapshots.save(state(3))
    return disk, snapshots


def test_a_kill_or_a_power_cut_at_every_operation_leaves_a_snapshot_that_loads() -> None:
    assert operations_of_a_save() > 20
    for at in range(1, operations_of_a_save() + 1):
        disk, _ = interrupted(at, Killed)
        for left in disk.leftovers():
            snapshots = Snapshots(left, 2)
            found = snapshots.load().state
            assert is_same(found, state(2)) or is_same(found, state(3)), at
            snapshots.save(state(4))
            assert is_same(Snapshots(left, 2).load().state, state(4)), at


def test_a_disk_that_fails_at_any_operation_loses_nothing_that_was_saved() -> None:
    for at in range(1, operations_of_a_save() + 1):
        disk, snapshots = interrupted(at, OSError)
        found = Snapshots(disk.after_power_cut(names_lost=True, data_lost=True)).load().state
        assert is_same(found, state(2)) or is_same(found, state(3)), at
        assert not any(name.endswith(".new") for name in disk.names()), at
        files = {name for name in disk.names() if name.startswith("000003")}
        assert files in (set(), {"000003.json", "000003.safetensors"}), at  # or it would fill the disk
        snapshots.save(state(4))
        assert is_same(Snapshots(disk).load().state, state(4)), at


def test_the_first_snapshot_cut_short_any_number_of_times_is_a_new_beginning() -> None:
    disk = Disk()
    snapshots = Snapshots(disk)
    snapshots.load()
    snapshots.save(state(0))
    for at in range(1, disk.operations):
        left = Disk()
        for _ in range(2):
            left.stop_at = left.operations + at
            with pytest.raises(Killed):
                _begin(left)
            left.stop_at = -1
        for rest in left.leftovers():
            found = Snapshots(rest).load().state
            assert found is None or is_same(found, state(0))


def _begin(disk: Disk) -> None:
    snapshots = Snapshots(disk)
    if snapshots.load().state is None:
        snapshots.save(state(0))
    raise Killed("later")


def rotten(disk: Disk, name: str, data: bytes) -> Disk:
    left = disk.after_kill()
    left.names_now[name].data = data
    return left


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_flipped_bit_in_any_file_is_found_and_the_snapshot_before_is_loaded(data: st.DataObject) -> None:
    disk = saved(state(1), state(2))
    name = data.draw(st.sampled_from([n for n in disk.names() if n.startswith("000002")]))
    raw = bytearray(disk.read(name))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    loaded = Snapshots(rotten(disk, name, bytes(raw))).load()
    assert is_same(loaded.state, state(1))
    assert len(loaded.damaged) == 1
    assert loaded.damaged[0].startswith("000002 (")


@pytest.mark.parametrize("kind", ["json", "safetensors"])
def test_a_file_cut_off_anywhere_is_found(kind: str) -> None:
    disk = saved(state(1), state(2))
    name = f"000002.{kind}"
    whole = disk.read(name)
    for size in range(0, len(whole), 7):
        loaded = Snapshots(rotten(disk, name, whole[:size])).load()
        assert is_same(loaded.state, state(1)), size
        assert "000002" in loaded.damaged[0]


def test_damaged_snapshots_do_not_push_out_good_ones() -> None:
    disk = saved(state(1), state(2), state(3), keep=3)
    left = rotten(rotten(disk, "000003.json", b"x"), "000002.safetensors", b"y")
    snapshots = Snapshots(left, 3)
    assert is_same(snapshots.load().state, state(1))
    snapshots.save(state(4))
    again = rotten(left, "000004.safetensors", b"z")
    assert is_same(Snapshots(again).load().state, state(1))


def test_where_snapshots_are_and_none_is_whole_loading_fails_and_names_each() -> None:
    disk = saved(state(1), state(2))
    left = rotten(rotten(disk, "000001.json", b"x"), "000002.safetensors", b"y")
    with pytest.raises(NoValidCheckpoint, match=r"000002 \(it has 1 bytes.*000001 \(its manifest is damaged"):
        Snapshots(left).load()


def test_where_all_manifests_are_gone_loading_fails() -> None:
    left = saved(state(1), state(2)).after_kill()
    for name in left.names():
        if name.endswith(".json"):
            del left.names_now[name]
    with pytest.raises(NoValidCheckpoint, match="cut short"):
        Snapshots(left).load()


def test_a_snapshot_of_a_newer_release_is_named_and_not_misread() -> None:
    disk = saved(state(1))
    body = disk.read("000001.json").split(b"\n")[1].replace(b'"format":1', b'"format":2')
    left = rotten(disk, "000001.json", xxhash.xxh3_64_hexdigest(body).encode() + b"\n" + body)
    with pytest.raises(NoValidCheckpoint, match="it is of format 2; this release reads 1"):
        Snapshots(left).load()


# The real file system.


def test_a_folder_is_made_and_one_pserver_has_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "a" / "b")
    with pytest.raises(SnapshotsInUse, match="in use by another pserver"):
        Folder(tmp_path / "a" / "b")
    folder.close()
    Folder(tmp_path / "a" / "b").close()


def test_a_folder_does_what_the_disk_in_memory_does(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    snapshots = Snapshots(folder, 2)
    snapshots.load()
    for version in range(4):
        snapshots.save(state(version))
    disk = saved(*(state(version) for version in range(4)))
    assert folder.names() == disk.names()
    assert [folder.read(name) for name in folder.names()] == [disk.read(name) for name in disk.names()]
    folder.close()
    assert is_same(Snapshots(Folder(tmp_path)).load().state, state(3))
