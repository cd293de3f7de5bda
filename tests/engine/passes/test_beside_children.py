"""Plans of processes that tests start are compared, too, and what differs fails the test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import paddle
from tests.plain import children

PROGRAM = """
import os
from dataclasses import replace
import numpy as np
import paddle.fluid as fluid
from paddle._engine import passes

def bend(operators, setting):
    return [replace(each, type="exp") if each.type == "tanh" else each for each in operators]

{wrong}
out = fluid.layers.tanh(fluid.layers.data("x", [3]))
fluid.Executor().run(feed={{"x": np.ones((2, 3), np.float32)}}, fetch_list=[out])
os._exit(5)  # as who is killed
"""


def run(wrong: str) -> list[str]:
    """What a process has said of its plans."""
    environ = {"PYTHONPATH": str(Path(paddle.__file__).parents[1])}
    command = [sys.executable, "-P", "-c", PROGRAM.format(wrong=wrong)]
    done = subprocess.run(command, env=children.watched(environ), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    return children.take()


def test_a_wrong_pass_in_a_process_of_its_own_is_found() -> None:
    (said,) = run('passes.PASSES = {"wrong": bend}')
    assert said.startswith("what is fetched of tanh") and "differs in 6 of 6" in said
    assert children.take() == []


def test_of_right_ones_nothing_is_said() -> None:
    assert run("") == []
