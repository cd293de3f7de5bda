"""A node that is somebody else's, on a machine of its own: what it sends of its logs harms nobody here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.agent.answers import line_of
from tests.cluster.over_ssh import Job, all_gone, clear
from tests.cluster.test_ssh_jobs import Head
from tests.lab.cluster import Cluster
from tests.lab.machine import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

COMMANDS = "\x1b]0;owned\x07\x1b[2Jgone"
LIAR, LIES = "/srv/liar", "/srv/lies"
# A Python that runs all that it is given, but for the program that sends files: that says what LIES has.
LIES_FOR = f"""#!{sys.executable}
import os, sys

if sys.argv[1:2] != ["-I"] or not os.path.exists({LIES!r}):
    os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])

def run(text, *where):
    if not where and b"'agent.sender'" in text:
        os.write(1, open({LIES!r}, "rb").read())
        os._exit(0)
    exec(text, *(where or (names,)))

sys.executable = {LIAR!r}
names = {{"__name__": "__main__", "exec": run}}
exec(sys.argv[sys.argv.index("-c") + 1], names)
"""
TRAINS = f"""
import os
os.mkfifo("log/pipe")
os.symlink("/etc/passwd", "log/elsewhere")
os.symlink("../../..", "log/up")
open("log/" + {COMMANDS!r}, "w").write("words")
print({COMMANDS!r}, flush=True)
"""
COLLECTS = """
import shutil, sys
from paddle._launch.jobs import commands
for lies in sys.argv[3:]:
    shutil.copyfile(lies, sys.argv[1])
    print("== next", flush=True)
    commands.collect("", sys.argv[2])
"""
FILE = {"kind": "file", "path": "train.log", "mode": 0o644, "mtime_ns": 0, "size": 2}
BODY = b"\0\0\0\2ab\0\0\0\0"
END = line_of({"kind": "end"})
SENT = {
    "a path that leads out": line_of({**FILE, "path": "../../../../owned"}) + BODY + END,
    "a path from the root": line_of({**FILE, "path": "/tmp/owned"}) + BODY + END,
    "a file through a link": b"".join(
        (line_of({"kind": "link", "path": "l", "target": "/tmp"}), line_of({**FILE, "path": "l/owned"}), BODY)
    ),
    "a device": line_of({**FILE, "kind": "device"}) + END,
    "a file that grows": line_of(FILE) + b"\0\0\0\2ab" * 1000 + b"\0\0\0\0" + END,
    "words without an end": f"{COMMANDS}\n".encode() * 200_000,
    "a line without an end": b"x" * (1 << 22),
}


@pytest.fixture
def head(cluster: Cluster, tmp_path: Path) -> Iterator[Head]:
    clear(cluster)
    for node in cluster.names:
        cluster.path(node, LIAR).write_text(LIES_FOR)
        cluster.path(node, LIAR).chmod(0o755)
    yield Head(cluster, tmp_path)
    for node in cluster.names:
        for name in (LIAR, LIES):
            cluster.path(node, name).unlink(missing_ok=True)
    all_gone(cluster)


def no_command_is_in(said: str) -> None:
    assert not {"\x1b", "\x07"} & set(said)


def collected(head: Head, lab: Cluster, folder: Path) -> dict[str, str]:
    """What `fab collect` says to each of what the second node sends; by one process, which is quicker."""
    for number, lies in enumerate(SENT.values()):
        (folder / f"lies-{number}").write_bytes(lies)
    lab.path("n2", LIES).write_bytes(b"")
    argv = [str(folder / f"lies-{number}") for number in range(len(SENT))]
    conf = str(folder.parent / "conf.py")
    done = lab.run(
        *(sys.executable, "-c", COLLECTS, str(lab.path("n2", LIES)), conf, *argv),
        cwd=ROOT,
        environ=head._environ,
    )
    for path in argv:
        Path(path).unlink()
    assert done.stderr == ""
    said = done.stdout.split("== next\n")[1:]
    return dict(zip(SENT, said, strict=True))


def test_whatever_a_node_sends_of_its_logs_those_of_others_come_and_nothing_lies_elsewhere(
    head: Head, cluster: Cluster, tmp_path: Path
) -> None:
    job = Job(cluster, tmp_path, train=TRAINS, conf=f"NODE_PYTHON = {LIAR!r}\n", environ=head._environ)
    status, output, errors = job.end()
    assert status == 0, output + errors
    no_command_is_in(output + errors)
    log = job.package / "log"
    for node in range(3):
        names = {path.name for path in (log / f"node-{node}").iterdir()}
        assert {"train.log", "agent.log", COMMANDS} <= names
        assert not {"pipe", "elsewhere", "up"} & names
    assert "pipe is not collected: it is neither file nor folder" in output
    assert "elsewhere is not collected: it is a link that leads elsewhere, to '/etc/passwd'" in output

    around = {path for folder in (tmp_path, tmp_path.parent, Path("/tmp")) for path in folder.iterdir()}
    before = (log / "node-1" / "train.log").read_bytes()
    for name, said in collected(head, cluster, tmp_path / "package").items():
        no_command_is_in(said)
        assert "node 1: cannot collect" in said, (name, said)
        assert len(said) < 10_000
        assert "log of node 0, log of node 2" in said
    assert (log / "node-1" / "train.log").read_bytes() == before, "what was collected before stays"
    assert not [path for path in Path("/tmp").iterdir() if path not in around and path.name == "owned"]
    assert {path for folder in (tmp_path, tmp_path.parent) for path in folder.iterdir()} <= around
    assert json.loads(head.fab("status", "--format=json"))["standing"] == "ended"
