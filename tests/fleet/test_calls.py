"""Calls that a program has in its text, which nobody runs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from paddle._fleet import calls, loading

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
