"""docs/fluid.md, fleet.md, porting.md and environment.md are true.

Programs run, tables are the code's, flags and variables are there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.environ import OF_SNAPSHOTS
from paddle._launch.flags import BY_CONF_NAME, BY_NAME, FLAGS, FLEET_FLAGS
from paddle._launch.fleet import call
from tests.plain.children import watched

from .drawn import DRAWN, PAGES, REGION, ROOT, drawn_again

DOCS = ROOT / "docs"
WITH_PROGRAMS = ("fluid", "fleet", "porting")
FAMILIES = ("FLAGS", "GLOG", "MKL", "MV2", "OMP", "OMPI", "OPENBLAS", "PADDLE", "PMI", "SLURM", "XDG")
VARIABLE = re.compile(rf"(?:{'|'.join(FAMILIES)})_\w+[^_\W]|[A-Z]+(?:_[A-Z]+)*")
# Words in capitals that are read from an environment, and begin like no other.
OTHERS = {
    "JOB_COMPLETION_INDEX",
    "MPI_LOCALNRANKS",
    *("CPU_NUM", "DISABLE_PLOT", "NO_COLOR", "POD_IP", "SPLIT_COUNT", "TRAINERS", "TRAINER_PORTS_NUM"),
    "TRAINING_ROLE",
}


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_tables_are_as_the_code_has_them(name: str) -> None:
    assert page(name) == drawn_again(page(name)), (
        f"docs/{name}.md tells of what has changed: python -m tests.contracts.drawn writes its tables again"
    )


def test_every_table_is_on_a_page() -> None:
    found = [name for each in PAGES for name, _ in REGION.findall(page(each))]
    assert sorted(found) == sorted(DRAWN)


@pytest.mark.parametrize("name", WITH_PROGRAMS)
def test_programs_of_a_page_run_one_after_another(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
    assert blocks
    (tmp_path / "train.py").write_text("".join(blocks))
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env=watched({"PYTHONPATH": str(ROOT / "runtime")}),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", (*WITH_PROGRAMS, "environment"))
def test_flags_that_a_page_names_exist(name: str) -> None:
    known = BY_NAME.keys() | {flag.name for flag in FLEET_FLAGS} | {flag.also for flag in FLEET_FLAGS}
    assert set(re.findall(r"--(\w+)", page(name))) <= known


def test_commands_of_fleetrun_are_understood() -> None:
    commands = [shlex.split(line, comments=True) for line in re.findall(r"^    (\S.*)$", page("fleet"), re.M)]
    marks = ("fleetrun", "paddle.distributed.launch")
    asked = [words[place + 1 :] for words in commands for place, word in enumerate(words) if word in marks]
    assert len(asked) == 5
    for words in asked:
        found = call.read(words)
        assert found is not None and found.script == "train.py"


def read_by_the_code() -> set[str]:
    """Texts of the package that are whole names of variables, but for those of conf.py alone."""
    found = set()
    for path in (ROOT / "runtime" / "paddle").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(word for word in node.value.split() if node.value == word or word in OF_FLAGS)
    named = {
        word
        for word in found
        if VARIABLE.fullmatch(word) and (word.partition("_")[0] in FAMILIES or word in OTHERS)
    }
    return {name for name in named if name not in BY_CONF_NAME or name in {*OF_FLAGS, *OF_SNAPSHOTS.values()}}


OF_FLAGS = {name for flag in (*FLAGS, *FLEET_FLAGS) for name in flag.env}


def test_every_variable_that_is_read_is_told_and_no_other() -> None:
    text = page("environment")
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    drawn = [found[0] for found in REGION.finditer(text)]
    words = {word for part in (*cells, *drawn) for word in re.findall(r"`(\w+)`", part)}
    own = {f"PADDLE_INIT_{flag.name.upper()}" for flag in FLAGS}
    told = {word for word in words if VARIABLE.fullmatch(word)} - own
    assert told == read_by_the_code() - own
