"""Plans: sharing memory changes no bit, whatever sizes happen to coincide, and gradients come out right.

Checks of single operators never see a plan, so a wrong permission to share memory shows only here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddle._engine import layout, plan
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant, Numpy
from paddle._engine.memory import Memory, Storage
from paddle._engine.program import Program, Variable
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope
from paddle._engine.single import Single


class Apart(Memory):
    """Memory in which everything lies by itself."""

    def view(self, name: str, of: str, nbytes: int, time: int) -> bool:
        return False

    def overwrite(self, name: str, of: str, nbytes: int, time: int, read: Sequence[str]) -> bool:
        return False

    def new(self, name: str, nbytes: int, time: int) -> None:
        self._storages[name] = Storage(nbytes, 0, 10**6)  # in use all the time


class Taker:
    """An exchange that keeps a copy of the gradients, then leaves nothing of the parameters or gradients."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.gradients: dict[str, np.ndarray] = {}

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        pass

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        for name, gradient in gradients.items():
            dense = gradient.to_dense() if isinstance(gradient, SparseRows) else gradient.copy()
            self.gradients[name] = dense
            self.scope.get(name).fill(np.nan)
        return StepReport(version=1)


def trained(program: Program, feed: Mapping[str, np.ndarray], fetch: Sequence[str], memory=Memory):
    """One step: what was fetched, and the gradients."""
    scope = Scope()
    initialize(program, scope, 0)
    taker = Taker(scope)
    with mock.patch.object(layout, "Memory", memory):
        fetched = Executor(scope, taker).run(program, feed, fetch)
    return dict(zip(fetch, fetched, strict=True)), taker.gradients


def assert_sharing_changes_nothing(
    program: Program, feed: Mapping[str, np.ndarray], fetch: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    shared, apart = trained(program, feed, fetch), trained(program, feed, fetch, Apart)
    for found, expected in zip(shared, apart, strict=True):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)
    return shared


def doubled(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values in float64, integers as they are."""
    return {name: v.astype(np.float64) if v.dtype.kind == "f" else v for name, v in values.items()}


def objective(program: Program, values: Mapping[str, np.ndarray], loss: str) -> float:
    """The loss by operators run one by one in float64: no plan, no pass, no shared memory."""
    known = doubled(values)
    for operator in program.main.operators:
        if operator.role == "forward":
            inputs = {slot: [known[name] for name in names] for slot, names in operator.inputs.items()}
            made = Single(operator.type, inputs, operator.attrs).forward()
            known |= doubled({name: made[slot] for slot, (name,) in operator.outputs.items()})
    return float(known[loss].sum())


def assert_is_the_slope(
    program: Program, loss: str, feed: Mapping[str, np.ndarray], gradients: Mapping[str, np.ndarray]
) -> None:
    """Each gradient against the central difference in one direction."""
    rng, scope, eps = np.random.default_rng(1), Scope(), 1e-5
    initialize(program, scope, 0)
    values = doubled({p.name: scope.get(p.name) for p in program.parameters()} | dict(feed))
    for name, gradient in gradients.items():
        direction = rng.normal(size=gradient.shape)
        above, below = (
            objective(program, values | {name: values[name] + step * direction}, loss) for step in (eps, -eps)
        )
        slope, terms = (above - below) / (2 * eps), gradient * direction
        assert abs(slope - terms.sum()) <= 1e-3 * (1 + np.abs(terms).sum()), (name, slope, terms.sum())


class Network:
    """A network that grows by choices. All sizes are small, so that many of them coincide.

    Parameters of one kind and shape are one parameter: most are used several times.
    """

    UNARY = ("tanh", "sigmoid", "softsign", "scale", "softmax")
    BINARY = ("elementwise_add", "elementwise_sub", "elementwise_mul")

    def __init__(self, batch: int, width: int, seed: int):
        self.b, self.rng, self.batch = Builder(), np.random.default_rng(seed), batch
        self.feed: dict[str, np.ndarray] = {}
        self.made = [self.data((batch, width))]
        self.costs: list[Variable] = []

    def data(self, shape: tuple[int, ...], below: int | None = None) -> Variable:
        name = f"data{len(self.feed)}"
        value = self.rng.normal(size=shape).astype(np.float32) if below is None else None
        self.feed[name] = self.rng.integers(0, below, shape) if value is None else value
        return self.b.data(name, shape, "float32" if below is None else "int64")

    def parameter(self, kind: str, *shape: int, static: bool = False) -> Variable:
        name = f"{kind}{'x'.join(map(str, shape))}{'.static' * static}"
        value = np.random.default_rng(shape).normal(size=shape).astype(np.float32)
        return self.b.parameter(name, shape, Numpy(value), is_static=static)

    def grow(self, kind: str, i: int, j: int, size: int) -> None:
        x = self.made[i % len(self.made)]
        self.made.append(getattr(self, kind)(x, j, size))

    def like(self, x: Variable, j: int) -> Variable:
        """Something made earlier, of x's shape: x itself if need be."""
        same = [each for each in self.made if each.shape == x.shape]
        return same[j % len(same)]

    def lookup(self, x: Variable, j: int, size: int) -> Variable:
        """A table whose rows may be as many as the lookups. Its gradients may be rows, dense or both."""
        table, ids = self.parameter("table", j % 4 + 1, size), self.data((self.batch, 1), j % 4 + 1)
        return self.b.op("lookup_table", {"is_sparse": bool(j & 4)}, W=table, Ids=ids)

    def fc(self, x: Variable, j: int, size: int) -> Variable:
        return self.b.op("mul", X=x, Y=self.parameter("w", x.shape[1], size, static=j % 4 == 0))

    def bias(self, x: Variable, j: int, size: int) -> Variable:
        height, width = x.shape
        shape = [(width,), (1, width), (height, 1), (1,), (height, width)][j % 5]
        return self.b.op(self.BINARY[size % 3], X=x, Y=self.parameter("bias", *shape))

    def pair(self, x: Variable, j: int, size: int) -> Variable:
        return self.b.op("softsign", X=self.b.op(self.BINARY[size % 3], X=x, Y=self.like(x, j)))

    def total(self, x: Variable, j: int, size: int) -> Variable:
        return self.b.op("sum", X=[x, self.like(x, j), x][:size])

    def joined(self, x: Variable, j: int, size: int) -> Variable:
        return self.b.op("concat", {"axis": j % 2}, X=[x, self.like(x, j), x][: size % 3 + 1])

    def reshaped(self, x: Variable, j: int, size: int) -> Variable:
        height, width = x.shape
        source = self.parameter("w", height, width) if size == 1 else x
        shape = [(width, height), (height * width, 1), (1, height * width), (height, width)][j % 4]
        return self.b.op("reshape", {"shape": shape}, X=source)

    def unary(self, x: Variable, j: int, size: int) -> Variable:
        return self.b.op(self.UNARY[j % len(self.UNARY)], X=x)

    def dropped(self, x: Variable, j: int, size: int) -> Variable:
        share = {"dropout_prob": 0.25, "is_test": True} if j % 2 else {"dropout_prob": 0.0}
        return self.b.op("dropout", share, X=x)

    def classified(self, x: Variable, j: int, size: int) -> Variable:
        probability = self.b.op("softmax", X=x)
        label = self.data((x.shape[0], 1), x.shape[1])
        self.costs.append(self.b.op("reduce_sum", X=self.b.op("cross_entropy", X=probability, Label=label)))
        return probability if j % 2 else x

    def loss(self) -> Variable:
        """Distances of results from data and from each other, and all other costs, one of them constant."""
        last, some = self.made[-1], (self.made[1], *self.made[-3:])
        distances = [*((each, self.data(each.shape)) for each in some), (last, self.like(last, 0))]
        for place, (each, other) in enumerate(distances):
            cost = self.b.op("square_error_cost", {"per_sample": place % 2 == 0}, X=each, Label=other)
            self.costs.append(self.b.op("reduce_sum", X=cost))
        self.costs.append(
            self.b.op("reduce_sum", X=self.b.op("fill_constant", {"shape": (1,), "value": 2.0}))
        )
        return self.b.op("sum", X=self.costs)


KINDS = (
    "lookup",
    "fc",
    "bias",
    "pair",
    "total",
    "joined",
    "reshaped",
    "unary",
    "dropped",
    "classified",
)
SIZE = st.integers(1, 4)
CHOICE = st.tuples(st.sampled_from(KINDS), st.integers(0, 19), st.integers(0, 19), SIZE)


@settings(deadline=None, max_examples=200)
@given(st.lists(CHOICE, min_size=1, max_size=10), SIZE, SIZE, st.integers(0, 99), st.booleans())
@example([("lookup", 0, 2, 3), ("lookup", 0, 2, 3)], 3, 1, 0, False)  # as many lookups as rows, twice
@example([("reshaped", 0, 0, 1), ("unary", 1, 0, 1)], 2, 2, 0, True)  # a view of a parameter, fetched
def test_random_networks_of_coinciding_sizes(
    choices: Sequence[tuple[str, int, int, int]], batch: int, width: int, seed: int, fetch_all: bool
) -> None:
    network = Network(batch, width, seed)
    for choice in [("fc", 0, 1, width), *choices]:  # at least one parameter is trained
        network.grow(*choice)
    loss, program = network.loss(), network.b.program
    results = [each.name for each in (*network.made, *network.costs)]
    append_exchange(program, append_backward(program, loss))
    picked = [name for k, name in enumerate(results) if fetch_all or (seed + k) % 4 == 0]
    fetched, gradients = assert_sharing_changes_nothing(program, network.feed, [loss.name, *picked])
    assert gradients and not any(np.isnan(value).any() for value in fetched.values())
    assert_is_the_slope(program, loss.name, network.feed, gradients)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("batch", [1, 2, 3, 4])
def test_a_table_used_twice_counts_every_lookup(batch: int, sparse: bool) -> None:
    b = Builder()
    table = b.parameter("table", (3, 2), Constant(0.5), sparse=sparse)
    words = [b.data(f"w{i}", (-1, 1), "int64") for i in range(2)]
    looked = [b.op("lookup_table", {"is_sparse": sparse}, W=table, Ids=word) for word in words]
    loss = b.op("reduce_sum", X=b.op("concat", X=looked))
    append_exchange(b.program, append_backward(b.program, loss))
    feed = {f"w{i}": (np.arange(batch)[:, None] + i) % 3 for i in range(2)}
    counts = np.bincount(np.concatenate([feed["w0"], feed["w1"]])[:, 0], minlength=3)
    _, gradients = assert_sharing_changes_nothing(b.program, feed, [loss.name])
    np.testing.assert_array_equal(gradients["table"], counts[:, None] * np.ones((1, 2)))


def test_a_fetched_view_of_a_parameter_holds_what_the_step_computed_with() -> None:
    b = Builder()
    flat = b.op("reshape", {"shape": (4, 1)}, X=b.parameter("w", (2, 2), Constant(3.0)))
    again = b.op("reshape", {"shape": (1, 4)}, X=flat)
    loss = b.op("reduce_sum", X=b.op("square", X=again))
    append_exchange(b.program, append_backward(b.program, loss))
    for fetch in ([flat.name], [again.name], [flat.name, again.name, loss.name]):
        fetched, _ = assert_sharing_changes_nothing(b.program, {}, fetch)
        assert all(value.max() in (3.0, 36.0) for value in fetched.values())


def test_an_empty_batch_has_gradient_zero() -> None:
    """Empty arrays may begin anywhere, also where another one does that must not be taken for them."""
    b = Builder()
    w, biases = b.parameter("w", (2, 2), Constant(1.0)), [b.parameter(n, (2,), Constant(1.0)) for n in "cd"]
    x = b.op("mul", X=b.data("x", (-1, 2)), Y=w)
    for bias in biases:
        x = b.op("tanh", X=b.op("elementwise_add", X=x, Y=b.op("scale", X=bias)))
    append_exchange(b.program, append_backward(b.program, b.op("reduce_sum", X=x)))
    _, gradients = assert_sharing_changes_nothing(b.program, {"x": np.ones((0, 2), np.float32)}, [x.name])
    assert sorted(gradients) == ["c", "d", "w"]
    assert all((gradient == 0).all() for gradient in gradients.values())


def test_what_may_be_shared_is_not_copied() -> None:
    """A sparse gradient is the array that the backward pass made; reshapes and sums cost nothing."""
    b = Builder()
    table, w = b.parameter("table", (3, 2), Constant(1.0), sparse=True), b.parameter("w", (6,), Constant(1.0))
    looked = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=b.data("ids", (-1, 1), "int64"))
    both = b.op("elementwise_add", X=looked, Y=b.op("reshape", {"shape": (3, 2)}, X=b.op("tanh", X=w)))
    loss = b.op("reduce_sum", X=b.op("square", X=b.op("sum", X=[both, both])))
    append_exchange(b.program, append_backward(b.program, loss))
    scope = Scope()
    initialize(b.program, scope, 0)
    made = plan.make_plan(b.program, {"ids": (3, 1)}, [loss.name], scope, {}, {})
    busy = {operator.type for _, operator in made.steps}
    idle = {operator.type for operator in b.program.main.operators} - busy
    assert idle == {"reshape", "reshape_grad", "elementwise_add_grad", "sum_grad", "lookup_table_grad"}


def test_gradients_are_computed_where_the_exchange_has_room_for_them() -> None:
    """By parameter; those without room, and those of tables, anywhere else. All plans have the same."""
    b = Builder()
    table, w = b.parameter("table", (3, 2), Constant(1.0), sparse=True), b.parameter("w", (2,), Constant(1.0))
    v = b.parameter("v", (2,), Constant(1.0))
    looked = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=b.data("ids", (-1, 1), "int64"))
    total = b.op("sum", X=[b.op("reshape", {"shape": (-1, 2)}, X=each) for each in (looked, w, v)])
    loss = b.op("reduce_sum", X=b.op("square", X=total))
    append_exchange(b.program, append_backward(b.program, loss))
    scope = Scope()
    initialize(b.program, scope, 0)
    room = {"w": np.empty(2, np.float32)}
    taken: list[Mapping[str, np.ndarray | SparseRows]] = []
    taker = Taker(scope)
    taker.step = lambda given, samples, rate: taken.append(given) or StepReport(1)
    executor = Executor(scope, taker, room)
    for fetch in ([], [loss]):
        executor.run(b.program, {"ids": np.zeros((1, 1), np.int64)}, fetch)
    assert taken[0]["w"] is taken[1]["w"] is room["w"]
    assert taken[0]["v"] is taken[1]["v"]
    assert room["w"].tolist() == [6.0, 6.0] == taken[0]["v"].tolist()
