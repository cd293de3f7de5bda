"""Of several processes that collect into a folder one does at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from paddle._launch.turn import Turn
from tests.fresh import ROOT
from tests.waiting import PATIENCE_S, until

HOLDS = """
import sys
from pathlib import Path
from paddle._launch.turn import Turn
with Turn(Path(sys.argv[1])).taken(print):
    print("has it", flush=True)
    sys.stdin.readline()
"""


def other(folder: Path) -> subprocess.Popen[str]:
    """Another process, which has the turn until it is told a line, or killed."""
    command = [sys.executable, "-c", HOLDS, str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT / "runtime"
    )
    assert process.stdout and process.stdout.readline() == "has it\n"
    return process


def test_who_comes_while_another_has_it_waits_and_says_so_once(tmp_path: Path) -> None:
    said: list[str] = []
    had = threading.Event()

    def collect() -> None:
        with Turn(tmp_path).taken(said.append):
            had.set()

    with other(tmp_path) as holder:
        threading.Thread(target=collect, daemon=True).start()
        until(lambda: said, "that it waits")
        assert not had.is_set()
        holder.kill()
    assert had.wait(PATIENCE_S), "a process that was killed has it no more"
    assert said == [f"somebody else collects into {tmp_path} just now; waiting for that to end"]


def test_the_threads_of_a_process_have_it_together_and_the_last_one_gives_it_back(tmp_path: Path) -> None:
    turn = Turn(tmp_path)
    with turn.taken(print):
        with turn.taken(print):
            pass
        waiting = threading.Thread(target=lambda: Turn(tmp_path).taken(said.append).__enter__(), daemon=True)
        said: list[str] = []
        waiting.start()
        until(lambda: said, "another one to wait")
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()


def test_a_folder_that_is_not_there_keeps_nobody_waiting(tmp_path: Path) -> None:
    with Turn(tmp_path / "gone").taken(print):
        pass
