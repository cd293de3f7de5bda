"""Programs of thousands of operators: what is written does not look through all that was, again and again."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle._program.description.operator import Operator
from paddle._program.description.written import fresh
from paddle._program.lowering import lowering
from paddle._program.writing import optimizer, regularizer

pytestmark = pytest.mark.usefixtures("alone")


def _never(program: object) -> None:
    raise AssertionError("an operator that was written looked through the whole program")


def test_a_parameter_is_read_without_a_look_through_the_whole_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lowering, "sparse_tables", _never)
    ids = paddle.static.data("ids", [-1, 1], "int64")
    rows = paddle.nn.Embedding(10, 4, sparse=True)(ids)
    assert tuple(paddle.nn.Linear(4, 2)(rows).shape) == (-1, 1, 2)


def test_who_looks_up_a_table_is_asked_once_for_all_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, look = [], regularizer._lookups
    monkeypatch.setattr(regularizer, "_lookups", lambda block: asked.append(block) or look(block))
    ids = paddle.static.data("ids", [-1, 1], "int64")
    rows = paddle.nn.Embedding(10, 4, sparse=True)(ids)
    loss = paddle.mean(paddle.nn.Linear(4, 2)(rows))
    with pytest.warns(UserWarning, match="moves all its rows") as warned:
        paddle.optimizer.SGD(0.1, weight_decay=0.5).minimize(loss)
    assert len(asked) == 1
    assert [each.filename for each in warned] == [__file__]  # at the user's line


def test_open_tables_are_looked_for_once_for_all_that_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, look = [], optimizer.open_tables
    monkeypatch.setattr(optimizer, "open_tables", lambda program: asked.append(program) or look(program))
    x = paddle.static.data("x", [-1, 4])
    loss = paddle.mean(paddle.nn.Linear(4, 2)(paddle.nn.Linear(4, 4)(x)))
    paddle.optimizer.Adam(0.1).minimize(loss)
    assert len(asked) == 1


def _looks(layers: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often an operator is asked what it gives, from the first layer to the end of the first step."""
    looks = [0]
    given = Operator.output_arg_names.fget

    def counted(op: Operator) -> list[str]:
        looks[0] += 1
        return given(op)

    with fresh(), monkeypatch.context() as patch:
        paddle.enable_static()
        patch.setattr(Operator, "output_arg_names", property(counted))
        rows = paddle.static.data("x", [-1, 4])
        for _ in range(layers):
            rows = paddle.nn.Linear(4, 4)(rows)
        loss = paddle.mean(rows)
        paddle.optimizer.Adam(0.1).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])
    return looks[0]


def test_twice_the_layers_are_twice_the_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = _looks(20, monkeypatch), _looks(40, monkeypatch)
    assert many < 2.2 * few
