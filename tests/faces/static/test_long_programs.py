"""Programs of thousands of operators: what is written does not look through all that was, again and again."""

from __future__ import annotations

import pytest

import paddle
from paddle._program.lowering import lowering
from paddle._program.writing import regularizer

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
    with pytest.warns(UserWarning, match="moves all its rows"):
        paddle.optimizer.SGD(0.1, weight_decay=0.5).minimize(loss)
    assert len(asked) == 1
