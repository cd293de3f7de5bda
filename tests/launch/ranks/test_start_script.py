"""start_mpi_train.sh by itself: what it says where it cannot begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.fresh import ROOT

SCRIPT = ROOT / "cluster" / "openmpi" / "start_mpi_train.sh"


def started(folder: Path, python: str | Path, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": "/usr/bin:/bin", "PYTHON": str(python), **environ}
    return subprocess.run([SCRIPT, *argv], cwd=folder, env=own, capture_output=True, text=True)


def test_a_python_that_is_not_there_is_named_with_its_machine(tmp_path: Path) -> None:
    done = started(tmp_path, tmp_path / "python9")
    assert done.returncode == 2
    assert f"{tmp_path}/python9 is no Python of 3.11 or newer. Name one: mpirun -x PYTHON=" in done.stderr


def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'raise SystemExit(True)'\n")
    old.chmod(0o755)
    done = started(tmp_path, old)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{old} is no Python of 3.11 or newer" in done.stderr


def test_a_python_without_the_packages_is_named_in_one_paragraph(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise ModuleNotFoundError(name='msgspec')\n")
    done = started(tmp_path, sys.executable, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "lacks the package msgspec. Install this project for it on all machines" in done.stderr
    assert "Traceback" not in done.stderr


def test_its_help_has_the_flags_of_a_rank(tmp_path: Path) -> None:
    done = started(tmp_path, sys.executable, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--rally_timeout" in done.stdout


def test_without_an_engine_it_says_how_to_start_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    done = started(tmp_path, sys.executable)
    assert done.returncode == 2
    assert "paddle rank ?: nothing says which rank this is" in done.stderr
