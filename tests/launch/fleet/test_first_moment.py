"""Ctrl+C while `fleetrun` still loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PRESSED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # wherever these tests run

class Pressed:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "paddle._launch.fleet.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed)
"""
AS_FLEETRUN = """
sys.argv[:] = ["/bin/fleetrun", "train.py"]
from paddle.distributed.launch import main
sys.exit(main())
"""
AS_A_MODULE = """
import runpy
sys.argv[:] = ["launch", "train.py"]
runpy.run_module("NAME", run_name="__main__", alter_sys=True)
"""


NAMES = ("paddle.distributed.launch", "paddle.distributed.fleet.launch", "paddle.distributed.launch_ps")


@pytest.mark.parametrize("typed", [AS_FLEETRUN, *(AS_A_MODULE.replace("NAME", name) for name in NAMES)])
def test_it_is_answered_as_later_without_a_traceback(typed: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PRESSED + typed],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "runtime")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "stopped by SIGINT" in done.stderr
