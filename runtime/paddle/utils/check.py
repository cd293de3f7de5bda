"""Whether the installation works: ``paddle.utils.run_check``.

It must never leave anything behind. Guarantee: it returns where a model was trained by a step, and raises
else.
"""

from __future__ import annotations

import numpy as np

__all__ = ["run_check"]


def run_check() -> None:
    """Train a regression by one step, in programs and a scope of its own."""
    from paddle import _mode, optimizer, static
    from paddle._program.running import blas
    from paddle.nn.functional import mse_loss
    from paddle.utils import unique_name

    before = _mode.in_dynamic_mode()
    _mode.enable_static()
    main, startup, scope = static.Program(), static.Program(), static.global_scope().new_scope()
    with static.program_guard(main, startup), unique_name.guard(), static.scope_guard(scope):
        loss = mse_loss(static.nn.fc(static.data("x", [-1, 2]), 1), static.data("y", [-1, 1]))
        optimizer.SGD(0.1).minimize(loss)
        executor = static.Executor()
        executor.run(startup)
        fed = {"x": np.ones((3, 2), np.float32), "y": np.ones((3, 1), np.float32)}
        executor.run(main, feed=fed, fetch_list=[loss])
    if before:
        _mode.disable_static()
    print(blas.report())
    print("PaddlePaddle is installed successfully!")
