"""A worker that was started by hand and fails before it has met the servers is not waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

import paddle
from paddle._fleet.fleet import Fleet
from paddle._fleet.place import Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.description.written import fresh
from tests.ports import free_port
from tests.waiting import PATIENCE_S, until

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
WORKER = """
import sys
import paddle
import paddle.distributed.fleet as fleet

paddle.enable_static()
fleet.init()
{end}
"""


def served(port: int) -> Future[None]:
    """A server of two workers, which serves."""
    place = {"worker_num": 2, "server_endpoints": [f"127.0.0.1:{port}"]}
    server = Fleet().init(UserDefinedRoleMaker(role=Role.SERVER, current_id=0, **place))
    strategy = DistributedStrategy()
    strategy.a_sync = False
    x = paddle.static.data("x", [None, 2])
    server.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(
        paddle.mean(paddle.static.nn.fc(x, 1))
    )
    server.init_server()
    end: Future[None] = Future()

    def serve() -> None:
        try:
            server.run_server()
            end.set_result(None)
        except BaseException as error:
            end.set_exception(error)

    threading.Thread(target=serve, daemon=True).start()
    until(lambda: _listens(port), "the server listens")
    return end


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def ended(tmp_path: Path, port: int, end: str, **others: str) -> int:
    """The status of worker 1."""
    (tmp_path / "train.py").write_text(WORKER.format(end=end))
    told = {
        "PADDLE_PSERVERS_IP_PORT_LIST": f"127.0.0.1:{port}",
        "PADDLE_TRAINERS_NUM": "2",
        "TRAINING_ROLE": "TRAINER",
        "PADDLE_TRAINER_ID": "1",
    }
    environ = {"PATH": os.defpath, "PYTHONPATH": str(RUNTIME), **told, **others}
    return subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=environ, check=False).returncode


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    with fresh():
        paddle.enable_static()
        yield


@pytest.fixture
def port() -> int:
    return free_port(["127.0.0.1"], 1)


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("raise ValueError('no part-7')", 1, "ValueError: no part-7"),
        ("sys.exit(7)", 7, "SystemExit: 7"),
        ("fleet.stop_worker()", 2, "TooEarly: "),
    ],
)
def test_its_servers_hear_of_it_and_name_it(
    tmp_path: Path, port: int, end: str, status: int, said: str
) -> None:
    serving = served(port)
    assert ended(tmp_path, port, end) == status
    told = "trainer 1 failed before it came to the servers \\(fleet.init_worker\\): "
    with pytest.raises(Exception, match=told + said):
        serving.result(PATIENCE_S)


def test_one_that_ends_well_or_has_a_launcher_tells_nothing(tmp_path: Path, port: int) -> None:
    serving = served(port)
    assert ended(tmp_path, port, "sys.exit(0)") == 0
    assert ended(tmp_path, port, "sys.exit(3)", PADDLE_JOB_ID="fleet-1") == 3
    assert not serving.done()
    assert ended(tmp_path, port, "sys.exit(4)") == 4
    with pytest.raises(Exception, match="SystemExit: 4"):
        serving.result(PATIENCE_S)
