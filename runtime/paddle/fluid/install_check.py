"""Whether this installation computes: a regression of two steps, in programs and a scope of its own.

It must never touch what a program has written. Guarantee: it prints that all is well, or raises.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.guards import default_startup_program
from paddle._program.description.written import fresh
from paddle._program.running import blas
from paddle._program.running.executor import Executor

__all__ = ["run_check"]


def run_check() -> None:
    """Train a tiny network and say that it went well."""
    from paddle.fluid import layers, optimizer

    print("Running Verify Fluid Program ... ")
    with fresh():
        x = layers.data(name="inp", shape=[2], dtype="float32")
        loss = layers.mean(layers.fc(x, 3))
        optimizer.SGD(learning_rate=0.01).minimize(loss)
        exe = Executor()
        exe.run(default_startup_program())
        feed = {"inp": np.ones((2, 2), np.float32)}
        losses = [float(exe.run(feed=feed, fetch_list=[loss])[0][0]) for _ in range(2)]
    if not losses[1] < losses[0]:
        raise RuntimeError(f"a loss that has to fall went from {losses[0]} to {losses[1]}")
    print(blas.report())
    print("Your Paddle Fluid works well on SINGLE GPU or CPU.")
    print("Your Paddle Fluid is installed successfully! Let's start deep Learning with Paddle Fluid now")
