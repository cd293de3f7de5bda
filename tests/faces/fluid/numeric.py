"""Gradients of a whole program against central differences of what it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import paddle.fluid as fluid

Feed = Mapping[str, Any]


def assert_gradients(
    build: Callable[[], Any], feed: Feed, names: Sequence[str], step: float = 1e-2, seed: int = 3
) -> None:
    """``build`` writes a loss; its gradients by all parameters, which have these ``names``."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = seed
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.executor.Scope()):
        with fluid.unique_name.guard():
            loss = build()
            forward = main.clone()
            pairs = fluid.backward.append_backward(loss)
        assert sorted(parameter.name for parameter, _ in pairs) == sorted(names)
        exe = fluid.Executor()
        exe.run(startup)
        found = exe.run(main, feed=feed, fetch_list=[gradient for _, gradient in pairs])
        for (parameter, _), gradient in zip(pairs, found, strict=True):
            wanted = _slope(exe, forward, feed, loss.name, parameter.name, step)
            most = max(1e-3, float(np.abs(wanted).max()))
            np.testing.assert_allclose(
                gradient, wanted, rtol=2e-2, atol=5e-3 * most, err_msg=f"of {parameter.name}"
            )


def _slope(exe: Any, program: Any, feed: Feed, loss: str, name: str, step: float) -> np.ndarray:
    tensor = fluid.global_scope().find_var(name).get_tensor()
    value = np.array(tensor)
    found = np.zeros_like(value)
    for at in np.ndindex(*value.shape):
        sides = []
        for moved in (step, -step):
            other = value.copy()
            other[at] += moved
            tensor.set(other, None)
            (result,) = exe.run(program, feed=feed, fetch_list=[loss])
            sides.append(float(np.asarray(result).sum()))
        found[at] = (sides[0] - sides[1]) / (2 * step)
    tensor.set(value, None)
    return found
