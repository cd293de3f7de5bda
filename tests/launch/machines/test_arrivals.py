"""Files from a node: as they are there, and nothing that a malicious one says is written anywhere else."""

import io
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from paddle._launch.agent import answers, sender
from paddle._launch.errors import DeliveryError, NodeUnfit
from paddle._launch.machines import arrivals

FILE = {"kind": "file", "mode": 0o644, "mtime_ns": 0, "size": 2}
FOLDER = {"kind": "folder", "mode": 0o755, "mtime_ns": 0}
BODY = b"\0\0\0\2ab\0\0\0\0"


def said(*parts: dict[str, object] | bytes) -> bytes:
    return b"".join(part if isinstance(part, bytes) else answers.line_of(part) for part in parts)


def reader(data: bytes, most: int = 1 << 20) -> Callable[[int], bytes]:
    source = io.BytesIO(data)
    return lambda wanted: source.read(min(wanted, most))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "around").mkdir()
    return tmp_path / "around" / "place"


@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_what_is_sent_arrives_as_it_was(tmp_path: Path, place: Path, most: int) -> None:
    folder = tmp_path / "folder"
    (folder / "pass-00000" / "empty").mkdir(parents=True)
    (folder / "pass-00000" / "params.tar").write_bytes(os.urandom(3 << 16) if most > 1 else b"few")
    (folder / "pass-00000" / "params.tar").chmod(0o640)
    (folder / "latest").symlink_to("pass-00000")
    (folder / os.fsdecode(b"\xff name\n")).write_bytes(b"")
    os.utime(folder / "pass-00000", ns=(10**18, 10**18))
    out = io.BytesIO()
    sender.send(folder, out)
    assert arrivals.receive(reader(out.getvalue(), most), place, pytest.fail)

    def seen(top: Path) -> dict[str, object]:
        return {
            str(path.relative_to(top)): (
                str(path.readlink()) if path.is_symlink() else path.stat().st_mode,
                path.lstat().st_mtime_ns if not path.is_symlink() else 0,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in top.rglob("*")
        }

    assert seen(place) == seen(folder)


def test_a_folder_that_is_not_there_is_no_folder_here_either(tmp_path: Path, place: Path) -> None:
    out = io.BytesIO()
    sender.send(tmp_path / "nowhere", out)
    assert not arrivals.receive(reader(out.getvalue()), place, pytest.fail)
    assert not place.exists()


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path, place: Path) -> None:
    (tmp_path / "output").touch()
    out, told = io.BytesIO(), []
    sender.send(tmp_path / "output", out)
    assert not arrivals.receive(reader(out.getvalue()), place, told.append)
    assert told == [f"{tmp_path / 'output'} is not collected: it is no folder"]


def test_an_empty_folder_is_one(tmp_path: Path, place: Path) -> None:
    (tmp_path / "folder").mkdir()
    out = io.BytesIO()
    sender.send(tmp_path / "folder", out)
    assert arrivals.receive(reader(out.getvalue()), place, pytest.fail)
    assert list(place.iterdir()) == []


def test_a_pipe_is_told_and_left_out(tmp_path: Path, place: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "pipe")
    out, told = io.BytesIO(), []
    sender.send(tmp_path / "folder", out)
    assert arrivals.receive(reader(out.getvalue()), place, told.append)
    assert told == ["pipe is not collected: it is neither file nor folder"]


def test_a_shells_greeting_is_passed_over(tmp_path: Path, place: Path) -> None:
    (tmp_path / "folder").mkdir()
    out = io.BytesIO()
    sender.send(tmp_path / "folder", out)
    greeting = b'Welcome to node 1!\n{"not": "ours"}\n\n'
    assert arrivals.receive(reader(greeting + out.getvalue()), place, pytest.fail)


def test_a_file_that_shrinks_meanwhile_arrives_as_far_as_it_goes(place: Path) -> None:
    shrunk = said({**FILE, "path": "a", "size": 10}, BODY, {"kind": "end"})
    assert arrivals.receive(reader(shrunk), place, pytest.fail)
    assert (place / "a").read_bytes() == b"ab"


@pytest.mark.parametrize(
    "path", ["../out", "/etc/passwd", "", ".", "..", "a/../../out", "a//b", "no/such", "./a", "a\0b"]
)
def test_a_path_that_leads_elsewhere_is_refused(place: Path, path: str) -> None:
    with pytest.raises(DeliveryError, match="not below what it was asked for"):
        arrivals.receive(reader(said({**FOLDER, "path": "a"}, {**FILE, "path": path}, BODY)), place, print)
    assert [entry.name for entry in place.parent.iterdir()] == ["place"]


@pytest.mark.parametrize(
    "target", ["..", "../x", "/etc", "a/../../..", "a/up/..", "", "a//b", "../../around/place", "x\0"]
)
def test_a_link_that_may_lead_out_is_left_out_and_told(place: Path, target: str) -> None:
    told: list[str] = []
    link = {"kind": "link", "path": "link", "target": target}
    assert arrivals.receive(reader(said(link, {"kind": "end"})), place, told.append)
    assert list(place.iterdir()) == []
    assert "leads elsewhere" in told[0]


def test_of_much_that_is_left_out_the_first_is_told_and_how_much_there_is(place: Path) -> None:
    told: list[str] = []
    pipes = [{"kind": "special", "path": f"pipe-{number}"} for number in range(1234)]
    assert arrivals.receive(reader(said(*pipes, {"kind": "end"})), place, told.append)
    assert [line.split()[0] for line in told[:-1]] == [f"pipe-{number}" for number in range(10)]
    assert told[-1] == "and 1,224 more are not collected"


@pytest.mark.parametrize("target", ["../b", "b", "../../c", "./b"])
def test_a_link_within_arrives(place: Path, target: str) -> None:
    link = {"kind": "link", "path": "x/y/link", "target": target}
    folders = ({**FOLDER, "path": "x"}, {**FOLDER, "path": "x/y"})
    assert arrivals.receive(reader(said(*folders, link, {"kind": "end"})), place, pytest.fail)
    assert (place / "x/y/link").readlink() == Path(target)


def test_nothing_is_written_through_a_link(place: Path) -> None:
    link = {"kind": "link", "path": "b", "target": "a"}
    folders = said({**FOLDER, "path": "a"}, link)
    for path in ("b", "b/c"):
        with pytest.raises((DeliveryError, FileExistsError)):
            arrivals.receive(reader(folders + said({**FILE, "path": path}, BODY)), place, print)
        assert list((place / "a").iterdir()) == []
        for name in ("b", "a"):
            (place / name).unlink() if (place / name).is_symlink() else (place / name).rmdir()
        place.rmdir()


@pytest.mark.parametrize(
    ("entry", "body", "words"),
    [
        ({"size": 1}, BODY, "more bytes than the node announced"),
        ({"size": 1 << 62}, BODY, "there is room for"),
        ({"size": -1}, BODY, "there is room for"),
        ({"size": 4 << 20}, b"\0\x20\0\0" + bytes(2 << 20), "more bytes than the node announced"),
        ({}, b"\xff\xff\xff\xff", "could not be read on the node"),
        ({}, b"\0\0\0\2a", "ended before it had sent all"),
        ({"mode": "x"}, BODY, "is not understood"),
        ({"kind": "socket"}, BODY, "is not understood"),
    ],
)
def test_what_is_not_true_of_a_file_ends_it(place: Path, entry: dict, body: bytes, words: str) -> None:
    with pytest.raises(DeliveryError, match=words):
        arrivals.receive(reader(said({**FILE, "path": "a", **entry}, body)), place, print)


def test_modes_cannot_make_what_runs_as_another(place: Path) -> None:
    said_so = said({**FILE, "path": "a", "mode": 0o6777}, BODY, {"kind": "end"})
    assert arrivals.receive(reader(said_so), place, print)
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o777


@pytest.mark.parametrize("words", [b"", b"Welcome!\n", b"[" * 70_000, b"[]\n", b'{"kind": "none"', b"\xff\n"])
def test_what_is_no_list_of_files_is_refused(place: Path, words: bytes) -> None:
    with pytest.raises((DeliveryError, NodeUnfit)):
        arrivals.receive(reader(words), place, print)
    assert not place.exists()
