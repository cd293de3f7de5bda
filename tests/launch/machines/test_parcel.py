"""The agent as a node gets it: by one constant command, whatever shell, and as it was sent or not at all."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from paddle._launch import agent
from paddle._launch.agent import memory
from paddle._launch.agent.processes import look_up
from paddle._launch.machines import parcel
from tests.launch.receiving import answer
from tests.waiting import PATIENCE_S

SHELLS = [shell for shell in ("sh", "bash", "dash", "csh", "tcsh", "fish", "zsh") if shutil.which(shell)]


def run(said: bytes, shell: str = "sh", **how: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [shell, "-c", parcel.COMMAND], input=said, capture_output=True, timeout=PATIENCE_S, cwd="/", **how
    )


def test_the_command_is_a_constant_that_no_shell_reads_in_another_way() -> None:
    *_, python = parcel.COMMAND.split(' -c "')
    assert python.endswith("\"'")
    assert not set(python.removesuffix("\"'")) & set("\"'`$\\!\n")
    assert "\n" not in parcel.COMMAND
    assert "!" not in parcel.COMMAND


@pytest.mark.parametrize("shell", SHELLS)
def test_a_module_of_the_agent_runs_from_memory_and_reads_on_behind_its_text(shell) -> None:
    order = {
        "workspace": "/no/such",
        "program": "x",
        "runtime": "/no",
        "names": [],
        "packages": ["numpy", "no-x"],
    }
    done = run(parcel.call([sys.executable], "agent.probe") + json.dumps(order).encode() + b"\n", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    facts = answer(done.stdout)
    assert facts["python"] == sys.executable
    assert facts["packages"]["numpy"]
    assert facts["packages"]["no-x"] is None


PROGRAMS = [path.stem for path in Path(agent.__file__).parent.glob("*.py") if "def main(" in path.read_text()]


def test_every_program_of_the_agent_comes_with_all_that_it_imports_and_little_more() -> None:
    assert {"halves", "probe", "receiver", "sender", "installer", "cleaner"} <= set(PROGRAMS)
    loads = "sys.meta_path.insert(0, Modules(TEXTS))"
    for program in PROGRAMS:
        texts = parcel.needed(f"agent.{program}")
        text = f"{Path(memory.__file__).read_text()}\nTEXTS = {texts!r}\n{loads}\nimport agent.{program}\n"
        subprocess.run([sys.executable, "-I", "-S", "-"], input=text, text=True, check=True, cwd="/")
    assert "agent.halves" not in parcel.needed("agent.probe")
    assert "agent.installer" not in parcel.needed("agent.halves")


ORDER = b'{"workspace": "/x", "program": "x", "runtime": "/no", "names": [], "packages": []}\n'


TELL_WHAT_IS_COMPILED = (
    "import builtins; old = compile; builtins.compile = lambda *of, **how: (print(of[1]), old(*of, **how))[1]"
)


def wrapped(folder: Path, claim: str) -> str:
    """A Python that does something before it runs the text of the command."""
    python = folder / "python"
    text = f"import sys; {claim}; exec(sys.argv[1])"
    python.write_text(
        f'#!/bin/sh\nfor text in "$@"; do :; done\nexec {sys.executable} -c \'{text}\' "$text"\n'
    )
    python.chmod(0o755)
    return str(python)


def test_a_python_of_the_launchers_kind_compiles_nothing(tmp_path: Path) -> None:
    done = run(parcel.call([wrapped(tmp_path, TELL_WHAT_IS_COMPILED)], "agent.probe") + ORDER)
    compiled = done.stdout.decode().splitlines()[:-1]
    assert (done.returncode, done.stderr) == (0, b"")
    assert not [name for name in compiled if name.startswith("agent")]
    assert answer(done.stdout)["ground"] == "/"


def test_a_python_of_another_kind_runs_the_text(tmp_path: Path) -> None:
    """It is this one, which is told that it was of another."""
    claim = f"import importlib.util as util; util.MAGIC_NUMBER = bytes(4); {TELL_WHAT_IS_COMPILED}"
    done = run(parcel.call([wrapped(tmp_path, claim)], "agent.probe") + ORDER)
    compiled = done.stdout.decode().splitlines()[:-1]
    assert (done.returncode, done.stderr) == (0, b"")
    assert {"agent", "agent.probe", "agent.killer"} <= set(compiled)
    assert answer(done.stdout)["ground"] == "/"


def test_the_first_python_that_is_there_is_taken() -> None:
    done = run(parcel.call(["/no/python", sys.executable, "python3"], "agent.probe") + ORDER)
    assert answer(done.stdout)["python"] == sys.executable


def test_where_there_is_none_the_status_is_127() -> None:
    assert run(parcel.call(["/no/python", "no-python"], "agent.probe")).returncode == 127


def test_a_name_of_a_python_is_never_a_command(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    done = run(parcel.call([f"x; touch {mark}", f"$(touch {mark})"], "agent.probe"))
    assert done.returncode == 127
    assert not mark.exists()


def test_an_agent_that_was_damaged_on_its_way_does_not_run() -> None:
    said = bytearray(parcel.call([sys.executable], "agent.probe"))
    said[-10] ^= 1
    done = run(bytes(said) + b"{}\n")
    assert (done.returncode, done.stdout) == (65, b"")


def test_half_an_agent_ends_with_its_connection() -> None:
    done = run(parcel.call([sys.executable], "agent.halves")[:20_000])
    assert (done.returncode, done.stdout) == (65, b"")


def test_what_does_not_come_is_not_waited_for_for_ever() -> None:
    assert "signal.alarm(60)" in parcel.COMMAND
    hasty = parcel.COMMAND.replace("signal.alarm(60)", "signal.alarm(1)")
    with subprocess.Popen(["sh", "-c", hasty], stdin=-1) as waiting:
        assert waiting.stdin
        waiting.stdin.write(parcel.call([sys.executable], "agent.halves")[:2000])
        waiting.stdin.flush()
        assert waiting.wait(timeout=PATIENCE_S) == -signal.SIGALRM


def test_an_older_python_says_that_it_is(tmp_path: Path) -> None:
    """It is this one, which is told that it was older."""
    old = wrapped(tmp_path, "sys.version_info = (3, 9, 2)")
    done = run(parcel.call([old], "agent.probe") + b"{}\n")
    assert done.returncode == 1
    assert b"is 3.9" in done.stderr


def test_the_loader_is_read_by_old_pythons() -> None:
    import ast

    ast.parse(Path(memory.__file__).read_text(), feature_version=(3, 7))


def _news(agent: IO[bytes]) -> dict[str, Any]:
    """What an agent says next but for its beats, which come with time."""
    while (frame := json.loads(agent.readline()))["event"] == "beat":
        pass
    return frame


def test_an_agent_from_memory_says_who_it_is_and_ends_with_its_leash(tmp_path: Path) -> None:
    with subprocess.Popen(["sh", "-c", parcel.COMMAND], stdin=-1, stdout=-1, cwd="/") as agent:
        assert agent.stdin
        assert agent.stdout
        roles = {"trainer": {"argv": ["sleep", "60"], "env": {}, "prepend": {}, "log": "log/train.log"}}
        plan = {
            "do": "plan",
            "node": 0,
            "workspace": str(tmp_path),
            "lease_s": 60,
            "secrets": {},
            "roles": roles,
        }
        orders = json.dumps(plan) + "\n" + json.dumps({"do": "start", "role": "trainer"}) + "\n"
        agent.stdin.write(parcel.call([sys.executable], "agent.halves") + orders.encode())
        agent.stdin.flush()
        frames = [_news(agent.stdout) for _ in range(3)]
        assert [frame["event"] for frame in frames] == ["begun", "up", "started"]
        assert frames[0]["pid"] == agent.pid
        assert look_up(agent.pid)[1].start == frames[0]["start"]  # type: ignore[index]
        agent.stdin.close()
        assert agent.wait(timeout=PATIENCE_S) == 0
        assert look_up(frames[2]["pid"]) is None
    assert "stopped: leash" in (tmp_path / "log" / "agent.log").read_text()


@pytest.mark.parametrize("of", ["itself", "another process of its number"])
def test_an_agent_that_hangs_is_ended_by_another(tmp_path: Path, of: str) -> None:
    with subprocess.Popen(["sh", "-c", parcel.COMMAND], stdin=-1, stdout=-1, cwd="/") as agent:
        assert agent.stdin
        assert agent.stdout
        agent.stdin.write(parcel.call([sys.executable], "agent.halves"))
        agent.stdin.flush()
        begun = _news(agent.stdout)
        plan = {"do": "plan", "node": 0, "workspace": str(tmp_path), "lease_s": 60, "roles": {}}
        agent.stdin.write(json.dumps({**plan, "secrets": {"token": "t"}}).encode() + b"\n")
        agent.stdin.flush()
        assert _news(agent.stdout)["event"] == "up"
        os.kill(agent.pid, signal.SIGSTOP)
        start = begun["start"] + (of != "itself")
        order = {"pid": begun["pid"], "start": start, "workspace": str(tmp_path)}
        killer = parcel.call([sys.executable], "agent.killer") + json.dumps(order).encode() + b"\n"
        assert run(killer).returncode == 0
        assert (look_up(agent.pid) is None) == (of == "itself")
        assert (tmp_path / ".job.token").exists() == (of != "itself"), (
            "secrets go with the agent that had them"
        )
        said = "stopped: killed by the launcher\n" in (tmp_path / "log" / "agent.log").read_text()
        assert said == (of == "itself")
        agent.kill()
