"""Two tests never start their processes at one port, though both found it free: ports.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddle._launch.fleet import ports
from tests.ports import LOOKED_AMONG, are_held, free_port

HOSTS = ["127.0.0.1"]
ANOTHER = """
from tests.ports import free_port
print(free_port(["127.0.0.1"], 3), flush=True)
input()
"""


def test_a_port_that_was_given_is_not_given_again() -> None:
    first, second = free_port(HOSTS, 3), free_port(HOSTS, 3)
    assert second not in range(first - 2, first + 3)
    assert are_held([first + 2, second])


def test_what_another_test_run_was_given_is_its_own_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    another = subprocess.Popen(
        [sys.executable, "-c", ANOTHER], cwd=Path(__file__).parents[2], text=True, **pipes
    )
    assert another.stdout is not None
    given = int(another.stdout.readline())
    assert are_held([given])
    monkeypatch.setattr(os, "getpid", lambda: another.pid)  # so that both look at the same ones first
    assert free_port(HOSTS, 3) != given
    another.communicate("\n")
    assert not are_held([given])


def test_no_program_that_finds_a_port_by_itself_looks_among_them() -> None:
    assert not {*LOOKED_AMONG} & {*ports.LOOKED_AMONG}
