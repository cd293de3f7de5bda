"""docs/engine.md is true: its program has the plan that it shows, and is profiled as it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

from paddle._launch.flags import BY_NAME
from tests.plain.children import watched

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "engine.md").read_text()
TRAINS, PROFILES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
PLAN, TABLE = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def run(folder: Path, *arguments: str) -> str:
    environ = watched({"PYTHONPATH": str(ROOT / "runtime")})
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_plan_is_the_one_that_is_shown(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    found = run(tmp_path, "-m", "paddle", "dump_plan", "train.py")
    assert found == PLAN, f"put this into docs/engine.md, if it is as it should be:\n{found}"


def test_the_program_is_profiled_as_it_says(tmp_path: Path) -> None:
    told = run(tmp_path, "-c", TRAINS + PROFILES).splitlines()
    assert told[0].startswith("16 runs, ")
    shown = TABLE.splitlines()
    assert told[1].split() == shown[1].split()
    assert _counted(told) == _counted(shown)
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def _counted(table: list[str]) -> dict[str, str]:
    """How often each was called."""
    return {line.split("  ")[0]: line.split("  ", 1)[1].split()[0] for line in table[2:]}


def test_its_flag_is_there() -> None:
    assert all(name in BY_NAME for name in re.findall(r"--(\w+)", PAGE))
