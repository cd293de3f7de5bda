"""What continuous integration may lack, and that nothing else that a test lacks is passed over there.

A test that is skipped looks like one that passed. Elsewhere a machine may lack what it likes, and pytest says
what was left out; with CI set, that is a failure, but for what is listed here.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

MAY_LACK = (
    "PyTorch is not installed",  # 'paddle-fabric[peers]', too big to ask of everyone
    "this machine has no IPv6",
    "this processor multiplies no matrices by itself",  # AMX: elsewhere other loops are taken, and tested
    "PADDLE_DATASET_HOME has no",  # real data sets: none is downloaded for tests
    "cables of containers cannot be made long",  # the same tests have namespaces, where they can
    "containers have no disk of their own",
    "not all of them were run, or one of them failed",  # of a summary: those that failed say so themselves
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Of each test."""
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """Of each file, which may leave itself out."""
    return _judged((yield))


def _judged(report: Any) -> Any:
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(words in reason for words in MAY_LACK):
        report.outcome = "failed"
        report.longrepr = f"{reason}\nWith CI set nothing is left out but what tests/leaving_out.py lists."
    return report
