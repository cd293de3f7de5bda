"""However a lab ends, nothing of it is left: no process, namespace, mount, interface, control group, file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.cluster import HEAD
from tests.lab.compose import Compose
from tests.lab.lab import Lab
from tests.lab.machine import ROOT
from tests.waiting import until

SPACES = ("net", "mnt", "uts", "ipc", "pid")


@dataclass(frozen=True)
class Traces:
    """What a lab that stands may be known by, from outside."""

    folder: str
    group: str
    spaces: list[str]

    @classmethod
    def of(cls, lab: Lab | Compose) -> Traces:
        holders = [Path(f"/proc/{lab.holder(place)}") for place in (HEAD, *lab.names)]
        spaces = {_link(holder, space) for holder in holders for space in SPACES}
        ours = {_link(Path("/proc/self"), space) for space in SPACES}
        return cls(str(lab.folder), str(lab.group.path), sorted(spaces - ours))

    def left(self) -> list[str]:
        """What of it is still there."""
        found = [path for path in (self.folder, self.group) if Path(path).exists()]
        found += [path for path in Path("/proc/self/mountinfo").read_text().split() if self.folder in path]
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                found += [
                    f"{entry.name} in {space}" for space in SPACES if _link(entry, space) in self.spaces
                ]
        return found


def _link(entry: Path, space: str) -> str:
    try:
        return str((entry / "ns" / space).readlink())
    except OSError:
        return ""


def interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def make_a_mess(lab: Lab) -> None:
    """Programs that nobody waits for, here and there; and faults that nobody mends."""
    lab.run("setsid", "-f", "sh", "-c", "trap '' TERM HUP INT; sleep 1000", cwd=lab.folder)
    lab.ssh("n1", "trap '' TERM HUP INT; setsid -f sleep 1000 </dev/null >/dev/null 2>&1")
    lab.delay("n1", 1)
    lab.rate("n2", 100)
    lab.partition([["n1"], ["n2"]])
    lab.freeze("n2")
    lab.power_off("n3")


def test_nothing_is_left_of_a_lab_that_is_closed(need_lab: None) -> None:
    before = interfaces()
    with Lab(3) as lab:
        traces = Traces.of(lab)
        make_a_mess(lab)
        assert interfaces() == before
        assert len(traces.spaces) == 2 + 3 * len(SPACES)  # two of the head
        assert traces.left()
    until(lambda: not traces.left(), "what is left to be gone")
    assert interfaces() == before


def test_nothing_is_left_of_a_lab_whose_test_fails(need_lab: None) -> None:
    with pytest.raises(ZeroDivisionError), Lab(2) as lab:
        traces = Traces.of(lab)
        assert 1 // 0
    until(lambda: not traces.left(), "what is left to be gone")


SCRIPT = """
import dataclasses, json, os, signal
from tests.lab.lab import Lab
from tests.lab.test_end import Traces, make_a_mess
lab = Lab(3)
traces = Traces.of(lab)
make_a_mess(lab)
if os.fork() == 0:
    signal.pause()
print(json.dumps(dataclasses.asdict(traces)), flush=True)  # from here on it may be killed
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, 0])
def test_nothing_is_left_when_the_tests_are_gone(signum: int, need_lab: None) -> None:
    """Killed, or ended without closing it; a child of theirs that stays has the keeper's pipe open."""
    script = SCRIPT + ("signal.pause()" if signum else "os._exit(0)")
    program = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    with program:
        assert program.stdout
        traces = Traces(**json.loads(program.stdout.readline()))
        if signum:
            assert traces.left()
            program.send_signal(signum)
        program.wait()
        until(lambda: not traces.left(), f"the end of {traces.left()}")
        os.killpg(program.pid, signal.SIGKILL)
