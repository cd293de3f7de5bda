"""Layers that compute with rows, and layers with weights of a shape of their own: against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle

RNG = np.random.default_rng(9)
X, Y, W = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4)), RNG.uniform(0.2, 2, size=(5, 1))
LONG, POSITIVE = RNG.normal(size=(5, 8)), RNG.uniform(0.5, 2, size=(5, 4))
FED = {"x": X, "y": Y, "w": W, "long": LONG, "positive": POSITIVE}
L = paddle.layer


def slot(name):
    return L.data(name=name, type=paddle.data_type.dense_vector(FED[name].shape[1]))


def said(output, rows=None):
    """What a layer gives for the rows of all slots that it reads, and its parameters."""
    parameters = paddle.parameters.create(output)
    types = paddle.topology.Topology(output).data_type()
    fed = rows or list(zip(*(FED[name] for name, _ in types), strict=True))
    return paddle.infer(output_layer=output, parameters=parameters, input=fed), parameters


def lengths(rows):
    return np.linalg.norm(rows, axis=-1, keepdims=True)


PLAIN = {
    "cos_sim": (
        lambda: L.cos_sim(slot("x"), slot("y"), scale=2),
        2 * (X * Y).sum(1, keepdims=True) / lengths(X) / lengths(Y),
    ),
    "interpolation": (lambda: L.interpolation([slot("x"), slot("y")], slot("w")), W * X + (1 - W) * Y),
    "scaling": (lambda: L.scaling(slot("x"), slot("w")), W * X),
    "power": (lambda: L.power(slot("positive"), slot("w")), POSITIVE**W),
    "sum_to_one_norm": (
        lambda: L.sum_to_one_norm(slot("positive")),
        POSITIVE / POSITIVE.sum(1, keepdims=True),
    ),
    "row_l2_norm": (lambda: L.row_l2_norm(slot("x")), X / lengths(X)),
    "l2_distance": (lambda: L.l2_distance(slot("x"), slot("y")), lengths(X - Y)),
    "dot_prod": (lambda: L.dot_prod(slot("x"), slot("y")), (X * Y).sum(1, keepdims=True)),
    "out_prod": (lambda: L.out_prod(slot("x"), slot("y")), np.einsum("na,nb->nab", X, Y).reshape(5, 16)),
    "linear_comb": (
        lambda: L.linear_comb(slot("x"), slot("long")),
        np.einsum("nk,nkd->nd", X, LONG.reshape(5, 4, 2)),
    ),
    "slope_intercept": (lambda: L.slope_intercept(slot("x"), slope=2.0, intercept=1.0), 2 * X + 1),
    "clip": (lambda: L.clip(slot("x"), min=-0.5, max=0.3), np.clip(X, -0.5, 0.3)),
    "repeat": (lambda: L.repeat(slot("x"), 3), np.tile(X, (1, 3))),
    "repeat by column": (lambda: L.repeat(slot("x"), 3, as_row_vector=False), np.repeat(X, 3, 1)),
    "trans": (lambda: L.trans(slot("x")), X.T),
    "resize": (lambda: L.resize(slot("x"), 10), X.reshape(2, 10)),
    "x * w": (lambda: slot("x") * slot("w"), X * W),
    "w + x": (lambda: slot("w") + slot("x"), X + W),
}


@pytest.mark.parametrize("name", PLAIN)
def test_arithmetic_is_what_numpy_says(name) -> None:
    make, expected = PLAIN[name]
    output = make()
    if name not in ("trans", "resize"):
        assert output.size == expected.shape[1]
    np.testing.assert_allclose(said(output)[0], expected, rtol=1e-5, atol=1e-6)


def test_rows_are_chosen_by_ids() -> None:
    which = L.data(name="which", type=paddle.data_type.integer_value(2))
    rows = [(i % 2, x, y) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    found, _ = said(L.multiplex([which, slot("x"), slot("y")]), rows)
    np.testing.assert_allclose(
        found, [y if i % 2 else x for i, x, y in ((*r[:1], *r[1:]) for r in rows)], rtol=1e-6
    )


def test_columns_are_drawn_by_their_chances() -> None:
    chances = L.data(name="p", type=paddle.data_type.dense_vector(3))
    rows = [([0.5, 0.0, 0.5],)] * 400
    parameters = paddle.parameters.create(L.fc(chances, size=1))
    drawn = paddle.infer(output_layer=L.sampling_id(chances), parameters=parameters, input=rows, field="id")
    assert set(drawn.tolist()) == {0, 2} and 150 < (drawn == 0).sum() < 250


LEARNED = {
    "factorization_machine": lambda p: 0.5 * ((X @ p["f"]) ** 2 - X**2 @ p["f"] ** 2).sum(1, keepdims=True),
    "scale_shift": lambda p: p["f"] * X + p["b"],
    "prelu": lambda p: np.where(X > 0, X, X * np.repeat(p["f"], 2, 1)),
    "tensor": lambda p: np.einsum("na,iab,nb->ni", X, p["f"].reshape(3, 4, 8), LONG),
    "gated_unit": None,
}


@pytest.mark.parametrize("name", LEARNED)
def test_layers_with_weights_of_their_own_are_what_numpy_says(name) -> None:
    weights = paddle.attr.Param(name="f", initial_std=0.5)
    if name == "tensor":
        output = L.tensor(slot("x"), slot("long"), size=3, param_attr=weights, bias_attr=False)
    elif name == "prelu":
        output = L.prelu(slot("x"), partial_sum=2, param_attr=weights)
    elif name == "factorization_machine":
        output = L.factorization_machine(slot("x"), factor_size=3, param_attr=weights)
    elif name == "scale_shift":
        output = L.scale_shift(
            slot("x"), param_attr=weights, bias_attr=paddle.attr.Param(name="b", initial_std=1.0)
        )
    else:
        output = L.gated_unit(slot("x"), size=3, name="g")
    found, parameters = said(output)
    values = {each: parameters[each].astype(np.float64) for each in parameters.names()}
    if name == "gated_unit":
        seen, gate = (X @ values[f"_g_{part}.w0"] for part in ("input_proj", "gate"))
        expected = seen / (1 + np.exp(-gate))
    else:
        expected = LEARNED[name](values)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_projections_and_operators_are_added_up() -> None:
    x, y, long = slot("x"), slot("y"), slot("long")
    w = paddle.attr.Param(name="w", initial_std=0.5)
    with L.mixed(size=4, bias_attr=paddle.attr.Param(name="b", initial_std=1.0), name="m") as mixed:
        mixed += L.dotmul_operator(a=x, b=y, scale=2)
        mixed += L.trans_full_matrix_projection(long, param_attr=w)
        mixed += L.identity_projection(long, offset=2, size=4)
        mixed += L.scaling_projection(x)
        mixed += L.slice_projection(long, [(0, 1), (3, 6)])
        mixed += L.dotmul_projection(y)
    found, p = said(mixed)
    assert p.get_shape("w") == (4, 8)
    assert p.get_shape("_m.w3") == (1, 1)
    expected = 2 * X * Y + LONG @ p["w"].T + LONG[:, 2:6] + X * p["_m.w3"] + p["b"]
    expected += LONG[:, [0, 3, 4, 5]] + Y * p["_m.w5"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_what_does_not_fit_is_named() -> None:
    x, long, wide = slot("x"), slot("long"), slot("w")
    for use, says in (
        (lambda: L.cos_sim(x, long), "compares"),
        (lambda: L.interpolation([x, long], wide), "between two layers of one size"),
        (lambda: L.scaling(x, long), "a row has one weight"),
        (lambda: L.linear_comb(x, wide), "vectors of one size"),
        (lambda: L.clip(x, min=1, max=0), "must be below"),
        (lambda: L.multiplex([x, x, x]), "takes ids"),
        (lambda: L.dotmul_operator(x, long), "two layers of one size"),
        (lambda: L.slice_projection(x, [(2, 9)]), "one behind the other"),
        (lambda: L.prelu(x, partial_sum=3), "not a multiple of partial_sum"),
        (lambda: x * long, "one has size 1"),
        (lambda: x + long, "or one of size 1"),
    ):
        with pytest.raises(ValueError, match=says):
            use()


def test_a_factorization_machine_takes_sparse_rows_as_they_are() -> None:
    columns = [[0, 3, 7], [2], []]
    sparse = L.data(name="sparse", type=paddle.data_type.sparse_binary_vector(9))
    output = L.factorization_machine(
        sparse, factor_size=3, param_attr=paddle.attr.Param(name="f", initial_std=0.5)
    )
    found, parameters = said(output, [(row,) for row in columns])
    spread = np.zeros((3, 9))
    for row, ones in zip(spread, columns, strict=True):
        row[ones] = 1
    f = parameters["f"].astype(np.float64)
    expected = 0.5 * ((spread @ f) ** 2 - spread @ f**2).sum(1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    types = {
        operator.type for operator in paddle.inference.Inference(parameters, output)._program.main.operators
    }
    assert "sparse_spread" not in types
