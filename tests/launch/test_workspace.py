"""A package becomes a workspace: whole, or not at all."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch import workspace
from paddle._launch.errors import DeliveryError, DeliveryStopped, WorkspaceError


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "package"
    for name in ("train_data_dir/deep", "log", "output", "lib/__pycache__", "lib/log"):
        (package / name).mkdir(parents=True)
    for name in ("train.py", "train_data_dir/deep/train.txt-00000", "log/old", "output/old", "lib/log/kept"):
        (package / name).write_text(name)
    (package / "lib/__pycache__/x.pyc").write_text("")
    for name in ("output.previous", ".output.part", ".output.old"):  # of an earlier job's collection
        (package / name).mkdir()
        (package / name / "model").write_text("old")
    (package / "tool.sh").write_text("#!/bin/sh\n")
    (package / "tool.sh").chmod(0o755)
    return package


def deliver(package: Path, place: Path, is_stopped=lambda: False) -> None:
    workspace.deliver(workspace.listing(package), place, is_stopped)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_everything_arrives_but_logs_outputs_and_caches(package, tmp_path) -> None:
    place = tmp_path / "jobs" / "JOB1" / "node-0"
    deliver(package, place)
    assert names(place) == {"train.py", "tool.sh", "train_data_dir/deep/train.txt-00000", "lib/log/kept"}
    assert (place / "train.py").read_text() == "train.py"
    assert stat.S_IMODE((place / "tool.sh").stat().st_mode) == 0o755
    assert (place / "train.py").stat().st_mtime == (package / "train.py").stat().st_mtime
    assert [path.name for path in place.parent.iterdir()] == ["node-0"]


def test_a_link_within_the_package_remains_one(package, tmp_path) -> None:
    (package / "lib" / "data").symlink_to(package / "train_data_dir")
    (package / "lib" / "same.py").symlink_to("../train.py")
    place = tmp_path / "node-0"
    deliver(package, place)
    assert (place / "lib" / "data").readlink() == Path("../train_data_dir")
    assert (place / "lib" / "same.py").resolve() == place / "train.py"


def test_a_link_that_leads_out_is_replaced_by_what_it_leads_to(package, tmp_path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "big.txt").write_text("data")
    (outside / "again").symlink_to("big.txt")
    (package / "data").symlink_to(outside)
    place = tmp_path / "node-0"
    deliver(package, place)
    assert not (place / "data").is_symlink()
    assert (place / "data" / "big.txt").read_text() == "data"
    assert not (place / "data" / "again").is_symlink()
    assert (place / "data" / "again").read_text() == "data"


@pytest.mark.parametrize("target", ["..", ".", "nowhere"])
def test_a_link_that_cannot_be_sent_is_named(package, target) -> None:
    (package / "lib" / "bad").symlink_to(package / target if target != ".." else package.parent)
    with pytest.raises(WorkspaceError, match=r"lib/bad|package/package|bad/package"):
        workspace.listing(package)


def test_what_is_neither_file_nor_folder_is_named(package) -> None:
    os.mkfifo(package / "pipe")
    with pytest.raises(WorkspaceError, match="pipe"):
        workspace.listing(package)


def test_a_root_of_jobs_within_the_package_is_not_sent(package) -> None:
    (package / "jobs" / "JOB0").mkdir(parents=True)
    sent = workspace.listing(package, leave_out=package / "jobs")
    assert "jobs" not in {entry.path for entry in sent}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda package: (package / "train.py").unlink(), "no train.py"),
        (lambda package: (package / "paddle.py").write_text(""), "would hide the paddle"),
        (shutil.rmtree, "not a folder"),
    ],
)
def test_what_is_no_package_is_refused(package, change, words) -> None:
    change(package)
    with pytest.raises(WorkspaceError, match=words):
        workspace.listing(package)


@pytest.mark.parametrize("program", ["../train.py", "lib/../../train.py", "/srv/train.py", ""])
def test_a_program_that_nodes_would_not_have_is_refused(package, program) -> None:
    (package.parent / "train.py").write_text("")
    with pytest.raises(WorkspaceError, match=r"^--job_program=.* its own copy of .* such as train\.py\.$"):
        workspace.listing(package, program=program)


def test_a_program_that_is_named_from_the_folder_above_is_found_in_its_own(package) -> None:
    with pytest.raises(
        WorkspaceError, match=r"no package/train\.py.* Did you mean --job_program=train\.py\?$"
    ):
        workspace.listing(package, program="package/train.py")


def test_nothing_shows_under_its_name_before_it_is_whole(package, tmp_path) -> None:
    place = tmp_path / "jobs" / "JOB1" / "node-0"
    seen = []

    def look() -> bool:
        seen.append(place.exists())
        return False

    deliver(package, place, look)
    assert len(seen) > 5
    assert not any(seen)
    assert place.is_dir()


@pytest.mark.parametrize("after", range(9))
def test_stopped_at_any_moment_it_leaves_nothing(package, tmp_path, after) -> None:
    place = tmp_path / "jobs" / "JOB1" / "node-0"
    calls = iter([False] * after + [True] * 99)
    with pytest.raises(DeliveryStopped):
        deliver(package, place, lambda: next(calls))
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_full_disk_is_told_with_the_path_and_leaves_nothing(package, tmp_path, monkeypatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "sendfile", full)
    place = tmp_path / "jobs" / "JOB1" / "node-0"
    with pytest.raises(DeliveryError, match="No space left on device") as caught:
        deliver(package, place)
    assert str(place) in str(caught.value)
    assert list((tmp_path / "jobs").iterdir()) == []


def test_another_launch_in_the_same_folder_is_not_harmed(package, tmp_path) -> None:
    place = tmp_path / "JOB1" / "node-0"
    staging = tmp_path / "JOB1" / ".node-0.part"
    staging.mkdir(parents=True)
    with pytest.raises(DeliveryError):
        deliver(package, place)
    assert staging.is_dir()


def test_room_is_checked_without_changing_anything(tmp_path, monkeypatch) -> None:
    place = tmp_path / "jobs" / "JOB1" / "node-0"
    workspace.check_room(place, 1)
    with pytest.raises(DeliveryError, match="no room"):
        workspace.check_room(place, 1 << 62)
    assert list(tmp_path.iterdir()) == []
    place.mkdir(parents=True)
    with pytest.raises(DeliveryError, match="exists already"):
        workspace.check_room(place, 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(DeliveryError, match="not a folder"):
        workspace.check_room(tmp_path / "file" / "node-0", 1)


def test_a_place_in_which_nothing_can_be_made_is_told_as_that_and_not_as_full() -> None:
    place = Path("/proc/x/JOB1/node-0")
    with pytest.raises(DeliveryError, match=r"^cannot make /proc/x/JOB1/node-0: /proc.* --root_dir=DIR"):
        workspace.check_room(place, 1)  # tells an ordinary user, and the next tells root
        workspace.deliver((), place, lambda: False)


@contextlib.contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """For a while permissions hold for this process, though it may be root's."""
    if is_root := os.geteuid() == 0:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if is_root:
            os.setresuid(0, 0, 0)


@pytest.mark.parametrize(
    ("closed", "mode"),
    [("", 0o000), ("", 0o311), ("train.py", 0o000), ("lib", 0o000), ("lib/log/kept", 0o200)],
    ids=["the package", "its list", "its program", "a folder", "a file"],
)
def test_what_cannot_be_read_is_refused_by_its_path_before_anything_is_sent(package, closed, mode) -> None:
    with tempfile.TemporaryDirectory() as place:  # others may look into it, as they may not into tmp_path
        Path(place).chmod(0o755)
        folder = Path(shutil.copytree(package, Path(place, "package")))
        (folder / closed).chmod(mode)
        with as_an_ordinary_user(), pytest.raises(WorkspaceError) as caught:
            workspace.listing(folder)
        (folder / closed).chmod(0o755)
    assert str(caught.value).startswith(f"cannot read {folder / closed}")
    assert str(caught.value).endswith(": Permission denied. Fix it, or remove it from the package.")


def ignoring(package: Path, *lines: str) -> set[str]:
    (package / ".paddleignore").write_text("\n".join(lines))
    return {entry.path for entry in workspace.listing(package) if entry.kind != "folder"}


def test_what_paddleignore_names_is_not_sent_by_the_rules_of_gitignore(package) -> None:
    (package / "lib" / "notes.tmp").write_text("")
    (package / "raw").mkdir()
    (package / "raw" / "big").write_text("")
    (package / "lib" / "raw").mkdir()
    (package / "lib" / "raw" / "kept").write_text("")
    all_of_it = {"train.py", "tool.sh", "train_data_dir/deep/train.txt-00000", "lib/log/kept"}
    everything = all_of_it | {"lib/notes.tmp", "raw/big", "lib/raw/kept"}
    assert ignoring(package, "") == everything
    assert ignoring(package, "# words", "/raw/", "*.tmp") == everything - {"raw/big", "lib/notes.tmp"}
    assert ignoring(package, "raw/") == everything - {"raw/big", "lib/raw/kept"}
    assert ignoring(package, "*.tmp", "!notes.tmp") == everything
    assert ignoring(package, "lib/**", "!lib/log/kept") == {"train.py", "tool.sh", "raw/big"} | {
        "train_data_dir/deep/train.txt-00000"
    }


def test_a_link_to_what_is_ignored_is_replaced_by_that(package, tmp_path) -> None:
    (package / "raw").mkdir()
    (package / "raw" / "words").write_text("words")
    (package / "words").symlink_to("raw/words")
    (package / ".paddleignore").write_text("raw/\n")
    deliver(package, tmp_path / "node-0")
    assert not (tmp_path / "node-0" / "words").is_symlink()
    assert (tmp_path / "node-0" / "words").read_text() == "words"


def test_a_paddleignore_that_leaves_out_the_program_or_is_no_text_is_refused(package) -> None:
    with pytest.raises(WorkspaceError, match=r"leaves out train\.py"):
        ignoring(package, "*.py")
    (package / ".paddleignore").write_bytes(b"\xff\n")
    with pytest.raises(WorkspaceError, match="not understood"):
        workspace.listing(package)
