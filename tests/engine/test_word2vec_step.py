"""One training step of the word2vec model, the whole engine against the same model written out in numpy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant, Normal
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope
from tests.waiting import PATIENCE_S

WORDS, WIDTH, HIDDEN, CONTEXT = 50, 8, 16, 4


class Collector:
    """An exchange that keeps the gradients of the last step and changes nothing."""

    def prefetch(self, rows) -> None:
        self.rows = rows

    def step(self, gradients, samples, *, rate=None) -> StepReport:
        self.gradients = {
            name: g.to_dense() if isinstance(g, SparseRows) else g.copy() for name, g in gradients.items()
        }
        return StepReport(0)


def model(drop_rate: float):
    b = Builder()
    words = [b.data(f"word{i}", (-1, 1), "int64") for i in range(CONTEXT)]
    table = b.parameter("table", (WORDS, WIDTH), Normal(0, 0.5), sparse=True)
    x = b.op("concat", X=[b.op("lookup_table", {"is_sparse": True}, W=table, Ids=w) for w in words])

    def fc(x, size: int, name: str, act: str):
        w = b.parameter(f"{name}.w", (x.shape[1], size), Normal(0, 0.3))
        bias = b.parameter(f"{name}.b", (size,), Constant(0.1))
        return b.op(act, X=b.op("elementwise_add", X=b.op("mul", X=x, Y=w), Y=bias))

    hidden = b.ops("dropout", {"dropout_prob": drop_rate}, X=fc(x, HIDDEN, "hidden", "sigmoid"))
    probability = fc(hidden["Out"], WORDS, "out", "softmax")
    label = b.data("next", (-1, 1), "int64")
    cost = b.op("reduce_sum", X=b.op("cross_entropy", X=probability, Label=label))
    error = b.op("reduce_sum", X=b.op("classification_error", X=probability, Label=label))
    append_exchange(b.program, append_backward(b.program, cost))
    return b.program, [cost, error, hidden["Mask"]]


def by_hand(p: dict[str, np.ndarray], feed: dict[str, np.ndarray], mask: np.ndarray):
    ids, label = [feed[f"word{i}"][:, 0] for i in range(CONTEXT)], feed["next"][:, 0]
    x = np.concatenate([p["table"][i] for i in ids], 1)
    h = 1 / (1 + np.exp(-(x @ p["hidden.w"] + p["hidden.b"])))
    z = h * mask @ p["out.w"] + p["out.b"]
    probability = np.exp(z - z.max(1, keepdims=True))
    probability /= probability.sum(1, keepdims=True)
    samples = np.arange(len(label))
    cost, error = -np.log(probability[samples, label]).sum(), (probability.argmax(1) != label).sum()
    dz = probability.copy()
    dz[samples, label] -= 1
    da = (dz @ p["out.w"].T) * mask * h * (1 - h)
    dx, table = da @ p["hidden.w"].T, np.zeros_like(p["table"])
    for i, each in enumerate(ids):
        np.add.at(table, each, dx[:, i * WIDTH : (i + 1) * WIDTH])
    gradients = {"out.w": (h * mask).T @ dz, "out.b": dz.sum(0), "hidden.w": x.T @ da, "hidden.b": da.sum(0)}
    return cost, error, gradients | {"table": table}


@pytest.mark.parametrize("drop_rate", [0.0, 0.5])
@pytest.mark.parametrize("samples", [1, 32])
def test_the_engine_agrees_with_numpy(drop_rate: float, samples: int, *, rate: float | None = None) -> None:
    program, fetch = model(drop_rate)
    scope, exchange, rng = Scope(), Collector(), np.random.default_rng(samples)
    initialize(program, scope, 1)
    names = [f"word{i}" for i in range(CONTEXT)] + ["next"]
    feed = {name: rng.integers(0, WORDS, (samples, 1)) for name in names}
    cost, error, mask = Executor(scope, exchange).run(program, feed, fetch)
    values = {name: array.astype(np.float64) for name, array in scope.items()}
    expected_cost, expected_error, expected = by_hand(values, feed, mask)
    np.testing.assert_allclose(cost, [expected_cost], rtol=1e-5)
    assert error[0] == expected_error
    assert set(exchange.gradients) == set(expected)
    for name, gradient in exchange.gradients.items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_building_and_fitting_a_line_loads_no_compiler() -> None:
    """numba takes longer to import than a small job takes to run."""
    code = (
        "import sys, paddle._engine.executor, paddle._engine.autodiff, paddle._engine.ops, paddle.testing\n"
        "assert 'numba' not in sys.modules"
    )
    runtime = Path(__file__).parents[2] / "runtime"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=runtime, timeout=PATIENCE_S)
