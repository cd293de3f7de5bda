"""A package comes to nodes: whole or not at all, wherever it is cut, and no byte of it twice."""

import fcntl
import os
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.dispatch import Dispatch
from paddle._launch.errors import DeliveryError, DeliveryRefused, DeliveryStopped
from tests.launch.receiving import ProcessLine, ThreadLine, dispatch_of, tree
from tests.waiting import PATIENCE_S


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make(tmp_path / "package")


def make(package: Path) -> Path:
    (package / "lib").mkdir(parents=True)
    (package / "empty").mkdir()
    (package / "train.py").write_text("print('train')\n")
    (package / "lib" / "words.txt").write_text("to be or not to be")
    (package / "lib" / "same.txt").write_text("to be or not to be")
    (package / "lib" / "none").write_text("")
    (package / "lib" / "link.txt").symlink_to("words.txt")
    (package / "lib" / "up").symlink_to("../train.py")
    (package / "tool.sh").write_text("#!/bin/sh\n")
    (package / "tool.sh").chmod(0o755)
    return package


def deliver(dispatch: Dispatch, place: Path, line=None, node: int = 0, **options) -> int:
    line = line or ThreadLine()
    try:
        return dispatch.deliver(line, node, place, **options)
    finally:
        line.close()


def stored(root: Path) -> int:
    return sum(path.stat().st_size for path in (root / ".paddle" / "objects").iterdir())


def test_a_package_arrives_as_it_is(package, tmp_path) -> None:
    root = tmp_path / "root"
    sent = deliver(dispatch_of(package, root), root / "JOB1", ProcessLine())
    assert tree(root / "JOB1") == tree(package)
    assert sent == len("print('train')\n") + len("to be or not to be") + len("#!/bin/sh\n")
    assert list((root / ".paddle" / "staging").iterdir()) == []


def test_what_is_there_is_not_sent_again_and_one_changed_file_is(package, tmp_path) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "JOB1")
    assert deliver(dispatch_of(package, root), root / "JOB2") == 0
    (package / "train.py").write_text("new")
    assert deliver(dispatch_of(package, root), root / "JOB3") == 3
    assert tree(root / "JOB3") == tree(package)


def test_a_runtime_that_is_sent_shares_the_store_with_workspaces(package, tmp_path) -> None:
    root = tmp_path / "root"
    place = root / ".paddle" / "runtime-0123456789abcdef"
    deliver(dispatch_of(package, root), place)
    assert tree(place) == tree(package)
    assert deliver(dispatch_of(package, root), root / "JOB1") == 0
    assert not (root / ".paddle" / ".paddle").exists()


def bytes_of_one(package: Path, root: Path, place: Path, **options) -> int:
    line = ThreadLine()
    deliver(dispatch_of(package, root), place, line, **options)
    return line.sent


def test_cut_at_any_byte_a_new_workspace_is_there_whole_or_not_at_all_and_no_byte_is_sent_twice(
    package, tmp_path
) -> None:
    total = bytes_of_one(package, tmp_path / "count", tmp_path / "count" / "JOB1")
    whole = tree(package)
    payload = stored(tmp_path / "count")
    for cut in (*range(0, total - payload, 17), *range(total - payload, total)):
        root = tmp_path / f"{cut:05}"  # as long as "count": the order names it
        line = ThreadLine(lives=cut)
        with pytest.raises(DeliveryError):
            deliver(dispatch_of(package, root), root / "JOB1", line)
        assert tree(root / "JOB1") is None
        arrived = max(0, cut - (total - payload))
        assert deliver(dispatch_of(package, root), root / "JOB1") == payload - arrived
        assert tree(root / "JOB1") == whole
        assert list((root / ".paddle" / "staging").iterdir()) == []


def test_cut_at_any_byte_a_workspace_that_is_replaced_is_wholly_old_or_wholly_new(package, tmp_path) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "W")
    old = tree(root / "W")
    (package / "train.py").write_text("print('something else')\n")
    (package / "tool.sh").unlink()
    (package / "tool.sh").symlink_to("train.py")
    total = bytes_of_one(package, tmp_path / "root2", tmp_path / "root2" / "W")
    for cut in range(0, total, 3):
        line = ThreadLine(lives=cut)
        try:
            deliver(dispatch_of(package, root), root / "W", line, replaces=True)
        except DeliveryError:
            assert tree(root / "W") == old
        else:
            break
    else:
        deliver(dispatch_of(package, root), root / "W", replaces=True)
    assert tree(root / "W") == tree(package)


def test_a_large_file_goes_on_where_it_was_cut(package, tmp_path) -> None:
    root = tmp_path / "root"
    size = 5_000_000
    (package / "large").write_bytes(random.Random(1).randbytes(size))
    (package / "lib").joinpath("large").write_bytes(random.Random(2).randbytes(size))
    with pytest.raises(DeliveryError):
        deliver(dispatch_of(package, root), root / "JOB1", ThreadLine(lives=7_000_000))
    left = deliver(dispatch_of(package, root), root / "JOB1")
    assert 3_000_000 < left < 3_100_000
    assert tree(root / "JOB1") == tree(package)


def test_what_began_as_another_file_is_found_out_and_sent_whole_the_next_time(package, tmp_path) -> None:
    root = tmp_path / "root"
    dispatch = dispatch_of(package, root)
    dispatch.prepare()
    parts = root / ".paddle" / "parts"
    parts.mkdir(parents=True)
    (root / ".paddle").chmod(0o700)
    for item in dispatch._items.values():
        if item.path == "train.py":
            (parts / item.digest).write_text("wrong")
    with pytest.raises(DeliveryRefused, match=r"train\.py changed while it was sent"):
        deliver(dispatch, root / "JOB1")
    assert tree(root / "JOB1") is None
    deliver(dispatch_of(package, root), root / "JOB1")
    assert tree(root / "JOB1") == tree(package)


def test_a_file_that_changes_while_it_is_sent_is_named_and_nothing_is_in_place(package, tmp_path) -> None:
    root = tmp_path / "root"
    dispatch = dispatch_of(package, root)
    dispatch.prepare()
    (package / "lib" / "words.txt").write_text("to be")
    with pytest.raises(DeliveryRefused, match=r"lib/(same|words)\.txt"):
        (package / "lib" / "same.txt").write_text("not to")
        deliver(dispatch, root / "JOB1")
    assert tree(root / "JOB1") is None


@pytest.mark.parametrize("how", ["write", "append", "keep the time", "replace"])
def test_a_job_may_write_to_its_files_and_no_other_job_sees_that(package, tmp_path, how) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "JOB1")
    deliver(dispatch_of(package, root), root / "JOB2")
    path = root / "JOB1" / "lib" / "words.txt"
    status = path.stat()
    match how:
        case "write" | "keep the time":
            with path.open("r+b") as file:
                file.write(b"TO BE OR NOT TO BE")
            if how == "keep the time":
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        case "append":
            with path.open("ab") as file:
                file.write(b", that is the question")
        case "replace":
            (root / "JOB1" / "new").write_text("new")
            (root / "JOB1" / "new").rename(path)
    assert tree(root / "JOB2") == tree(package)
    deliver(dispatch_of(package, root), root / "JOB3")
    assert tree(root / "JOB3") == tree(package)


def test_files_of_one_workspace_are_not_those_of_another(package, tmp_path) -> None:
    root = tmp_path / "root"
    for job in ("JOB1", "JOB2", "JOB3"):
        deliver(dispatch_of(package, root), root / job)
    files = [path for path in root.glob("JOB*/**/*") if path.is_file() and not path.is_symlink()]
    assert len({path.stat().st_ino for path in files}) == len(files) == 15


def test_without_notes_all_is_hashed_again_and_nothing_sent(package, tmp_path) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "JOB1")
    for number, damaged in enumerate(("", "[", '{"x": 1}', "[1]")):
        (root / ".paddle" / "notes").write_text(damaged)
        assert deliver(dispatch_of(package, root), root / f"JOB-{number}") == 0
        assert tree(root / f"JOB-{number}") == tree(package)


def test_what_is_damaged_in_the_store_is_sent_again(package, tmp_path) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "JOB1")
    for path in (root / ".paddle" / "objects").iterdir():
        path.unlink()
        path.write_text("damaged")
    assert deliver(dispatch_of(package, root), root / "JOB2") == 43
    assert tree(root / "JOB2") == tree(package)


def test_beyond_the_limit_what_was_not_used_for_longest_goes(package, tmp_path) -> None:
    root = tmp_path / "root"
    for number in range(6):
        (package / "data").write_bytes(bytes([number]) * 1000)
        dispatch = dispatch_of(package, root, limit=2500)
        deliver(dispatch, root / f"JOB{number}", ThreadLine(now=1e9 + number))
        for path in (root / f"JOB{number}").rglob("data"):
            path.unlink()
    sizes = sorted(path.stat().st_size for path in (root / ".paddle" / "objects").iterdir())
    assert sizes == [10, 15, 18, 1000, 1000, 1000]
    kept = {
        path.read_bytes()[:1]
        for path in (root / ".paddle" / "objects").iterdir()
        if path.stat().st_size == 1000
    }
    assert kept == {b"\3", b"\4", b"\5"}


def test_what_jobs_left_at_the_top_goes_over_into_a_new_workspace_and_what_is_gone_does_not(
    package, tmp_path
) -> None:
    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "W")
    (root / "W" / "output" / "pass-00000").mkdir(parents=True)
    (root / "W" / "output" / "pass-00000" / "params.tar").write_text("model")
    (package / "tool.sh").unlink()
    deliver(dispatch_of(package, root), root / "W", replaces=True)
    assert (root / "W" / "output" / "pass-00000" / "params.tar").read_text() == "model"
    assert not (root / "W" / "tool.sh").exists()


def test_a_place_that_is_taken_came_by_no_dispatch_or_is_in_use_is_left_alone(package, tmp_path) -> None:
    root = tmp_path / "root"
    (root / "W").mkdir(parents=True)
    (root / "W" / "mine").write_text("mine")
    with pytest.raises(DeliveryRefused, match="exists already"):
        deliver(dispatch_of(package, root), root / "W")
    with pytest.raises(DeliveryRefused, match="came by no dispatch"):
        deliver(dispatch_of(package, root), root / "W", replaces=True)
    deliver(dispatch_of(package, root), root / "V")
    (root / "V" / "log").mkdir()
    with (root / "V" / "log" / "agent.log").open("w") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        with pytest.raises(DeliveryRefused, match="in use by another job"):
            deliver(dispatch_of(package, root), root / "V", replaces=True)
    assert tree(root / "W") == {"mine": tree(root / "W")["mine"]}


def test_nodes_are_served_at_once_and_files_are_read_once_for_all(package, tmp_path) -> None:
    (package / "large").write_bytes(random.Random(1).randbytes(5_000_000))
    root, cache = tmp_path / "root", tmp_path / "digests"
    dispatch = dispatch_of(package, root, cache, nodes=4)
    lines = [ProcessLine() for _ in range(4)]
    # Four nodes have a disk each: here, each its own ROOT_DIR. All answers stay in step by the barrier.
    barrier = threading.Barrier(4)
    seen: list[tuple[int, int]] = []

    def serve(node: int) -> None:
        own = Dispatch.__new__(Dispatch)
        own.__dict__.update(dispatch.__dict__ | {"_root": tmp_path / f"root-{node}"})
        own.deliver(lines[node], node, tmp_path / f"root-{node}" / "JOB1", tell=lambda *told: tell(told))

    def tell(told: tuple[int, int]) -> None:
        seen.append(told)
        if told[0] == 0:
            barrier.wait(PATIENCE_S)

    dispatch.prepare()
    threads = [threading.Thread(target=serve, args=(node,)) for node in range(4)]
    for thread in threads:
        thread.start()
    for thread, line in zip(threads, lines, strict=True):
        thread.join(PATIENCE_S)
        line.close()
    (delta,) = dispatch._deltas.values()
    assert delta.reads == delta.size
    assert seen.count((delta.size, delta.size)) == 4
    for node in range(4):
        assert tree(tmp_path / f"root-{node}" / "JOB1") == tree(package)


def test_each_node_is_sent_its_own_shards(package, tmp_path) -> None:
    (package / "train_data_dir" / "train").mkdir(parents=True)
    for number in range(5):
        (package / "train_data_dir" / "train" / f"train.txt-{number:05}").write_text(str(number))
    (package / "train_data_dir" / "all.txt").write_text("all")
    (package / "lib" / "x-00001").write_text("x")
    root = tmp_path / "root"
    dispatch = dispatch_of(package, root, nodes=2, shard_data="train_data_dir")
    for node in range(2):
        deliver(dispatch, root / f"node-{node}", node=node)
    names = [
        sorted(path.name for path in (root / f"node-{node}" / "train_data_dir").rglob("*.*"))
        for node in range(2)
    ]
    assert names[0] == ["all.txt", "train.txt-00000", "train.txt-00002", "train.txt-00004"]
    assert names[1] == ["all.txt", "train.txt-00001", "train.txt-00003"]
    assert all((root / f"node-{node}" / "lib" / "x-00001").exists() for node in range(2))


def test_a_launch_that_is_stopped_leaves_no_workspace(package, tmp_path) -> None:
    root = tmp_path / "root"
    with pytest.raises(DeliveryStopped):
        deliver(dispatch_of(package, root), root / "JOB1", is_stopped=lambda: True)
    assert tree(root / "JOB1") is None


NAMES = st.text(
    st.characters(blacklist_characters="/\0\n", blacklist_categories=("Cs",)), min_size=1, max_size=20
)


@settings(max_examples=40)
@given(
    files=st.dictionaries(
        NAMES.filter(lambda name: name not in (".", "..")), st.binary(max_size=200), max_size=8
    ),
    cuts=st.lists(st.integers(0, 3000), max_size=4),
)
def test_whatever_a_package_holds_and_however_often_it_is_cut_it_arrives(
    tmp_path_factory, files, cuts
) -> None:
    base = tmp_path_factory.mktemp("any")
    package, root = base / "package", base / "root"
    package.mkdir()
    (package / "train.py").write_text("")
    for name, content in files.items():
        if len(os.fsencode(name)) <= 255 and name not in ("paddle", "paddle.py", "train.py"):
            (package / name).write_bytes(content)
    total = 0
    for cut in [*cuts, None]:
        line = ThreadLine(lives=cut)
        try:
            total += deliver(dispatch_of(package, root), root / "JOB1", line)
        except DeliveryError:
            assert cut is not None
            assert tree(root / "JOB1") is None
        else:
            break
    sent = dispatch_of(package, root)
    sent.prepare()
    expected = {item.path for item in sent._items.values()}
    assert set(tree(root / "JOB1")) == expected
