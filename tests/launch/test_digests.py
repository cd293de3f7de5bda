"""Digests of a package's files: read once, and taken from the cache for what was not written to since."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError, DeliveryStopped
from tests.waiting import until

LATER_S = 10


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for number in range(20):
        (tmp_path / f"f{number}").write_bytes(bytes([number]) * 1000)
    return sorted(tmp_path.iterdir())


def later() -> int:
    return time.time_ns() + LATER_S * 1_000_000_000


def never() -> bool:
    return False


def write(file: Path, data: bytes) -> None:
    """Over what it begins with, at another time than before: the time of files goes in steps."""
    before = file.stat().st_ctime_ns

    def is_later() -> bool:
        with file.open("r+b") as opened:
            opened.write(data)
        return file.stat().st_ctime_ns > before

    until(is_later, "another time")


def test_a_second_launch_hashes_nothing_anew_and_one_changed_file_alone(files, tmp_path) -> None:
    kept = tmp_path / "deep" / "digests.json"
    first = DigestCache(kept, later)
    digests = first.of_all(files, never)
    assert first.hashed == 20_000
    assert all(
        digest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() for path, digest in digests.items()
    )
    second = DigestCache(kept, later)
    assert second.of_all(files, never) == digests
    assert second.hashed == 0
    write(files[3], b"x" * 1000)
    third = DigestCache(kept, later)
    assert third.of_all(files, never)[files[3]].sha256 == hashlib.sha256(b"x" * 1000).hexdigest()
    assert third.hashed == 1000


def test_a_file_whose_time_was_set_back_is_hashed_again(files, tmp_path) -> None:
    kept = tmp_path / "digests.json"
    status = files[0].stat()
    DigestCache(kept, later).of_all(files, never)
    write(files[0], b"other")
    os.utime(files[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    again = DigestCache(kept, later)
    again.of_all(files, never)
    assert again.hashed == 1000


def test_what_changed_only_now_is_not_kept(files, tmp_path) -> None:
    kept = tmp_path / "digests.json"
    changed = min(path.stat().st_ctime_ns for path in files)  # they take a while to make on a busy machine
    for _ in range(2):
        cache = DigestCache(kept, lambda: changed + 1)
        cache.of_all(files, never)
        assert cache.hashed == 20_000


@pytest.mark.parametrize("damage", [b"", b"[1]", b'{"x": 1}', b'{"x": [1]}', b"\xff", b"[" * 100_000])
def test_a_damaged_cache_costs_time_only(files, tmp_path, damage) -> None:
    kept = tmp_path / "digests.json"
    kept.write_bytes(damage)
    cache = DigestCache(kept, later)
    assert len(cache.of_all(files, never)) == 20
    assert cache.hashed == 20_000


def test_where_nothing_can_be_kept_it_goes_on_without(files) -> None:
    cache = DigestCache(Path("/proc/nowhere/digests"), later)
    assert len(cache.of_all(files, never)) == 20


def test_what_cannot_be_read_is_named(files) -> None:
    files[0].unlink()
    with pytest.raises(DeliveryError, match=f"cannot read {files[0]}"):
        DigestCache(files[0].parent / "digests", later).of_all(files, never)


def test_a_launch_that_is_stopped_reads_no_further(files, tmp_path) -> None:
    with pytest.raises(DeliveryStopped):
        DigestCache(tmp_path / "digests", later).of_all(files, lambda: True)


def test_packages_share_a_cache(files, tmp_path) -> None:
    kept = tmp_path / "digests"
    DigestCache(kept, later).of_all(files[:10], never)
    DigestCache(kept, later).of_all(files[10:], never)
    again = DigestCache(kept, later)
    again.of_all(files, never)
    assert again.hashed == 0


def test_others_do_not_see_what_was_hashed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    cache = DigestCache(tmp_path / "cache" / "digests", clock=lambda: time.time_ns() + 10_000_000_000)
    cache.of_all([tmp_path / "file"], lambda: False)
    assert (tmp_path / "cache" / "digests").stat().st_mode & 0o777 == 0o600
