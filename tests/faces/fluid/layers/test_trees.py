"""Trees that are searched for what to recommend: children, and nodes drawn beside the way to a leaf."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.errors import BadArgument, BadProgram
from paddle.fluid.contrib.layers import tdm_child, tdm_sampler

# item, layer, parent, children: a root of two, each of two leaves
TREE = np.array(
    [
        [0, 0, 0, 1, 2],
        [0, 1, 0, 3, 4],
        [0, 1, 0, 5, 6],
        [9, 2, 1, 0, 0],
        [1, 2, 1, 0, 0],
        [2, 2, 2, 0, 0],
        [3, 2, 2, 0, 0],
    ],
    "int32",
)
TRAVEL = np.array([[1, 3], [1, 4], [2, 5], [2, 0]], "int32")
LAYERS = np.array([[1], [2], [3], [4], [5], [6]], "int32")


def _is(values: np.ndarray) -> fluid.ParamAttr:
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values))


def _run(feed: dict[str, np.ndarray], wanted: list[object]) -> list[list[object]]:
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    return [np.asarray(each).tolist() for each in executor.run(feed=feed, fetch_list=wanted)]


def test_children_of_nodes_and_which_are_leaves() -> None:
    with fresh():
        x = fluid.data("x", [None, 1], "int32")
        child, leaf = tdm_child(x, 7, 2, _is(TREE))
        assert tuple(child.shape) == (-1, 1, 2)
        found = _run({"x": np.array([[0], [1], [2], [3]], "int32")}, [child, leaf])
        assert found[0] == [[[0, 0]], [[3, 4]], [[5, 6]], [[0, 0]]]
        assert found[1] == [[[0, 0]], [[1, 1]], [[1, 1]], [[0, 0]]]
        with pytest.raises(BadProgram, match="rows 7 to 7 are asked of TreeInfo, which has 7"):
            _run({"x": np.array([[7]], "int32")}, [child])


@pytest.mark.parametrize("has_own", [True, False])
def test_nodes_of_each_layer_beside_the_way_to_a_leaf(has_own: bool) -> None:
    with fresh():
        x = fluid.data("x", [None, 1], "int32")
        given = ([1, 3], [2, 4], 4, _is(TRAVEL), _is(LAYERS), has_own)
        whole = tdm_sampler(x, *given, output_list=False)
        parts = tdm_sampler(x, *given)
        leaves = np.array([[0], [1], [3]], "int32")
        nodes, labels, mask, upper, lower = _run({"x": leaves}, [*whole, *parts[0]])
    first = 1 + has_own
    for row, label, is_there, way in zip(nodes, labels, mask, TRAVEL[leaves[:, 0]].tolist(), strict=True):
        assert sorted(row[:first]) == ([1, 2] if has_own else [3 - way[0]])
        assert sorted(row[first:]) == (
            sorted({3, 4, 5, 6} - set() if has_own else {3, 4, 5, 6} - {way[1]})
            if way[1]
            else [0] * (3 + has_own)
        )
        assert label == [int(has_own and node in way and node > 0) for node in row]
        assert is_there == [int(node > 0) for node in row]
    assert np.shape(upper) == (3, first, 1)
    assert np.shape(lower) == (3, 3 + has_own, 1)


def test_more_than_a_layer_has_cannot_be_drawn() -> None:
    with fresh():
        x = fluid.data("x", [None, 1], "int32")
        with pytest.raises(BadArgument, match="layer 1 has 4 nodes, of which 4 are to be drawn"):
            tdm_sampler(x, [1, 4], [2, 4], 4)
        with pytest.raises(BadArgument, match="of 1 layers, and"):
            tdm_sampler(x, [1], [2, 4], 4)
        with pytest.raises(BadArgument, match="int32 or int64"):
            tdm_child(x, 7, 2, dtype="float32")
