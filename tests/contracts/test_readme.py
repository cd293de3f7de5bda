"""README.md is true: its program runs, its commands are understood, and what it names is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.arguments import parse_arguments
from paddle._launch.environ import read_init
from paddle._launch.flags import BY_NAME, FLEET_FLAGS, SNAPSHOT_FLAGS
from paddle._launch.fleet import call
from paddle._launch.settings import settle

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
PROGRAMS = [block for block in BLOCKS if "import" in block]
PROSE = re.sub(r"^```.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line, comments=True) for line in re.findall(r"^    (\S.*)$", PROSE, re.MULTILINE)]
TOLD = (
    "print('cost', trainer.test(paddle.batch(paddle.dataset.uci_housing.test(), 2)).cost)\n",
    *["print('cost', cost.item())\n"] * 2,
)
CASES = [
    pytest.param(*case, id=name)
    for *case, name in zip(PROGRAMS, TOLD, ("v2", "fluid", "fleet"), strict=False)
]
OF_COMMAND = {"paddle.py": ("launcher", "trainer"), "pserver": ("pserver",), "master": ("master",)}


def test_there_is_something_to_hold_it_to() -> None:
    assert len(PROGRAMS) == len(TOLD)
    assert {"sh", ".", "python", "paddle", "export", "fab"} == {words[0] for words in COMMANDS}


@pytest.mark.parametrize(("program", "told"), CASES)
def test_a_program_of_each_generation_trains(program: str, told: str, tmp_path: Path) -> None:
    rows = (" ".join(f"{(row * 7 + column) % 11}.5" for column in range(14)) for row in range(20))
    (tmp_path / "uci_housing").mkdir()
    (tmp_path / "uci_housing" / "housing.data").write_text("\n".join(rows) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", program + told],
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(ROOT / "runtime"),
            "PADDLE_DATASET_HOME": str(tmp_path),
            "PADDLE_DATASET_LOCAL": "1",
        },
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"cost \d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("words", [words for words in COMMANDS if words[0] != "export"], ids=" ".join)
def test_a_command_is_understood(words: list[str]) -> None:
    if words[0] in ("sh", "python"):
        script = words[-1] if words[1] == "-m" else words[1]
        assert (ROOT / script).is_file() or (ROOT / "workspace_template" / script).is_file()
    if words[1] == "-m":
        assert call.read(words[3:]) is not None
    if users := OF_COMMAND.get(words[1]):
        assert parse_arguments(words[2:], *users, command=words[1]).notices == ()


def test_settings_that_it_shows_are_read(tmp_path: Path) -> None:
    (settings,) = [block for block in BLOCKS if block not in PROGRAMS]
    (tmp_path / "conf.py").write_text(settings)
    shown = settle(tmp_path / "conf.py", {}, {})
    assert [host.user for host in shown.hosts] == ["root", "root"]


def test_the_variables_that_it_sets_are_those_of_a_trainer() -> None:
    settings = [word for words in COMMANDS if words[0] == "export" for word in words[1:]]
    flags = read_init({}, dict(setting.split("=") for setting in settings))
    assert len(flags.given) == len(settings)
    assert flags.notices == ()


def test_every_flag_that_it_names_exists() -> None:
    named = set(re.findall(r"--(\w+)", TEXT)) - {"help"}
    assert len(named) > 10
    assert named <= BY_NAME.keys() | {flag.name for flag in SNAPSHOT_FLAGS + FLEET_FLAGS}


def test_every_file_that_it_links_or_names_in_its_table_exists() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    cells = re.findall(r"^\| (`.+?) \|", TEXT, re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(linked) >= 4 and len(named) >= 8
    assert [name for name in (*linked, *named) if not (ROOT / name).exists()] == []
