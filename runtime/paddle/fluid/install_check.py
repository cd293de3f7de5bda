"""Whether this installation computes: a regression of two steps, in programs and a scope of its own.

It must never touch what a program has written. Guarantee: it prints that all is well, or raises.
"""

from __future__ import annotations

import numpy as np

from paddle._program import unique_name
from paddle._program.executor import Executor
from paddle._program.guards import program_guard
from paddle._program.program import Program
from paddle._program.scope import Scope, scope_guard

__all__ = ["run_check"]


def run_check() -> None:
    """Train a tiny network and say that it went well."""
    from paddle.fluid import layers, optimizer

    print("Running Verify Fluid Program ... ")
    main, startup = Program(), Program()
    with program_guard(main, startup), unique_name.guard(), scope_guard(Scope()):
        x = layers.data(name="inp", shape=[2], dtype="float32")
        loss = layers.mean(layers.fc(x, 3))
        optimizer.SGD(learning_rate=0.01).minimize(loss)
        exe = Executor()
        exe.run(startup)
        losses = [float(exe.run(main, {"inp": np.ones((2, 2), np.float32)}, [loss])[0][0]) for _ in range(2)]
    if not losses[1] < losses[0]:
        raise RuntimeError(f"a loss that has to fall went from {losses[0]} to {losses[1]}")
    print("Your Paddle Fluid works well on SINGLE GPU or CPU.")
    print("Your Paddle Fluid is installed successfully! Let's start deep Learning with Paddle Fluid now")
