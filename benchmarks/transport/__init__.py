"""``transport``: a gradient exchanged for parameters on one machine, a real session against bare sockets."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

_RAW, _CHECKED, _SESSION = "raw TCP", "raw TCP, xxh3", "session, TCP"
_RAW_UNIX, _CHECKED_UNIX, _SESSION_UNIX = "raw unix", "raw unix, xxh3", "session, unix"
_SHARED, _PUSH, _ARITHMETIC = "shared memory", "shared memory, push", "arithmetic alone"
_GLOO, _GRPC = "gloo", "grpc"
_PEERS = "pip install -e '.[peers]'"

BENCHMARK = Benchmark(
    name="transport",
    title="a gradient out, one step applied, parameters back; on one machine, to a server process",
    contenders=(
        Contender(_RAW, "benchmarks.transport.raw"),
        Contender(_CHECKED, "benchmarks.transport.raw_checked"),
        Contender(_SESSION, "benchmarks.transport.session"),
        Contender(_RAW_UNIX, "benchmarks.transport.raw_unix"),
        Contender(_CHECKED_UNIX, "benchmarks.transport.raw_unix_checked"),
        Contender(_SESSION_UNIX, "benchmarks.transport.session_unix"),
        Contender(_SHARED, "benchmarks.transport.session_shared"),
        Contender(_PUSH, "benchmarks.transport.session_push"),
        Contender(_ARITHMETIC, "benchmarks.transport.arithmetic"),
        Contender(_GLOO, "benchmarks.transport.gloo_peer", ("torch",), _PEERS, is_long=True),
        Contender(_GRPC, "benchmarks.transport.grpc_peer", ("grpc",), _PEERS, is_long=True),
    ),
    cases=(
        Case(
            name="64 MiB each way",
            unit="exchange",
            volume=2 * (64 << 20) / 1e9,
            volume_unit="GB",
            settings={"floats": 16 << 20},
            goals=(
                Goal(contender=_SESSION, against=_RAW, quantity="speed", at_least=0.77),
                Goal(contender=_SESSION, against=_RAW, quantity="cpu", at_most=1.38),
                Goal(contender=_SESSION, against=_CHECKED, quantity="speed", at_least=0.95),
                Goal(contender=_SESSION, against=_CHECKED, quantity="cpu", at_most=1.12),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="speed", at_least=0.85),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="cpu", at_most=1.15),
                Goal(contender=_SESSION_UNIX, against=_CHECKED_UNIX, quantity="cpu", at_most=0.90),
                Goal(contender=_SESSION_UNIX, against=_SESSION, quantity="cpu", at_most=0.85),
                Goal(contender=_PUSH, against=_ARITHMETIC, quantity="cpu", at_most=1.20),
                Goal(contender=_PUSH, against=_SESSION_UNIX, quantity="cpu", at_most=0.17),
                Goal(contender=_SHARED, against=_ARITHMETIC, quantity="cpu", at_most=2.50),
                Goal(contender=_SHARED, against=_SESSION_UNIX, quantity="cpu", at_most=0.33),
                Goal(contender=_SHARED, against=_RAW_UNIX, quantity="cpu", at_most=0.40),
                Goal(contender=_SHARED, against=_GLOO, quantity="cpu", at_most=0.45),
                Goal(contender=_SHARED, against=_GLOO, quantity="speed", at_least=1.80),
                Goal(contender=_SHARED, against=_GRPC, quantity="cpu", at_most=0.08),
                Goal(contender=_SHARED, against=_GRPC, quantity="speed", at_least=10.0),
            ),
            tolerance=0.0,
        ),
        Case(
            name="1 KiB each way",
            unit="exchange",
            volume=1,
            volume_unit="exchange",
            settings={"floats": 256},
            goals=(
                Goal(contender=_SESSION, against=_RAW, quantity="cpu", at_most=5.2),
                Goal(contender=_SESSION, against=_RAW, quantity="wall", at_most=4.5),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="cpu", at_most=4.4),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="wall", at_most=4.5),
                Goal(contender=_SHARED, against=_RAW_UNIX, quantity="cpu", at_most=4.2),
                Goal(contender=_SHARED, against=_RAW_UNIX, quantity="wall", at_most=4.3),
            ),
            tolerance=0.0,
        ),
    ),
)
