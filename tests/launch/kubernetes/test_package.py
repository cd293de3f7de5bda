"""A workspace packed, and what a pod makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle._launch.errors import WorkspaceError
from paddle._launch.kubernetes import package
from paddle._launch.workspace import listing

from .jobs import workspace


def brought(folder: Path, parts: list[bytes]) -> Path:
    folder.mkdir()
    for number, data in enumerate(parts):
        (folder / package.name_of(number)).write_bytes(data)
    return folder


def test_what_is_unpacked_is_what_was_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "PART", 64)
    source, place = workspace(tmp_path / "package"), tmp_path / "place"
    place.mkdir()
    parts = package.packed(listing(source))
    assert len(parts) > 2
    package.unpack(brought(tmp_path / "parts", parts), place, "", 0, 1)
    names = sorted(str(path.relative_to(place)) for path in place.rglob("*"))
    assert names == sorted(str(path.relative_to(source)) for path in source.rglob("*"))
    assert (place / "again").read_text() == "1\n"
    assert (place / "again").is_symlink()
    assert (place / "run.sh").stat().st_mode & 0o111
    assert not (place / "train.py").stat().st_mode & 0o111


def test_the_same_content_is_packed_to_the_same_bytes(tmp_path: Path) -> None:
    one, other = workspace(tmp_path / "one"), workspace(tmp_path / "other")
    assert package.packed(listing(one)) == package.packed(listing(other))


def test_of_a_sharded_folder_a_trainer_has_its_own(tmp_path: Path) -> None:
    parts = package.packed(listing(workspace(tmp_path / "package")))
    place = tmp_path / "place"
    place.mkdir()
    package.unpack(brought(tmp_path / "parts", parts), place, "data", 1, 2)
    assert sorted(path.name for path in (place / "data").iterdir()) == ["part-00001", "part-00003"]
    assert (place / "train.py").is_file()


def test_what_is_too_much_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MOST", 100)
    with pytest.raises(WorkspaceError, match="--job_workspace=FOLDER"):
        package.packed(listing(workspace(tmp_path / "package")))


def test_half_a_package_is_refused(tmp_path: Path) -> None:
    parts = package.packed(listing(workspace(tmp_path / "package")))
    broken = brought(tmp_path / "parts", [parts[0][:-40]])
    with pytest.raises(WorkspaceError, match="cannot be unpacked"):
        package.unpack(broken, tmp_path / "place", "", 0, 1)
