"""The same exchange as a gRPC call whose request is the gradient's bytes and whose answer the parameters'."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np

from benchmarks.transport.exchange import answer, cores, gradient, keep_to, start, stepper
from benchmarks.worker import Work

_SERVICE, _METHOD = "benchmark.Exchange", "Step"
_OPTIONS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


def prepare(settings: Mapping[str, Any]) -> Work:
    """A connected client, and its server in a process of its own."""
    floats = settings["floats"]
    client_core, server_core = cores()
    told = map(str, (floats, server_core))
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "benchmarks.transport.grpc_peer", *told],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    keep_to(client_core)
    channel = grpc.insecure_channel(f"127.0.0.1:{server.stdout.readline().strip()}", options=_OPTIONS)
    call = channel.unary_unary(f"/{_SERVICE}/{_METHOD}")
    values, pushed = start(floats), gradient(floats)

    def run(count: int) -> None:
        for _ in range(count):
            values[:] = np.frombuffer(call(pushed.tobytes()), np.float32)

    def close() -> None:
        channel.close()
        server.stdin.close()
        server.wait()
        server.stdout.close()

    return Work(run, answer(run, values), servers=(server.pid,), close=close)


def serve(floats: int) -> None:
    """Serve until the end of the standard input."""
    values = start(floats)
    step = stepper(values)

    def exchange(request: bytes, context: grpc.ServicerContext) -> bytes:
        step(np.frombuffer(request, np.float32))
        return values.tobytes()

    server = grpc.server(ThreadPoolExecutor(1), options=_OPTIONS)
    handlers = {_METHOD: grpc.unary_unary_rpc_method_handler(exchange)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(0)


if __name__ == "__main__":
    keep_to(int(sys.argv[2]))
    serve(int(sys.argv[1]))
