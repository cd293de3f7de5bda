"""The token of a launched job: every process finds it, nobody else sees it, nothing of it is left."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddle._pserver.errors import NotAuthorized
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trust.tls import read_trust
from tests.faults.lying_open import everywhere, files, showing
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

TRAIN = """
import os, time
import paddle.v2 as paddle
paddle.init()
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(1))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=y)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3), is_local=False)

def reader():
    yield [1.0], [2.0]
    print("family", flush=True)
    while not os.path.exists("end"):
        yield [1.0], [2.0]

trainer.train(paddle.batch(reader, 1), num_passes=1)
"""

LOOKS = """
import os, signal
open("found", "w").write(os.environ["PADDLE_TOKEN_FILE"])
print("family", flush=True)
signal.pause()
"""


@pytest.mark.patient
def test_the_token_is_in_no_argument_environment_or_log(launch: Callable[..., Any]) -> None:
    launcher = launch(train=TRAIN, pserver=None, argv=["--profile"])
    launcher.wait_until_trained()
    kept = [launcher.node(node) / ".job.token" for node in range(2)]
    (token,) = {path.read_bytes().strip() for path in kept}
    assert len(token) == 64
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}

    seen = list(everywhere())
    roles = [place for place, content in seen if os.fsencode(f"PADDLE_TOKEN_FILE={kept[1]}") in content]
    assert len(roles) >= 2, "a trainer and a pserver of node 1 find it by its path"
    assert showing(token, seen) == []
    assert showing(token, files(launcher.folder)) == [str(path) for path in kept]

    for node in range(2):
        (launcher.node(node) / "end").touch()
    status, printed, errors = launcher.end()
    assert status == 0, printed + errors
    assert showing(token, [("the launcher's output", (printed + errors).encode())]) == []
    left = dict(files(launcher.folder))
    assert showing(token, left.items()) == [], "not even after the end"
    assert len([path for path in left if path.endswith("/paddle_trainer.trace.json")]) >= 2


@pytest.mark.patient
def test_the_key_of_a_job_that_encrypts_is_in_no_argument_environment_or_log(
    launch: Callable[..., Any],
) -> None:
    launcher = launch(train=TRAIN, pserver=None, argv=["--tls=auto"])
    launcher.wait_until_trained()
    nodes = [launcher.node(node) for node in range(2)]
    kept = [node / name for node in nodes for name in (".job.token", ".job.ca", ".job.cert", ".job.key")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    keys = [(node / ".job.key").read_bytes().splitlines()[2] for node in nodes]
    assert len(set(keys)) == 2, "each node has its own"
    assert len({(node / ".job.ca").read_bytes() for node in nodes}) == 1
    seen = list(everywhere())
    for key, node in zip(keys, nodes, strict=True):
        assert showing(key, seen) == []
        assert showing(key, files(launcher.folder)) == [str(node / ".job.key")]

    (port,) = {int(argument.split("=")[1]) for argument in _arguments(launcher) if "--port=" in argument}
    for node, address in enumerate(("127.0.0.1", "127.0.0.2")):
        trust = read_trust(str(nodes[node] / ".job.ca"))
        with contextlib.closing(
            http.client.HTTPSConnection(address, port, timeout=PATIENCE_S, context=trust)
        ) as connection:
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b"ok\n"

    for node in nodes:
        (node / "end").touch()
    status, printed, errors = launcher.end()
    assert status == 0, printed + errors
    assert ", TLS" in printed
    assert not any(path.exists() for path in kept)
    for key in keys:
        assert showing(key, files(launcher.folder)) == []


@pytest.mark.patient
def test_a_trainer_from_elsewhere_is_kept_out_of_a_launched_job(launch: Callable[..., Any]) -> None:
    launcher = launch(train=TRAIN, pserver=None)
    launcher.wait_until_trained()
    (port,) = {int(argument.split("=")[1]) for argument in _arguments(launcher) if "--port=" in argument}
    stranger = Client("127.0.0.1", port, "shard", call_timeout_s=PATIENCE_S, notice=lambda text: None)
    with pytest.raises(NotAuthorized, match="with a token only"):
        stranger.connect(Deadline(PATIENCE_S))
    for node in range(2):
        (launcher.node(node) / "end").touch()
    assert launcher.end()[0] == 0


def _arguments(launcher: Any) -> list[str]:
    return [word for line in launcher.pids().values() if " pserver " in line for word in line.split()]


@pytest.mark.patient
def test_an_agent_writes_the_token_for_its_user_alone_and_over_no_link(agent: Any, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    kept = tmp_path / ".job.token"
    kept.symlink_to(precious)
    agent.plan(lease_s=60.0, trainer=LOOKS)
    agent.start("trainer")
    assert (kept.read_text(), stat.S_IMODE(kept.lstat().st_mode)) == ("secret\n", 0o600)
    assert precious.read_text() == "mine"
    assert (tmp_path / "found").read_text() == str(kept)
    agent.say(do="stop", grace_s=1.0)
    agent.hear("ended")
    assert not kept.is_symlink()
    assert not kept.exists()


def test_the_token_of_an_agent_that_was_killed_is_gone_too(agent: Any, tmp_path: Path) -> None:
    agent.secrets = {"token": "secret", "tls_key": "key"}
    agent.plan(lease_s=60.0, trainer=LOOKS)
    agent.start("trainer")
    assert (tmp_path / ".job.key").read_text() == "key\n"
    os.kill(agent.halves()[1], signal.SIGKILL)
    agent.all_gone(5.0)
    assert list(tmp_path.glob(".job.*")) == []
