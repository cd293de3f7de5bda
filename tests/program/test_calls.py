"""Calls that a program has in its text, which nobody runs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from paddle._fleet import loading
from paddle._program import calls

LOADS = "def begin(fleet, folder):\n    fleet.init_worker()\n    fleet.load_model(folder, 0)\n"


@pytest.fixture(autouse=True)
def _program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A main file that calls nothing."""
    main = ModuleType("__main__")
    main.__file__ = str(tmp_path / "train.py")
    (tmp_path / "train.py").write_text("import own\n")
    monkeypatch.setattr(sys, "modules", {"__main__": main})


def imported(name: str, text: str) -> None:
    folder = Path(str(sys.modules["__main__"].__file__)).parent
    module = ModuleType(name)
    module.__file__ = str(folder / f"{name.rpartition('.')[2]}.py")
    Path(module.__file__).write_text(text)
    sys.modules[name] = module


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("own", LOADS, True),
        ("own.deeper", "from paddle.distributed.fleet import load_one_table\nload_one_table(0, 'f')\n", True),
        ("own", "import keras\nkeras.models.load_model('f')\n", False),
        ("own", "# fleet.load_model(folder)\n", False),
        ("own", f"{LOADS}what is no Python", False),
        ("paddle.own", LOADS, False),
    ],
)
def test_a_module_that_is_imported_loads_for_the_program(name: str, text: str, is_one: bool) -> None:
    assert not loading.loads_later()
    imported(name, text)
    assert loading.loads_later() == is_one


def test_what_main_calls_first_is_said_by_its_line() -> None:
    main = Path(str(sys.modules["__main__"].__file__))
    main.write_text("fleet.init_server()\nif x:\n    fleet.init_server('f')\nfleet.init_server('g')\n")
    assert calls.in_main("init_server") == f"{main}:1"
    assert calls.in_main("init_server", is_told=True) == f"{main}:3"
    assert calls.in_main("init_worker") is None


def test_a_main_that_nobody_can_read_has_none(tmp_path: Path) -> None:
    sys.modules["__main__"].__file__ = str(tmp_path / "gone.py")
    assert calls.in_main("init_server") is None
    assert not loading.loads_later()


BRANCHES = """
def serve():
    {0}
    exe.run(transpiler.get_pserver_program(endpoint))

if role == "PSERVER":
    serve()
else:
    {1}
    exe.run(transpiler.get_trainer_program())
"""
FLEET = """
if fleet.is_server():
    fleet.init_server()
    {0}
    fleet.run_server()
    sys.exit()
{1}
fleet.init_worker()
"""


@pytest.mark.parametrize(("program", "line"), [(BRANCHES, 3), (FLEET, 4)])
def test_what_servers_alone_load_is_said_by_its_line(program: str, line: int) -> None:
    main = Path(str(sys.modules["__main__"].__file__))
    load = "fluid.io.load_persistables(exe, folder)"
    for ours, theirs, found in (
        (load, "pass", f"{main}:{line}"),
        (load, load, None),
        ("pass", load, None),
        ("pass", "pass", None),
    ):
        main.write_text(program.format(ours, theirs))
        assert calls.loaded_by_servers() == found


@pytest.mark.parametrize(
    "program",
    [
        """
def main():
    fluid.io.load_persistables(exe, "pretrained")
    if fleet.is_server():
        fleet.run_server()
    else:
        train()
def train():
    fleet.init_worker()
""",
        """
class Main:
    def run(self):
        fluid.io.load_params(self.exe, "pretrained")
        if fleet.is_server():
            self.run_server()
        else:
            self.run_worker()
    def run_server(self):
        fleet.run_server()
    def run_worker(self):
        fleet.init_worker()
""",
        """
if role == "PSERVER":
    fluid.io.load_persistables(exe, "saved", t.get_pserver_program(endpoint))
else:
    fluid.load(main, "saved/model")
    exe.run(t.get_trainer_program())
""",
    ],
    ids=["a function of all", "a class", "trainers load in another way"],
)
def test_what_others_load_too_is_nobodys_alone(program: str) -> None:
    Path(str(sys.modules["__main__"].__file__)).write_text(program)
    assert calls.loaded_by_servers() is None
