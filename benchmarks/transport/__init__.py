"""``transport``: a gradient exchanged for parameters on one machine, a real session against bare sockets."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal
from benchmarks.samples import Quantity

_RAW, _CHECKED, _SESSION = "raw TCP", "raw TCP, xxh3", "session, TCP"
_RAW_UNIX, _CHECKED_UNIX, _SESSION_UNIX = "raw unix", "raw unix, xxh3", "session, unix"
_SHARED, _PUSH, _ARITHMETIC = "shared memory", "shared memory, push", "arithmetic alone"
_PUSH_UNIX = "session, unix, push"
_GLOO, _GRPC = "gloo", "grpc"
_PEERS = "pip install -e '.[peers]'"

# Why aims are not reached; docs/benchmarks.md says more.
_CHECKS = "both sides compute a checksum of every byte, which the bare socket does not"
_BARE = "gloo is a bare socket, too"
_LEVEL = "it is within a tenth of it, above or below"
_GRPCS = "both spend time in the same socket, and gRPC not all of its"
_PYTHON = "four system calls against these and some 300 calls of Python"
_COPY = "a socket's copies are three to four times the arithmetic, and no more"
_FREE = "where a processor hashes faster than it copies, the checksum that is saved costs nothing"


def _aim(contender: str, against: str, quantity: Quantity, bound: float, lacks: str, reached: float) -> Goal:
    """One that is not reached on every processor; ``reached``: on the slowest of those that were tried."""
    most, least = (None, bound) if quantity == "speed" else (bound, None)
    return Goal(
        contender=contender,
        against=against,
        quantity=quantity,
        at_most=most,
        at_least=least,
        lacks=lacks,
        reached=reached,
    )


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
        Contender(_PUSH_UNIX, "benchmarks.transport.session_unix_push"),
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
                _aim(_SESSION, _RAW, "speed", 0.95, _CHECKS, 0.77),
                _aim(_SESSION, _RAW, "cpu", 1.15, _CHECKS, 1.38),
                Goal(contender=_SESSION, against=_CHECKED, quantity="speed", at_least=0.95),
                Goal(contender=_SESSION, against=_CHECKED, quantity="cpu", at_most=1.12),
                _aim(_SESSION_UNIX, _RAW_UNIX, "speed", 0.95, _LEVEL, 0.85),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="cpu", at_most=1.15),
                _aim(_SESSION_UNIX, _CHECKED_UNIX, "cpu", 0.90, _FREE, 1.20),
                Goal(contender=_SESSION_UNIX, against=_SESSION, quantity="cpu", at_most=0.85),
                Goal(contender=_PUSH, against=_ARITHMETIC, quantity="cpu", at_most=1.20),
                Goal(contender=_PUSH, against=_ARITHMETIC, quantity="wall", at_most=1.20),
                _aim(_PUSH, _PUSH_UNIX, "speed", 5.0, _COPY, 2.2),
                Goal(contender=_PUSH, against=_PUSH_UNIX, quantity="cpu", at_most=0.32),
                Goal(contender=_PUSH, against=_SESSION_UNIX, quantity="speed", at_least=5.0),
                Goal(contender=_PUSH, against=_SESSION_UNIX, quantity="cpu", at_most=0.17),
                Goal(contender=_SHARED, against=_ARITHMETIC, quantity="cpu", at_most=2.50),
                Goal(contender=_SHARED, against=_SESSION_UNIX, quantity="cpu", at_most=0.33),
                Goal(contender=_SHARED, against=_RAW_UNIX, quantity="cpu", at_most=0.40),
                Goal(contender=_SHARED, against=_GLOO, quantity="cpu", at_most=0.45),
                Goal(contender=_SHARED, against=_GLOO, quantity="speed", at_least=1.80),
                Goal(contender=_SHARED, against=_GRPC, quantity="cpu", at_most=0.08),
                Goal(contender=_SHARED, against=_GRPC, quantity="speed", at_least=10.0),
                _aim(_SESSION_UNIX, _GLOO, "speed", 1.80, _BARE, 0.80),
                _aim(_SESSION_UNIX, _GRPC, "speed", 10.0, _GRPCS, 4.2),
                _aim(_SESSION, _GLOO, "speed", 1.80, _BARE, 0.60),
                _aim(_SESSION, _GRPC, "speed", 10.0, _GRPCS, 3.2),
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
                _aim(_SESSION, _RAW, "wall", 1.3, _PYTHON, 4.5),
                Goal(contender=_SESSION_UNIX, against=_RAW_UNIX, quantity="cpu", at_most=4.4),
                _aim(_SESSION_UNIX, _RAW_UNIX, "wall", 1.3, _PYTHON, 4.5),
                Goal(contender=_SHARED, against=_RAW_UNIX, quantity="cpu", at_most=4.2),
                _aim(_SHARED, _RAW_UNIX, "wall", 1.3, _PYTHON, 4.3),
            ),
            tolerance=0.0,
        ),
    ),
)
