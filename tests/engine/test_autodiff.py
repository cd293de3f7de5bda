"""Autodiff: whole programs against central differences, and the programs it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import NotDifferentiable, ShapeError
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal, Numpy
from paddle._engine.program import Program, Variable
from paddle._engine.scope import Scope


def check(program: Program, loss: Variable, feed: dict[str, np.ndarray], rtol: float = 3e-3) -> None:
    """Gradients of all parameters against central differences of the program's own loss."""
    rng, scope = np.random.default_rng(11), Scope()
    initialize(program, scope, seed=3)
    forward = program.clone()
    pairs = append_backward(program, loss)
    executor = Executor(scope)
    gradients = executor.run(program, feed, [gradient for _, gradient in pairs])
    for (parameter, _), gradient in zip(pairs, gradients, strict=True):
        array = scope.get(parameter.name)
        for at in [np.unravel_index(i, array.shape) for i in rng.permutation(array.size)[:6]]:
            before, slopes = array[at], []
            for eps in (1e-2, -1e-2):
                array[at] = before + eps
                slopes.append(float(executor.run(forward, feed, [loss])[0].astype(np.float64).sum()))
            array[at] = before
            slope = (slopes[0] - slopes[1]) / 2e-2
            assert abs(slope - gradient[at]) <= rtol * max(1, np.abs(gradient).max()), (parameter.name, at)


def dense(b: Builder, x: Variable, size: int, name: str, act: str) -> Variable:
    w = b.parameter(f"{name}.w", (x.shape[1], size), Normal(0, 0.5))
    bias = b.parameter(f"{name}.b", (size,), Normal(0, 0.5))
    return b.op(act, X=b.op("elementwise_add", X=b.op("mul", X=x, Y=w), Y=bias))


def test_the_error_that_goes_back_through_a_variable_is_bounded_and_its_other_uses_are_not() -> None:
    b = Builder()
    x = b.data("x", (-1, 2))
    inner = b.op("tanh", X=b.op("mul", X=x, Y=b.parameter("v", (2, 2), Numpy(np.eye(2)))))
    clipped = b.op("clip_error", {"min": -0.25, "max": 0.25}, X=inner)
    weights = np.array([[3.0, -3.0], [0.1, -0.1]])
    outer = b.op("mul", X=clipped, Y=b.parameter("w", (2, 2), Numpy(weights.T)))
    loss = b.op("reduce_sum", X=b.op("sum", X=[outer, inner]))
    scope = Scope()
    initialize(b.program, scope, seed=1)
    pairs = append_backward(b.program, loss)
    given = np.array([[0.5, -1.0], [2.0, 0.0]], np.float32)
    names = [parameter.name for parameter, _ in pairs]
    found = dict(zip(names, Executor(scope).run(b.program, {"x": given}, [g for _, g in pairs]), strict=True))
    hidden = np.tanh(given)
    error = np.clip(np.ones((2, 2)) @ weights, -0.25, 0.25) + 1.0  # that of the other use
    np.testing.assert_allclose(found["v"], given.T @ (error * (1 - hidden**2)), rtol=1e-5)
    np.testing.assert_allclose(found["w"], hidden.T @ np.ones((2, 2)), rtol=1e-5)


def test_a_network_with_shared_tables_and_branches() -> None:
    b, rng = Builder(), np.random.default_rng(5)
    left, right = b.data("left", (-1, 1), "int64"), b.data("right", (-1, 1), "int64")
    table = b.parameter("table", (7, 3), Normal(0, 1))
    looked = [b.op("lookup_table", {"is_sparse": s}, W=table, Ids=i) for s, i in ((1, left), (0, right))]
    x = b.op("concat", X=[*looked, b.data("x", (-1, 2))])
    hidden = dense(b, x, 4, "hidden", "tanh")
    both = b.op("elementwise_mul", X=hidden, Y=dense(b, x, 4, "gate", "sigmoid"))
    probability = dense(b, b.op("sum", X=[both, hidden]), 5, "out", "softmax")
    loss = b.op("reduce_sum", X=b.op("cross_entropy", X=probability, Label=b.data("y", (-1, 1), "int64")))
    feed = {name: rng.integers(0, n, (6, 1)) for name, n in (("left", 7), ("right", 7), ("y", 5))}
    check(b.program, loss, feed | {"x": rng.normal(size=(6, 2)).astype(np.float32)})


def test_a_table_looked_up_several_times_gives_one_gradient_of_all_rows() -> None:
    b = Builder()
    words = [b.data(f"w{i}", (-1, 1), "int64") for i in range(3)]
    table = b.parameter("table", (5, 2), Normal(0, 1), sparse=True)
    looked = [b.op("lookup_table", {"is_sparse": True}, W=table, Ids=word) for word in words]
    loss = b.op("reduce_sum", X=b.op("concat", X=looked))
    ((_, gradient),) = append_backward(b.program, loss)
    assert (gradient.kind, gradient.shape) == ("rows", (5, 2))
    scope = Scope()
    initialize(b.program, scope, 0)
    feed = {"w0": np.array([[0], [1]]), "w1": np.array([[1], [1]]), "w2": np.array([[4], [0]])}
    (dense_gradient,) = Executor(scope).run(b.program, feed, [gradient])
    np.testing.assert_array_equal(dense_gradient, np.array([2, 3, 0, 0, 1])[:, None] * np.ones(2))


def test_a_loss_of_several_elements_is_summed() -> None:
    b, rng = Builder(), np.random.default_rng(6)
    x = b.data("x", (-1, 2))
    loss = b.op("square_error_cost", X=dense(b, x, 3, "out", "tanh"), Label=b.data("y", (-1, 3)))
    feed = {"x": rng.normal(size=(4, 2)), "y": rng.normal(size=(4, 3))}
    check(b.program, loss, {name: value.astype(np.float32) for name, value in feed.items()})


class Dual:
    """A float64 value and its derivative in one direction: another way to differentiate, as an oracle."""

    def __init__(self, value: np.ndarray, slope: np.ndarray):
        self.value, self.slope = value, slope

    def through(self, function: Callable, derivative: Callable) -> Dual:
        return Dual(function(self.value), derivative(self.value) * self.slope)


def add(x: Dual, y: Dual) -> Dual:
    return Dual(x.value + y.value, x.slope + y.slope)


def subtract(x: Dual, y: Dual) -> Dual:
    return Dual(x.value - y.value, x.slope - y.slope)


def multiply(x: Dual, y: Dual) -> Dual:
    return Dual(x.value * y.value, x.slope * y.value + x.value * y.slope)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


UNARY = {
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),
    "softsign": (lambda x: x / (1 + np.abs(x)), lambda x: (1 + np.abs(x)) ** -2.0),
    "square": (np.square, lambda x: 2 * x),
}
BINARY = {
    "elementwise_add": add,
    "elementwise_sub": subtract,
    "elementwise_mul": multiply,
    "sum": add,
}
CHOICES = st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 99), st.integers(0, 99))


def grown(b: Builder, first: Variable, root: Dual, choices: Sequence[tuple[str, int, int]]):
    """A graph of operators, each on some earlier results, and the same graph of duals."""
    made, duals = [first], [root]
    for type, i, j in choices:
        x, y = i % len(made), j % len(made)
        if type in UNARY:
            made.append(b.op(type, X=made[x]))
            duals.append(duals[x].through(*UNARY[type]))
        else:
            inputs = {"X": [made[x], made[y]]} if type == "sum" else {"X": made[x], "Y": made[y]}
            made.append(b.op(type, **inputs))
            duals.append(BINARY[type](duals[x], duals[y]))
        made.append(b.op("softsign", X=made.pop()))  # keeps values small
        duals.append(duals.pop().through(*UNARY["softsign"]))
    return made, duals


@settings(deadline=None, max_examples=150)
@given(st.lists(CHOICES, max_size=12), st.integers(0, 2**32))
def test_random_graphs_agree_with_dual_numbers(choices: Sequence[tuple[str, int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w, direction = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    b = Builder()
    first = b.op("mul", X=b.data("x", (-1, 3)), Y=b.parameter("w", (3, 3), Numpy(w)))
    made, duals = grown(b, first, Dual(x @ w, x @ direction), choices)
    loss = b.op("mean", X=b.op("sum", X=made))
    append_backward(b.program, loss)
    scope = Scope()
    initialize(b.program, scope, 0)
    feed = {"x": x.astype(np.float32)}
    cost, gradient = Executor(scope).run(b.program, feed, [loss, "w@GRAD"])
    np.testing.assert_allclose(cost[0], sum(d.value for d in duals).mean(), rtol=1e-4, atol=1e-5)
    slope = sum(d.slope for d in duals).mean()
    np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-3, atol=1e-4)

    names = [name for name, v in b.program.main.variables.items() if v.kind == "dense"]
    everything = dict(zip(names, Executor(scope).run(b.program, feed, names), strict=True))
    np.testing.assert_array_equal(everything["w@GRAD"], gradient)  # fetching all forbids reuse of memory


class TestWrittenProgram:
    def test_static_parameters_and_data_get_no_gradient(self) -> None:
        b = Builder()
        fixed = b.parameter("fixed", (2, 2), Normal(), is_static=True)
        x = b.op("mul", X=b.data("x", (-1, 2)), Y=fixed)
        loss = b.op("mean", X=dense(b, x, 1, "out", "tanh"))
        pairs = append_backward(b.program, loss)
        assert [(p.name, g.name) for p, g in pairs] == [("out.w", "out.w@GRAD"), ("out.b", "out.b@GRAD")]
        assert not {"fixed@GRAD", "x@GRAD", "mul_0.out@GRAD"} & set(b.program.main.variables)

    def test_only_the_parameters_asked_for_get_one(self) -> None:
        b = Builder()
        loss = b.op("mean", X=dense(b, b.data("x", (-1, 2)), 1, "out", "tanh"))
        bias = b.program.parameters()[1]
        assert [p.name for p, _ in append_backward(b.program, loss, [bias])] == ["out.b"]

    def test_where_nothing_is_to_be_trained_nothing_is_appended(self) -> None:
        b = Builder()
        fixed = b.parameter("fixed", (2, 2), Normal(), is_static=True)
        loss = b.op("mean", X=b.op("mul", X=b.data("x", (-1, 2)), Y=fixed))
        count = len(b.program.main.operators)
        assert append_backward(b.program, loss) == []
        assert len(b.program.main.operators) == count

    def test_a_parameter_that_the_loss_does_not_depend_on_is_left_out(self) -> None:
        b = Builder()
        x = b.data("x", (-1, 2))
        dense(b, x, 1, "aside", "tanh")
        loss = b.op("mean", X=dense(b, x, 1, "out", "tanh"))
        assert {p.name for p, _ in append_backward(b.program, loss)} == {"out.w", "out.b"}

    def test_appended_operators_are_backward(self) -> None:
        b = Builder()
        loss = b.op("mean", X=dense(b, b.data("x", (-1, 2)), 1, "out", "tanh"))
        count = len(b.program.main.operators)
        append_exchange(b.program, append_backward(b.program, loss))
        roles = [each.role for each in b.program.main.operators]
        assert set(roles[:count]) == {"forward"} and roles[-1] == "exchange"
        assert set(roles[count:-1]) == {"backward"}


def refused(write: Callable[[Builder], Variable], match: str) -> None:
    b = Builder()
    with pytest.raises(NotDifferentiable, match=match):
        append_backward(b.program, write(b))


def test_what_has_no_gradient_is_refused_by_name() -> None:
    def through_an_error(b: Builder) -> Variable:
        scores, label = dense(b, b.data("x", (-1, 2)), 3, "out", "tanh"), b.data("y", (-1, 1), "int64")
        return b.op("mean", X=b.op("classification_error", X=scores, Label=label))

    def through_probabilities(b: Builder) -> Variable:
        logits, label = dense(b, b.data("x", (-1, 2)), 3, "out", "tanh"), b.data("y", (-1, 1), "int64")
        return b.op("mean", X=b.ops("softmax_with_cross_entropy", Logits=logits, Label=label)["Softmax"])

    def beside_the_parameters(b: Builder) -> Variable:
        x = b.data("x", (-1, 2))
        dense(b, x, 1, "aside", "tanh")
        return b.op("mean", X=x)

    refused(through_an_error, "'classification_error' has no gradient")
    refused(through_probabilities, "have no gradient")
    refused(beside_the_parameters, r"depends on none of the parameters \['aside.w', 'aside.b'\]")


def test_a_sparse_parameter_with_a_dense_gradient_is_refused() -> None:
    b = Builder()
    table = b.parameter("table", (5, 2), Normal(), sparse=True)
    loss = b.op("mean", X=b.op("lookup_table", W=table, Ids=b.data("w", (-1, 1), "int64")))
    with pytest.raises(ShapeError, match="'table' is sparse, but its gradient is dense"):
        append_exchange(b.program, append_backward(b.program, loss))
