"""Starts pservers and trainers as a user does by hand: by command line and environment."""

import os
import socket
import subprocess
import sys
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
PSERVER = [sys.executable, "-P", "-m", "paddle", "pserver", "--ports_num=1", "--ports_num_for_sparse=1"]


def free_port(hosts: list[str], count: int = 2) -> int:
    """A port such that it and the next ones, ``count`` in all, are free on all hosts.

    Not one of those that the system gives to connections, of which it may give one away before it is used.
    """
    first = 12000 + os.getpid() % 1000 * 16  # so that two test runs at once look at different ports
    for port in range(first, first + 4000, count):
        if all(is_free(host, port + offset) for host in hosts for offset in range(count)):
            return port
    raise AssertionError(f"no {count} neighbouring free ports")


def is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def environment(**more: str) -> dict[str, str]:
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PADDLE_", "OMPI_", "GLOG_"))
    }
    return {**clean, "PYTHONPATH": str(RUNTIME), "OPENBLAS_NUM_THREADS": "1", **more}


def pserver(host: str, port: int, trainers: int, *flags: str) -> subprocess.Popen[str]:
    place = ["--nics=lo"] if host == "127.0.0.1" else [f"--host={host}"]
    return subprocess.Popen(
        [*PSERVER, f"--port={port}", f"--num_gradient_servers={trainers}", *place, *flags],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def trainer(folder: Path, text: str, **env: str) -> subprocess.Popen[str]:
    script = folder / "train.py"
    if not script.exists():  # a trainer started before may be reading it
        script.write_text(text)
    return subprocess.Popen(
        [sys.executable, "train.py"],
        cwd=folder,
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outputs_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What each has printed when it ended by itself. After this none is left, whatever happened."""
    try:
        return [process.communicate(timeout=240)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
