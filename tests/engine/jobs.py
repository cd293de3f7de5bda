"""Small jobs for the executor's tests, and an exchange that remembers what it was given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant, Normal
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope


class Recorder:
    """An exchange that remembers what it was given and applies plain SGD."""

    def __init__(self, scope: Scope, learning_rate: float = 0.1):
        self.scope, self.learning_rate = scope, learning_rate
        self.prefetched: list[dict[str, np.ndarray]] = []
        self.given: list[Mapping[str, np.ndarray | SparseRows]] = []
        self.samples: list[int] = []

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        self.prefetched.append({name: ids.copy() for name, ids in rows.items()})

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        self.given.append(dict(gradients))
        self.samples.append(samples)
        for name, gradient in gradients.items():
            dense = gradient.to_dense() if isinstance(gradient, SparseRows) else gradient
            self.scope.get(name)[...] -= self.learning_rate * dense
        return StepReport(version=len(self.given))


class Job:
    """A program with its scope, exchange and executor."""

    def __init__(self, builder: Builder, loss, train: bool = True, seed: int = 5):
        self.test = builder.program.clone(for_test=True)
        self.program, self.loss, self.scope = builder.program, loss, Scope()
        if train:
            append_exchange(self.program, append_backward(self.program, loss))
        initialize(self.program, self.scope, seed)
        self.exchange = Recorder(self.scope)
        self.executor = Executor(self.scope, self.exchange)

    def run(self, feed, fetch=None, **how):
        return self.executor.run(self.program, feed, [self.loss] if fetch is None else fetch, **how)


def embedded(sparse: bool = True) -> Job:
    b = Builder()
    left, right = b.data("left", (-1, 1), "int64"), b.data("right", (-1, 1), "int64")
    table = b.parameter("table", (10, 2), Normal(), sparse=sparse)
    looked = [b.op("lookup_table", {"is_sparse": sparse}, W=table, Ids=i) for i in (left, right)]
    w = b.parameter("w", (4, 1), Normal())
    return Job(b, b.op("reduce_sum", X=b.op("mul", X=b.op("concat", X=looked), Y=w)))


def linear() -> Job:
    b = Builder()
    w, bias = b.parameter("w", (2, 1), Constant()), b.parameter("b", (1,), Constant())
    prediction = b.op("elementwise_add", X=b.op("mul", X=b.data("x", (-1, 2)), Y=w), Y=bias)
    cost = b.op("square_error_cost", X=prediction, Label=b.data("y", (-1, 1)))
    return Job(b, b.op("mean", X=cost))


def noisy(train: bool = True) -> Job:
    b = Builder()
    w = b.parameter("w", (8, 8), Constant(1.0))
    hidden = b.op("mul", X=b.data("x", (-1, 8)), Y=w)
    dropped = [b.op("dropout", X=hidden) for _ in range(2)]
    job = Job(b, b.op("mean", X=b.op("sum", X=dropped)), train)
    job.dropped = dropped
    return job


IDS = {"left": np.array([[3], [7], [3]]), "right": np.array([[7], [0], [9]])}
