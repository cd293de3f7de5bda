"""``python -m benchmarks NAME [--quick] [--case TEXT] [--json FILE] [--plot PNG] [--paddle PYTHON] ...``,
from the root.

Exit status: 0: no goal was missed but those that are known to be, which the table shows with the reason; 1:
one was, or one of these by more than is known, or a contender failed; 2: a wrong call.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.contest import FULL, QUICK, Outcome, Report, hold
from benchmarks.document import document
from benchmarks.environment import contender_environment, pins
from benchmarks.machine import held_to, machine_facts
from benchmarks.table import header, libraries, outcome_table

NAMES = (  # each a package here with a BENCHMARK
    *("transport", "models", "start", "input", "rules", "tables", "wire", "overlap"),
    *("safety", "dispatch", "ctr", "profile"),
)
STUDIES = ("scale", "memory", "launch")  # no contests: each a package here with a module ``study``


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark, print its tables, and say by the exit status whether it met its goals."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.name in STUDIES:
        if options.case:
            parser.error(f"{options.name} is one study, without cases to choose from")
        return _study(options)
    if options.plot:
        parser.error(f"{options.name} has no --plot")
    benchmark = importlib.import_module(f"benchmarks.{options.name}").BENCHMARK
    if options.case:
        benchmark = chosen(benchmark, options.case)
    if not benchmark.cases:
        parser.error(f"{options.name} has no case whose name has {' or '.join(options.case)} in it")
    machine, dropped = machine_facts(), pins(os.environ)
    benchmark = benchmark.on(held_to(machine))
    print(header(f"{benchmark.name}: {benchmark.title}", machine, dropped), flush=True)
    pace = QUICK if options.quick else replace(FULL, rounds=benchmark.rounds)
    named = {"paddle": options.paddle, "paddle18": options.paddle18}
    pythons = {name: python for name, python in named.items() if python}
    report = hold(benchmark, pace, contender_environment(os.environ), _show, pythons)
    if options.json:
        options.json.write_text(json.dumps(document(report, machine, dropped), indent=2) + "\n")
    print(f"\n{_summary(report)}", flush=True)
    return 0 if report.met else 1


def _summary(report: Report) -> str:
    known = f", but for {report.known_misses} that are known to be missed" if report.known_misses else ""
    stale = f"; {report.stale_excuses} met, no longer lacking" if report.stale_excuses else ""
    return (f"all goals met{known}" if report.met else "not all goals met") + stale


def chosen(benchmark: Benchmark, texts: Sequence[str]) -> Benchmark:
    """The benchmark of the cases whose names have one of these texts in them, none of which is too long."""
    cases = [case for case in benchmark.cases if any(text in case.name for text in texts)]
    return replace(benchmark, cases=tuple(replace(case, is_long=False) for case in cases))


def _study(options: argparse.Namespace) -> int:
    study = importlib.import_module(f"benchmarks.{options.name}.study")
    missing = study.missing_for(options.plot)
    if missing:
        print(missing, file=sys.stderr)
        return 2
    machine = machine_facts()
    print(header(study.TITLE, machine, pins(os.environ)), flush=True)
    size = study.QUICK if options.quick else study.FULL
    met = study.study(size, machine, options.json, options.plot)
    print("\nall goals met" if met else "\nnot all goals met", flush=True)
    return 0 if met else 1


def _show(report: Report, outcome: Outcome) -> None:
    if len(report.outcomes) == 1:
        print(libraries(report))
    print("\n" + outcome_table(report, outcome), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios measured in one run.")
    parser.add_argument("name", choices=(*NAMES, *STUDIES), help="the benchmark to run")
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter rounds: under 50 s on two busy cores"
    )
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="TEXT",
        help="only cases whose name has this in it, long ones too; may be given more than once",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all samples to FILE")
    parser.add_argument(
        "--paddle",
        metavar="PYTHON",
        default=os.environ.get("PADDLE_PEER_PYTHON", ""),
        help="models, start, ctr: a Python that has PaddlePaddle 2.6 itself (or PADDLE_PEER_PYTHON)",
    )
    parser.add_argument(
        "--paddle18",
        metavar="PYTHON",
        default=os.environ.get("PADDLE18_PEER_PYTHON", ""),
        help="ctr: a Python that has PaddlePaddle 1.8.5 itself (or PADDLE18_PEER_PYTHON)",
    )
    parser.add_argument("--plot", type=Path, metavar="PNG", help="scale: also draw the prediction")
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
