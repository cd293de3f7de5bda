"""Compiled code of an image, where processes of a pod find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.kubernetes.inside.kernels import bring
from tests.fresh import ROOT

USES_ONE = """
from paddle._engine.kernels.alignments import _log
_log(2.0)
print(sum(_log.stats.cache_hits.values()), "taken", sum(_log.stats.cache_misses.values()), "compiled")
"""


def told(image: Path, place: Path) -> list[str]:
    said: list[str] = []
    bring({"PADDLE_KERNELS": str(image), "NUMBA_CACHE_DIR": str(place)}, said.append)
    return said


@pytest.fixture
def image(tmp_path: Path) -> Path:
    folder = tmp_path / "image"
    (folder / "kernels-1").mkdir(parents=True)
    (folder / "kernels-1" / "one.nbi").write_bytes(b"code")
    return folder


def test_what_an_image_has_is_where_processes_look_for_it(image: Path, tmp_path: Path) -> None:
    assert told(image, tmp_path / "kernels") == []
    assert (tmp_path / "kernels" / "kernels-1" / "one.nbi").read_bytes() == b"code"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image", "kernels"]


def test_what_is_there_already_stays(image: Path, tmp_path: Path) -> None:
    place = tmp_path / "kernels"
    place.mkdir()
    assert told(image, place) == []
    assert not list(place.iterdir())


def test_what_a_container_left_half_copied_is_copied_anew(image: Path, tmp_path: Path) -> None:
    (tmp_path / "kernels.part" / "old").mkdir(parents=True)
    assert told(image, tmp_path / "kernels") == []
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["kernels-1"]


def test_an_image_without_any_is_told_of_and_none_is_asked_of_others(tmp_path: Path) -> None:
    (said,) = told(tmp_path / "none", tmp_path / "kernels")
    assert "none could not be copied" in said
    assert "compiled here instead" in said
    said_of_none: list[str] = []
    bring({"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}, said_of_none.append)
    assert not said_of_none
    assert not (tmp_path / "kernels").exists()


def test_processes_take_what_was_brought_and_do_not_compile_it(tmp_path: Path) -> None:
    def uses(place: Path) -> str:
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "runtime"), "NUMBA_CACHE_DIR": str(place)}
        command = (sys.executable, "-c", USES_ONE)
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout

    assert uses(tmp_path / "image") == "0 taken 1 compiled\n"
    assert told(tmp_path / "image", tmp_path / "kernels") == []
    assert uses(tmp_path / "kernels") == "1 taken 0 compiled\n"
