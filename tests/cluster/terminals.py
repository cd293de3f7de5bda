"""Terminals on a machine of its own: a reader of the documents types into them what is printed.

The machine is a network namespace, in which port 7164 is free and the devices are ``lo`` and ``eth0``. Where
the kernel allows none, commands that need neither run here, with a free port in place of 7164.
"""

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster.by_hand import environment, free_port

ETH0 = "192.168.100.17"
DEVICES = f"""
ip link set lo up &&
ip link add eth0 type veth peer name eth1 && ip addr add {ETH0}/24 dev eth0 && ip link set eth0 up
"""
SHELLS = """
for typed in "$@"; do
    { bash "$typed" >"$typed.out" 2>&1 </dev/null; echo $? >"$typed.status"; } &
done
wait
"""


class Terminal(NamedTuple):
    """What a shell's last command ended with, and all that stood on its screen."""

    status: int
    screen: str


@cache
def has_namespaces() -> bool:
    """Whether this user may have a network of their own."""
    try:
        done = subprocess.run(["unshare", "-rn", "sh", "-c", DEVICES], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def type_into(folder: Path, *terminals: str, needs_namespace: bool = False) -> list[Terminal]:
    """Type a text into each of as many terminals, all at once, in ``folder``; wait until all have ended."""
    machine = ["unshare", "-rn", "bash", "-c", DEVICES + SHELLS, "terminals"]
    if not has_namespaces():
        if needs_namespace:
            pytest.skip("unshare -rn is not permitted here, and this needs devices or ports of its own")
        machine = ["bash", "-c", SHELLS, "terminals"]
        port = free_port(["127.0.0.1"])
        terminals = tuple(text.replace("7164", str(port)) for text in terminals)
        for script in folder.glob("*.py"):
            script.write_text(script.read_text().replace("7164", str(port)))
    typed = [folder / f"terminal-{number}" for number in range(len(terminals))]
    for path, text in zip(typed, terminals, strict=True):
        path.write_text(text)
    _run([*machine, *map(str, typed)], folder)
    return [
        Terminal(int(path.with_suffix(".status").read_text()), path.with_suffix(".out").read_text())
        for path in typed
    ]


def _run(command: list[str], folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    machine = subprocess.Popen(command, cwd=folder, env=environment(PATH=path), start_new_session=True)
    try:
        machine.wait(timeout=240)
    finally:
        if machine.returncode is None:
            os.killpg(machine.pid, signal.SIGKILL)
            machine.wait()
