"""What nodes lack, as one stream: read once, of bounded memory, and as long as was said."""

import random
import threading
from pathlib import Path

import pytest

from paddle._launch.delta import CHUNK, Delta
from tests.waiting import PATIENCE_S


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    sizes = [10, 0, CHUNK - 10, 3 * CHUNK + 5, 1, 7]
    for number, size in enumerate(sizes):
        (tmp_path / f"f{number}").write_bytes(random.Random(number).randbytes(size))
    return sorted(tmp_path.iterdir())


def whole(delta: Delta) -> bytes:
    return b"".join(delta.chunk(number) for number in range(len(delta)))


def test_it_is_the_files_one_after_another(files) -> None:
    delta = Delta([(path, 0, path.stat().st_size) for path in files])
    assert whole(delta) == b"".join(path.read_bytes() for path in files)
    assert delta.size == len(whole(delta))


def test_it_begins_where_a_node_says(files) -> None:
    spans = [(files[3], CHUNK + 3, 3 * CHUNK + 5), (files[5], 7, 7), (files[0], 9, 10)]
    assert whole(Delta(spans)) == files[3].read_bytes()[CHUNK + 3 :] + files[0].read_bytes()[9:]


def test_of_nothing_it_is_empty() -> None:
    assert len(Delta([])) == 0


def test_a_file_that_was_cut_short_or_is_gone_is_filled_up(files) -> None:
    delta = Delta([(files[0], 0, 10), (files[5], 0, 7), (files[4], 0, 1)])
    files[0].write_bytes(b"short")
    files[5].unlink()
    assert whole(delta) == b"short" + bytes(5) + bytes(7) + files[4].read_bytes()


def test_at_one_pace_it_is_read_once_for_all(files) -> None:
    delta = Delta([(path, 0, path.stat().st_size) for path in files])
    barrier, got = threading.Barrier(8), []

    def read() -> None:
        data = b""
        for number in range(len(delta)):
            barrier.wait(PATIENCE_S)
            data += delta.chunk(number)
        got.append(data)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(set(got)) == 1
    assert len(got) == 8
    assert delta.reads == delta.size


def test_who_falls_behind_reads_for_itself_and_little_is_held(tmp_path) -> None:
    path = tmp_path / "large"
    path.write_bytes(bytes(40 * CHUNK))
    delta = Delta([(path, 0, 40 * CHUNK)])
    for number in range(40):
        delta.chunk(number)
    assert len(delta._chunks) == 16
    assert delta.chunk(0) == bytes(CHUNK)
    assert delta.reads == 41 * CHUNK
    assert len(delta._reading) <= 17
