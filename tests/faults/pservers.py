"""A ``paddle pserver`` of three shards, whose processes a test may kill, and trainers of it in threads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.trainer.remote import RemoteExchange
from tests.cluster.by_hand import RUNTIME
from tests.pserver.conftest import free_ports
from tests.pserver.test_equality import trainer
from tests.waiting import PATIENCE_S

TRAINERS = 2
STEPS = 12


def versions(folder: Path) -> list[int]:
    """Of the snapshots that a shard has there, but for that of the initial values."""
    found = [0]
    for manifest in folder.glob("*.json"):
        with suppress(FileNotFoundError):  # it is pruned meanwhile
            found.append(json.loads(manifest.read_bytes().partition(b"\n")[2])["version"])
    return sorted(filter(None, found))


@dataclass
class Job:
    """A running ``paddle pserver`` with two dense shards and a sparse one."""

    process: subprocess.Popen[str]
    port: int

    def kill(self, shard: int) -> None:
        """Kill -9 of a shard's process."""
        os.kill(self.children()[shard], signal.SIGKILL)

    def children(self) -> list[int]:
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def status(self, shard: int = 0) -> Any:
        """What a shard says of itself."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port + shard}/v1/status", timeout=PATIENCE_S
        ) as answer:
            return json.load(answer)

    def run(
        self,
        *trainers: Callable[[RemoteExchange], Any],
        kind: Callable[..., RemoteExchange] = RemoteExchange,
        **options: Any,
    ) -> list[Any]:
        """What the trainers return, each run in a thread with its exchange and closed after it."""

        def run(trainer_id: int) -> Any:
            exchange = kind(
                ["127.0.0.1"],
                port=self.port,
                ports_num=2,
                ports_num_for_sparse=1,
                num_gradient_servers=TRAINERS,
                trainer_id=trainer_id,
                call_timeout_s=60,
                notice=lambda text: None,
                **options,
            )
            try:
                result = trainers[trainer_id](exchange)
            except BaseException as error:
                exchange.close(str(error))
                raise
            exchange.close()
            return result

        with ThreadPoolExecutor(TRAINERS) as pool:
            training = [pool.submit(run, id) for id in range(TRAINERS)]
            for ended in as_completed(training, timeout=PATIENCE_S):
                ended.result()  # of those that fail the first one: the others fail because of it
            return [each.result() for each in training]

    def train(
        self,
        spec: UpdateSpec,
        disturb: Callable[[int, int], None],
        before_push: Callable[[int, int], None] = lambda trainer, step: None,
        **options: Any,
    ) -> list[Any]:
        """What the trainers end with; ``disturb(trainer, step)`` is called before each of their steps."""
        trainers = [
            trainer(id, spec, STEPS, before_step=partial(disturb, id), before_push=partial(before_push, id))
            for id in range(TRAINERS)
        ]
        return self.run(*trainers, **options)

    def end(self) -> str:
        """Its log, once it has ended well."""
        _, log = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, log
        return log


@contextmanager
def pservers(folder: Path | None, *flags: str) -> Iterator[Job]:
    listeners = free_ports(["127.0.0.1"], 3, is_given=True)
    port = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    kept = [f"--snapshot_dir={folder}", "--snapshot_period=5"] if folder else []
    sizes = ["--ports_num=2", "--ports_num_for_sparse=1", f"--num_gradient_servers={TRAINERS}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "paddle", "pserver", f"--port={port}", *sizes, *kept, *flags],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder.parent if folder else None,
    )
    try:
        assert process.stdout is not None
        assert "listening on" in process.stdout.readline()
        yield Job(process, port)
    finally:
        process.kill()
        process.communicate()
