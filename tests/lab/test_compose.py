"""Of a cluster of containers nothing is left either, and its files hold no key."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import ground
from tests.lab.compose import Compose
from tests.lab.group import hierarchies
from tests.lab.image import COMPOSE
from tests.lab.machine import ROOT
from tests.lab.test_end import Traces, interfaces
from tests.waiting import until

KILLED = """
import dataclasses, json, os, signal
from tests.lab.compose import Compose
from tests.lab.test_end import Traces
cluster = Compose()
cluster.freeze("n2")
cluster.cut("n3")
print(json.dumps(dataclasses.asdict(Traces.of(cluster))), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def need_containers(need_lab: None) -> None:
    ground.require(of_containers=True)


def left(traces: Traces) -> list[str]:
    groups = [str(top / Path(traces.folder).name) for top in hierarchies()]
    return traces.left() + [group for group in groups if Path(group).exists()]


def test_nothing_is_left_of_containers_whose_tests_are_killed(need_containers: None) -> None:
    before = interfaces()
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    traces = Traces(**json.loads(killed.stdout))
    until(lambda: not left(traces), "what is left to be gone")
    assert interfaces() == before


def test_nothing_is_left_of_containers_that_are_closed(need_containers: None) -> None:
    with Compose() as cluster:
        traces = Traces.of(cluster)
        assert left(traces)
    until(lambda: not left(traces), "what is left to be gone")


def test_its_files_hold_no_key_and_no_password() -> None:
    text = "".join(path.read_text() for path in COMPOSE.iterdir())
    assert not re.search(r"PRIVATE KEY|ssh-ed25519|ssh-rsa AAAA|chpasswd|password=", text)
    assert "PasswordAuthentication no" in text
