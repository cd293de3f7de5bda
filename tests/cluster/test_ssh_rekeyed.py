"""Connections whose keys are changed all the time, as sshd's are once an hour on machines that were hardened
(RekeyLimit), and everybody's after some hundred MiB: a job of days goes through that often."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import clear, launching
from tests.lab.cluster import Cluster
from tests.pretenders import ENDS

pytestmark = pytest.mark.cluster

PORT, LIMIT = 2230, "64K"
PID, LOG = "/run/sshd-rekeys.pid", "/var/log/sshd-rekeys"
LINES, CHANGES = 40_000, 20
PRINTS = f"""
import os, pathlib
for number in range({LINES}):
    print(f"line {{number}} of trainer", os.environ["PADDLE_INIT_TRAINER_ID"])
pathlib.Path("output").mkdir(exist_ok=True)
pathlib.Path("output/model").write_bytes(pathlib.Path("data").read_bytes())
"""


@pytest.fixture
def rekeying(cluster: Cluster) -> Iterator[list[str]]:
    """The nodes, by an sshd that changes keys whenever it has sent or received a little."""
    clear(cluster)
    for node in cluster.names:
        options = [f"RekeyLimit={LIMIT}", f"PidFile={PID}", "LogLevel=DEBUG1"]
        said = [word for option in options for word in ("-o", option)]
        cluster.run("/usr/sbin/sshd", "-p", str(PORT), "-E", LOG, *said, at=node)
    yield [f"root@{node}:{PORT}" for node in cluster.names]
    for node in cluster.names:
        cluster.run("sh", "-c", f"kill $(cat {PID})", at=node)


def test_keys_change_while_all_is_sent_printed_and_collected(cluster, rekeying, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    data = os.urandom(3 << 20)
    (package / "data").write_bytes(data)
    (package / "train.py").write_text(PRINTS)
    with launching(cluster) as start:
        job = start(
            cluster, tmp_path / "one", "--host_keys=any", package=package, pserver=ENDS, hosts=rekeying
        )
        status, _, errors = job.end()
        assert (status, errors) == (0, "")
    for number in range(len(cluster.names)):
        said = (package / f"log/node-{number}/train.log").read_text()
        assert said == "".join(f"line {line} of trainer {number}\n" for line in range(LINES))
        assert cluster.path(cluster.names[number], LOG).read_text().count("rekeying") > CHANGES
    assert (package / "output/model").read_bytes() == data
