"""What is loaded while shards are waited for: looked at in processes that have loaded nothing yet."""

from __future__ import annotations

import subprocess
import sys

from tests.waiting import PATIENCE_S

LOADS = """
import sys, threading
from paddle._engine.exchange import ParameterSpec
from paddle._pserver.trainer.meantime import loading
{first}
try:
    with loading([ParameterSpec(name="values", shape=(8, 4), sparse={sparse})]):
        {inside}
finally:
    print("numba.core.dispatcher" in sys.modules, threading.active_count())
"""


def said(*, sparse: bool, first: str = "", inside: str = "pass") -> tuple[int, list[str]]:
    program = LOADS.format(sparse=sparse, first=first, inside=inside)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S)
    return done.returncode, done.stdout.split()


def test_kernels_of_rows_are_there_when_the_block_is_left() -> None:
    assert said(sparse=True) == (0, ["True", "1"])


def test_who_trains_no_table_loads_nothing() -> None:
    assert said(sparse=False) == (0, ["False", "1"])


def test_who_does_not_meet_its_shards_leaves_nobody_behind() -> None:
    assert said(sparse=True, inside="sys.exit(7)") == (7, ["True", "1"])


def test_what_cannot_be_loaded_is_for_the_first_step_to_say() -> None:
    assert said(sparse=True, first="sys.modules['numba'] = None") == (0, ["False", "1"])
