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
from paddle._engine.initial import Normal
from paddle._engine.program import Program, Variable
from paddle._engine.scope import Scope

RNG = np.random.default_rng(11)


def check(program: Program, loss: Variable, feed: dict[str, np.ndarray], rtol: float = 3e-3) -> None:
    """Gradients of all parameters against central differences of the program's own loss."""
    scope = Scope()
    initialize(program, scope, seed=3)
    forward = program.clone()
    pairs = append_backward(program, loss)
    executor = Executor(scope)
    gradients = executor.run(program, feed, [gradient for _, gradient in pairs])
    for (parameter, _), gradient in zip(pairs, gradients, strict=True):
        array = scope.get(parameter.name)
        for at in [np.unravel_index(i, array.shape) for i in RNG.permutation(array.size)[:6]]:
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


def test_a_network_with_shared_tables_and_branches() -> None:
    b = Builder()
    left, right = b.data("left", (-1, 1), "int64"), b.data("right", (-1, 1), "int64")
    table = b.parameter("table", (7, 3), Normal(0, 1))
    looked = [b.op("lookup_table", {"is_sparse": s}, W=table, Ids=i) for s, i in ((1, left), (0, right))]
    x = b.op("concat", X=[*looked, b.data("x", (-1, 2))])
    hidden = dense(b, x, 4, "hidden", "tanh")
    both = b.op("elementwise_mul", X=hidden, Y=dense(b, x, 4, "gate", "sigmoid"))
    probability = dense(b, b.op("sum", X=[both, hidden]), 5, "out", "softmax")
    loss = b.op("reduce_sum", X=b.op("cross_entropy", X=probability, Label=b.data("y", (-1, 1), "int64")))
    feed = {name: RNG.integers(0, n, (6, 1)) for name, n in (("left", 7), ("right", 7), ("y", 5))}
    check(b.program, loss, feed | {"x": RNG.normal(size=(6, 2)).astype(np.float32)})


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
    b = Builder()
    x = b.data("x", (-1, 2))
    loss = b.op("square_error_cost", X=dense(b, x, 3, "out", "tanh"), Label=b.data("y", (-1, 3)))
    feed = {"x": RNG.normal(size=(4, 2)), "y": RNG.normal(size=(4, 3))}
    check(b.program, loss, {name: value.astype(np.float32) for name, value in feed.items()})


ACTIVATIONS = ("tanh", "sigmoid", "softsign", "square", "stanh")
BINARIES = ("elementwise_add", "elementwise_sub", "elementwise_mul", "sum")


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from(ACTIVATIONS + BINARIES), st.integers(), st.integers()), max_size=12)
)
def test_random_graphs(choices: Sequence[tuple[str, int, int]]) -> None:
    """Views, overwritten inputs and reused buffers must never change a gradient."""
    b = Builder()
    made = [dense(b, b.data("x", (-1, 3)), 3, "first", "tanh")]
    for type, i, j in choices:
        x, y = made[i % len(made)], made[j % len(made)]
        if type in ACTIVATIONS:
            made.append(b.op("tanh", X=b.op(type, X=x)))  # keeps the values small
        elif type == "sum":
            made.append(b.op("scale", {"scale": 0.5}, X=b.op(type, X=[x, y])))
        else:
            made.append(b.op("tanh", X=b.op(type, X=x, Y=y)))
    loss = b.op("mean", X=b.op("sum", X=made))
    check(b.program, loss, {"x": RNG.normal(size=(4, 3)).astype(np.float32)}, rtol=5e-3)


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
    def through_top_k(b: Builder) -> Variable:
        return b.op("mean", X=b.op("top_k", X=dense(b, b.data("x", (-1, 2)), 3, "out", "tanh")))

    def through_probabilities(b: Builder) -> Variable:
        logits, label = dense(b, b.data("x", (-1, 2)), 3, "out", "tanh"), b.data("y", (-1, 1), "int64")
        return b.op("mean", X=b.ops("softmax_with_cross_entropy", Logits=logits, Label=label)["Softmax"])

    def without_parameters(b: Builder) -> Variable:
        return b.op("mean", X=b.data("x", (-1, 2)))

    refused(through_top_k, "'top_k' has no gradient")
    refused(through_probabilities, "have no gradient")
    refused(without_parameters, "depends on none of the parameters")


def test_a_sparse_parameter_with_a_dense_gradient_is_refused() -> None:
    b = Builder()
    table = b.parameter("table", (5, 2), Normal(), sparse=True)
    loss = b.op("mean", X=b.op("lookup_table", W=table, Ids=b.data("w", (-1, 1), "int64")))
    with pytest.raises(ShapeError, match="'table' is sparse, but its gradient is dense"):
        append_exchange(b.program, append_backward(b.program, loss))
