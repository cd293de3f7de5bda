"""Hostile manifests are refused by name, and nothing is written outside of the place."""

import contextlib
import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.agent import manifest
from paddle._launch.agent.manifest import Item, Refused, read, written
from paddle._launch.errors import NodeLost
from tests.launch.receiving import ThreadLine, answer, tree
from tests.waiting import PATIENCE_S

DIGEST = "a" * 64
FILE = [0o644, 1_000_000_000, 3, DIGEST]


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


HOSTILE = {
    "up": lines(["file", "../x", *FILE]),
    "up within": lines(["folder", "a"], ["file", "a/../../x", *FILE]),
    "absolute": lines(["file", "/tmp/x", *FILE]),
    "empty": lines(["file", "", *FILE]),
    "dot": lines(["folder", "."]),
    "double slash": lines(["folder", "a"], ["file", "a//x", *FILE]),
    "trailing slash": lines(["folder", "a/"]),
    "NUL": lines(["file", "a\0b", *FILE]),
    "newline": lines(["file", "a\nb", *FILE]),
    "half a character": lines(["file", "\ud800", *FILE]),
    "long name": lines(["file", "x" * 256, *FILE]),
    "long path": lines(["folder", "/".join(["x" * 200] * 30)]),
    "twice": lines(["file", "a", *FILE], ["file", "a", *FILE]),
    "file and folder": lines(["file", "a", *FILE], ["folder", "a"]),
    "in a file": lines(["file", "a", *FILE], ["file", "a/b", *FILE]),
    "in a link": lines(["folder", "d"], ["link", "a", "d"], ["file", "a/b", *FILE]),
    "in nothing": lines(["file", "a/b", *FILE]),
    "before its folder": lines(["file", "a/b", *FILE], ["folder", "a"]),
    "link up": lines(["link", "a", ".."]),
    "link far up": lines(["folder", "d"], ["link", "d/a", "../../etc/passwd"]),
    "link to root": lines(["link", "a", "/etc/passwd"]),
    "link in disguise": lines(["folder", "d"], ["link", "a", "d/../../x"]),
    "link by a link": lines(
        ["folder", "x"], ["folder", "x/y"], ["link", "l", "x/y"], ["link", "e", "l/../.."]
    ),
    "link to nothing": lines(["link", "a", ""]),
    "link with NUL": lines(["link", "a", "b\0c"]),
    "setuid": lines(["file", "a", 0o4755, 0, 3, DIGEST]),
    "a device": lines(["device", "a", 1, 3]),
    "a pipe": lines(["fifo", "a"]),
    "negative size": lines(["file", "a", 0o644, 0, -1, DIGEST]),
    "huge size": lines(["file", "a", 0o644, 0, 1 << 63, DIGEST]),
    "huge time": lines(["file", "a", 0o644, 1 << 80, 3, DIGEST]),
    "sizes that differ": lines(["file", "a", *FILE], ["file", "b", 0o644, 0, 4, DIGEST]),
    "digest as a path": lines(["file", "a", 0o644, 0, 3, "../../../../tmp/x"]),
    "short digest": lines(["file", "a", 0o644, 0, 3, "ab"]),
    "no JSON": b"hello\n",
    "no array": lines({"file": "a"}),
    "deep": b"[" * 100_000 + b"\n",
    "digits": b'["file", "a", 420, 0, ' + b"9" * 10_000 + b', "' + DIGEST.encode() + b'"]\n',
    "not text": lines(["file", 5, *FILE]),
    "empty line": b"\n\n",
    "carriage returns": b'["folder", "a"]\r["folder", "b"]\n',
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_it_is_refused(data) -> None:
    with pytest.raises(Refused):
        read(data)


def send(root: Path, place: Path, data: bytes, rest: bytes = b"", **changes: object) -> tuple[int, dict]:
    """Say all of it to a receiver, whatever it answers; gives its status and its last answer."""
    order = {"dispatch": 1, "root": str(root), "place": str(place), "replaces": False}
    order |= {"limit": 1 << 40, "patience_s": PATIENCE_S, "manifest": len(data)} | changes
    line = ThreadLine()
    pusher = threading.Thread(target=_push, args=(line, json.dumps(order).encode() + b"\n" + data + rest))
    pusher.start()
    said = line.receive_all()
    pusher.join(PATIENCE_S)
    return line.close(), answer(said)


def _push(line: ThreadLine, data: bytes) -> None:
    with contextlib.suppress(NodeLost):
        line.send(memoryview(data))
        line._near.shutdown(1)


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_receiver_writes_nothing_of_it(tmp_path, data) -> None:
    root = tmp_path / "deep" / "root"
    status, answer = send(root, root / "JOB1", data, b"abc" * 10)
    assert status == 1
    assert answer["refused"] is True
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    ("root", "place"),
    [
        ("{}/jobs", "{}/other"),
        ("{}/jobs", "{}/jobs/../other"),
        ("{}/jobs", "{}/jobs"),
        ("{}/jobs", "{}/jobs/.paddle/x"),
        ("{}/jobs", "{}/jobs/.paddle/runtime-1"),
        ("{}/jobs", "{}/jobs/.paddle/runtime-0123456789abcdef/x"),
        ("{}/jobs", "{}/jobs/a\nb"),
        ("root", "root/JOB1"),
        ("{}/jobs/..", "{}/jobs/../JOB1"),
    ],
)
def test_a_place_that_is_not_below_its_root_is_refused(tmp_path, root, place) -> None:
    status, answer = send(root.format(tmp_path), place.format(tmp_path), lines(["folder", "a"]))
    assert (status, answer["refused"]) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_a_root_in_which_a_link_leads_elsewhere_is_refused(tmp_path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root" / "JOB1").symlink_to("../elsewhere")
    root = tmp_path / "root"
    for place in (root / "JOB1", root / "JOB1" / "node-0"):
        status, answer = send(root, place, lines(["folder", "a"]))
        assert (status, answer["refused"]) == (1, True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("kind", ["a link", "open to all"])
def test_a_folder_for_dispatches_that_others_can_write_to_is_refused(tmp_path, kind) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "elsewhere").mkdir()
    if kind == "a link":
        (root / ".paddle").symlink_to("../elsewhere")
    else:
        (root / ".paddle").mkdir()
        (root / ".paddle").chmod(0o777)
    status, answer = send(root, root / "JOB1", lines(["folder", "a"]))
    assert (status, answer["refused"]) == (1, True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    "order",
    [
        b"GET / HTTP/1.1\n",
        b"x" * 200_000,
        b"[]\n",
        b'{"dispatch": 2}\n',
        b'{"dispatch": 1, "root": "/"}\n',
        b"[" * 60_000 + b"\n",
    ],
)
def test_what_is_no_order_is_refused(order) -> None:
    line = ThreadLine()
    _push(line, order)
    assert answer(line.receive_all())["refused"] is True
    assert line.close() == 1


def test_too_many_items_or_bytes_are_refused_before_they_are_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(manifest, "MOST_ITEMS", 10)
    with pytest.raises(Refused, match="at most 10 items"):
        read(lines(*(["folder", f"a{number}"] for number in range(11))))
    status, answer = send(tmp_path / "root", tmp_path / "root" / "JOB1", b"", manifest=1 << 40)
    assert (status, answer["refused"]) == (1, True)


def test_bytes_that_are_not_those_that_were_promised_are_refused(tmp_path) -> None:
    root = tmp_path / "root"
    status, answer = send(root, root / "JOB1", lines(["file", "a", *FILE]), b"abcdefgh")
    assert (status, answer["refused"]) == (1, True)
    assert not (root / "JOB1").exists()
    assert not any((root / ".paddle" / "objects").iterdir())


def test_more_than_the_disk_has_is_refused_before_it_is_sent(tmp_path) -> None:
    root = tmp_path / "root"
    status, answer = send(root, root / "JOB1", lines(["file", "a", 0o644, 0, 1 << 61, DIGEST]))
    assert status == 1
    assert answer["refused"] is False
    assert f"{1 << 61:,} bytes are to come" in answer["failed"]
    assert str(root) in answer["failed"]
    assert not (root / "JOB1").exists()


def test_a_launcher_that_falls_silent_is_not_waited_for_for_ever(tmp_path) -> None:
    root = tmp_path / "root"
    order = {"dispatch": 1, "root": str(root), "place": str(root / "JOB1"), "replaces": False, "limit": 0}
    line = ThreadLine()
    line._push(memoryview(json.dumps(order | {"patience_s": 0.05, "manifest": 100}).encode() + b"\n"))
    assert "nothing came for" in answer(line.receive_all())["failed"]
    assert line.close() == 1


TEXT = st.text(max_size=30) | st.sampled_from(["..", "a/b", "/", ".", "a", "../..", "a/../b"])
ROW = st.one_of(
    st.tuples(st.just("folder"), TEXT),
    st.tuples(st.just("link"), TEXT, TEXT),
    st.tuples(st.just("file"), TEXT, st.integers(), st.integers(), st.integers(), TEXT | st.just(DIGEST)),
    st.recursive(st.none() | st.integers() | TEXT, lambda inner: st.lists(inner, max_size=4), max_leaves=6),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ROW, max_size=6).map(lambda rows: lines(*rows)) | st.binary(max_size=200))
def test_whatever_is_not_refused_stays_below_and_reads_back(data) -> None:
    try:
        items = read(data)
    except Refused:
        return
    assert read(written(items)) == items
    for item in items:
        assert Path(os.path.normpath(Path("/w", item.path))).is_relative_to("/w")
        assert item.path == os.path.normpath(item.path)


PART = st.sampled_from(["a", "b", "c", "a-link", "b-link", "..", "."])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.lists(PART, min_size=1, max_size=3), st.lists(PART, max_size=5)), max_size=8))
def test_whatever_links_are_taken_none_leads_out_by_way_of_others(tmp_path_factory, links) -> None:
    items: dict[str, Item] = {}
    for folder in ("a", "a/b", "a/b/c", "b", "b/a"):
        items[folder] = Item("folder", folder)
    for path, target in links:
        name = "/".join(path) + "-link"
        folders = [["folder", known.path] for known in items.values() if known.kind == "folder"]
        with contextlib.suppress(Refused):
            items[name] = read(lines(*folders, ["link", name, "/".join(target)]))[-1]
    place = tmp_path_factory.mktemp("place") / "w"
    place.mkdir()
    for item in items.values():
        if item.kind == "folder":
            (place / item.path).mkdir()
    for item in items.values():
        if item.kind == "link":
            (place / item.path).symlink_to(item.target)
    for path in place.rglob("*"):
        assert Path(os.path.realpath(path)).is_relative_to(place)
    assert tree(place) is not None
