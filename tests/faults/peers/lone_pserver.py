"""A real pserver of one dense and one sparse shard, or of a dense one alone, whatever peers it has: what it
says of itself, what it costs, and what it logs."""

from __future__ import annotations

import contextlib
import re
import secrets
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._launch.authority import Authority
from paddle._pserver.protocol.messages import PROTOCOL, Declare, Declared, Hello, Welcome
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import read_token
from tests.cluster.by_hand import environment
from tests.ports import free_port
from tests.pserver.conftest import update
from tests.waiting import PATIENCE_S, until

ASYNCHRONOUS = update(mode=ModeSpec(name="async"))


class Server:
    """It; with a token unless it ``is_open``. ``port``: of the dense shard, the sparse one has the next."""

    def __init__(
        self,
        folder: Path,
        trainers: int,
        *flags: str,
        is_encrypted: bool = False,
        is_open: bool = False,
        has_sparse: bool = False,
        **env: str,
    ) -> None:
        self.secret = secrets.token_hex(32)
        self.token_file = "" if is_open else token_file(folder, self.secret)
        if self.token_file:
            flags = (*flags, f"--token_file={self.token_file}")
        self.trainers, self.has_sparse = trainers, has_sparse
        self.port = free_port(["127.0.0.1"], 1 + has_sparse)
        self.log = folder / "log"
        self.tls_ca = ""
        if is_encrypted:
            papers = Authority("job", datetime.now(UTC)).issue(["127.0.0.1"])
            for name, text in (("crt", papers.certificate), ("key", papers.key), ("ca", papers.authority)):
                (folder / name).write_text(text)
            self.tls_ca = str(folder / "ca")
            flags = (*flags, f"--tls_cert={folder / 'crt'}", f"--tls_key={folder / 'key'}")
        if has_sparse:
            flags = (*flags, "--ports_num_for_sparse=1")
        command = ["pserver", f"--port={self.port}", f"--num_gradient_servers={trainers}", *flags]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "paddle", *command],
                env=environment(**env),
                stdout=log,
                stderr=log,
            )
        until(lambda: "listening on" in self.log.read_text(), "the pserver to listen")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    # What it says.

    def page(self, path: str, shard: int = 0) -> bytes:
        url = f"http://127.0.0.1:{self.port + shard}{path}"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            found: bytes = answer.read()
        return found

    def counted(self, metric: str, shard: int = 0) -> dict[str, int]:
        """The samples of a metric, by their labels as they are written; of one that has none, by ""."""
        text = self.page("/metrics", shard).decode()
        found = re.findall(rf"^paddle_pserver_{metric}(?:{{(.*)}})? (\d+)$", text, re.MULTILINE)
        return {labels: int(number) for labels, number in found}

    # What it costs.

    def resident_bytes(self) -> int:
        """Of the first shard's process."""
        return int((self.shards()[0] / "statm").read_text().split()[1]) * 4096

    def peaks(self, of: Literal["VmHWM", "VmPeak"] = "VmHWM") -> np.ndarray:
        """The most memory, in bytes, that each shard's process has had, or, as VmPeak, has asked for."""
        statuses = [(each / "status").read_text() for each in self.shards()]
        return np.array([int(re.findall(rf"{of}:\s+(\d+) kB", text)[0]) << 10 for text in statuses])

    def busy_ns(self) -> int:
        """The processor time of all threads of the first shard's process."""
        return sum(int(each.read_text().split()[0]) for each in self.shards()[0].glob("task/*/schedstat"))

    def shards(self) -> list[Path]:
        """Where the system tells of their processes."""
        parent = self.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [Path("/proc", child) for child in children]

    # Who comes to it.

    def exchange(self, trainer_id: int, **options: Any) -> RemoteExchange:
        known: dict[str, Any] = {
            "port": self.port,
            "ports_num": 1,
            "ports_num_for_sparse": int(self.has_sparse),
            "num_gradient_servers": self.trainers,
            "trainer_id": trainer_id,
            "token_file": self.token_file,
            "tls_ca": self.tls_ca,
        }
        return RemoteExchange(["127.0.0.1"], **(known | options))

    def connected(self) -> Client:
        """Somebody with the token who has said nothing yet."""
        client = Client(
            "127.0.0.1",
            self.port,
            "shard",
            call_timeout_s=PATIENCE_S,
            notice=lambda text: None,
            token=read_token(self.token_file)[0],
            trust=read_trust(self.tls_ca) if self.tls_ca else None,
        )
        client.connect(Deadline(PATIENCE_S))
        return client

    def declared(self, trainer_id: int, parameters: tuple[ParameterSpec, ...]) -> Client:
        """A trainer that has declared the model."""
        client = self.connected()
        client.send(Hello(PROTOCOL, trainer_id, self.trainers, "dense", "a"), asking="to be let in")
        assert isinstance(client.receive(), Welcome)
        client.send(Declare(parameters, ASYNCHRONOUS, 0, 1), asking="to take a model")
        assert isinstance(client.receive(), Declared)
        return client


@contextlib.contextmanager
def server(folder: Path, trainers: int, *flags: str, **options: Any) -> Iterator[Server]:
    folder.mkdir()
    running = Server(folder, trainers, *flags, **options)
    try:
        yield running
    finally:
        running.close()


def token_file(folder: Path, secret: str, name: str = "token") -> str:
    path = folder / name
    path.touch(0o600)
    path.write_text(secret)
    return str(path)
