"""``transport``: a gradient exchanged for parameters over loopback, a real session against bare sockets."""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender

_RAW = "raw TCP"

BENCHMARK = Benchmark(
    name="transport",
    title="a gradient out, one step applied, parameters back; over loopback TCP to a server process",
    contenders=(Contender(_RAW, "benchmarks.transport.raw"),),
    cases=(
        Case(
            name="64 MiB each way",
            unit="exchange",
            volume=2 * (64 << 20) / 1e9,
            volume_unit="GB",
            settings={"floats": 16 << 20},
            tolerance=0.0,
        ),
        Case(
            name="1 KiB each way",
            unit="exchange",
            volume=1,
            volume_unit="exchange",
            settings={"floats": 256},
            tolerance=0.0,
        ),
    ),
)
