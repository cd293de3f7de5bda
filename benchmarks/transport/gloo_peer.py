"""The same exchange by PyTorch's gloo: ``send`` and ``recv``, straight from and into arrays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.transport.exchange import answer, cores, free_port, gradient, keep_to, start, stepper
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    floats, port = settings["floats"], free_port()
    client_core, server_core = cores()
    told = map(str, (floats, port, server_core))
    server = subprocess.Popen([sys.executable, "-P", "-m", "benchmarks.transport.gloo_peer", *told])
    keep_to(client_core)
    _join(0, port)
    values, pushed = start(floats), gradient(floats)
    into, out = torch.from_numpy(values), torch.from_numpy(pushed)
    more, no_more = torch.ones(1), torch.zeros(1)

    def run(count: int) -> None:
        for _ in range(count):
            dist.send(more, 1)
            dist.send(out, 1)
            dist.recv(into, 1)

    def close() -> None:
        dist.send(no_more, 1)
        server.wait()
        dist.destroy_process_group()

    return Work(run, answer(run, values), servers=(server.pid,), close=close)


def serve(floats: int, port: int) -> None:
    """Serve one client until it wants no more."""
    _join(1, port)
    values, pushed = start(floats), gradient(floats)
    into, out, wanted = torch.from_numpy(pushed), torch.from_numpy(values), torch.zeros(1)
    step = stepper(values)
    while dist.recv(wanted, 0) == 0 and wanted.item():
        dist.recv(into, 0)
        step(pushed)
        dist.send(out, 0)


def _join(rank: int, port: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)


if __name__ == "__main__":
    keep_to(int(sys.argv[3]))
    serve(int(sys.argv[1]), int(sys.argv[2]))
