"""Where elements stand: put elsewhere, chosen, counted, repeated, summed along edges of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case

RNG = np.random.default_rng(7)
A, B = RNG.permuted(np.linspace(-2, 2, 24)).reshape(2, 4, 3)
C = RNG.permuted(np.linspace(-2, 2, 40)).reshape(2, 4, 5)
PLACES = np.array([[0, 2], [1, 1], [-1, 0], [0, 1]])
VALUES = np.array([[1.5, 0.4], [-2.2, 1.1], [0.7, 0.9], [-0.3, 2.4]])
EVERY = np.broadcast_to(np.arange(4)[:, None], PLACES.shape)
TOLD = np.round(A)
FROM, TO = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 1, 0, 0])
EDGES = RNG.permuted(np.linspace(0.5, 3, 15)).reshape(5, 3)
SEGMENTS = np.array([0, 0, 2, 2])
RUNS = np.array([1, 1, 2, 2, 3, 1, 1])
MASK = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]], bool)
SUMS: dict[str, Any] = {"SUM": np.sum, "MEAN": np.mean, "MIN": np.min, "MAX": np.max}


def _put(how: str, others: bool) -> Any:
    ways: dict[str, Any] = {"add": np.add, "mul": np.multiply, "amin": np.minimum, "amax": np.maximum}

    def twin(x: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
        found, at, v = x.copy(), (EVERY, i), np.broadcast_to(v, i.shape)
        if how == "assign":
            found[at] = v
            return found
        if not others:
            found[at] = {"mul": 1, "amin": np.inf, "amax": -np.inf}.get(how, 0)
        ways.get(how, np.add).at(found, at, v)
        if how == "mean":
            counts = np.zeros(x.shape)
            np.add.at(counts, at, 1)
            found /= np.maximum(counts + others, 1)
        return found

    return twin


def _put_case(how: str, others: bool = True, is_same: bool = False) -> Case:
    ways = {"add": "sum", "mul": "prod"}

    def torch_twin(t: Any, x: Any, i: Any, v: Any) -> Any:
        i, v = i % 3, v.expand(4, 2)
        if how == "assign":
            return x.scatter(1, i, v)
        return x.scatter_reduce(1, i, v, ways.get(how, how), include_self=others)

    places = np.array([[0, 2], [1, 0], [-1, 0], [0, 1]]) if how == "assign" else PLACES
    return Case(
        "put_along_axis",
        {"Input": A, "Index": places, "Value": VALUES[:, :1] if is_same else VALUES},
        _put(how, others),
        torch_twin,
        "Result",
        {"Axis": 1, "Reduce": how, "Include_self": others},
    )


def _rows_added(x: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
    found = x.copy()
    np.add.at(found, (slice(None), i), v)
    return found


def _points(add: bool) -> Any:
    def twin(x: np.ndarray, at: Any, v: np.ndarray) -> np.ndarray:
        found = x.copy()
        if add:
            np.add.at(found, tuple(at), v)
        else:
            found[tuple(at)] = v
        return found

    return twin


def _most(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = [min(set(row), key=lambda one: (-list(row).count(one), one)) for row in x]
    return np.array(values), np.array([np.flatnonzero(r == v)[-1] for r, v in zip(x, values, strict=True)])


def _gathered(rows: np.ndarray, to: np.ndarray, how: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    found = [
        SUMS[how](rows[to == at], 0) if (to == at).any() else np.zeros(rows.shape[1:]) for at in range(count)
    ]
    return np.stack(found), np.bincount(to, minlength=count)


def _torch_gathered(t: Any, rows: Any, to: Any, how: str, count: int) -> Any:
    ways = {"SUM": "sum", "MEAN": "mean", "MIN": "amin", "MAX": "amax"}
    found = t.zeros(count, *rows.shape[1:], dtype=rows.dtype)
    at = to[:, None].expand(rows.shape)
    return found.scatter_reduce(0, at, rows, ways[how], include_self=False), t.bincount(to, minlength=count)


def _shifted(x: np.ndarray) -> np.ndarray:
    steps, found = x.reshape(2, 2, *x.shape[1:]), np.zeros((2, 2, *x.shape[1:]))
    found[:, 1:, :1], found[:, :-1, 1:2] = steps[:, :-1, :1], steps[:, 1:, 1:2]
    found[:, :, 2:] = steps[:, :, 2:]
    return found.reshape(x.shape)


def _focused(x: np.ndarray) -> np.ndarray:
    """The greatest of those left is taken, with its row and column, until none is left."""
    found = np.zeros(x.shape)
    for at, of in enumerate(x[:, 0]):
        left = of.copy()
        while np.isfinite(left).any():
            row, column = np.unravel_index(left.argmax(), left.shape)
            found[at, :, row, column] = 1
            left[row], left[:, column] = -np.inf, -np.inf
    return found


def _kept(boxes: np.ndarray) -> np.ndarray:
    def shared(a: np.ndarray, b: np.ndarray) -> float:
        sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
        areas = [np.prod(each[2:] - each[:2]) for each in (a, b)]
        return float(sides.prod() / (sum(areas) - sides.prod()))

    found: list[int] = []
    for at, box in enumerate(boxes):
        if all(shared(box, boxes[one]) <= 0.4 for one in found):
            found.append(at)
    return np.array(found)


def _beside_centers(x: np.ndarray, y: np.ndarray, centers: np.ndarray, rate: np.ndarray) -> tuple[Any, ...]:
    away, moved = x - centers[y[:, 0]], centers.copy()
    for at in range(len(centers)):
        moved[at] += rate * away[y[:, 0] == at].sum(0) / (1 + (y == at).sum())
    return (away**2).sum(1, keepdims=True) / 2, away, moved


SHIFTED = RNG.normal(size=(4, 4, 2, 1))
CASES = [
    *(_put_case(how) for how in ("assign", "add", "mul", "mean", "amin", "amax")),
    *(_put_case(how, others=False) for how in ("add", "mul", "mean", "amin", "amax")),
    *(_put_case(how, is_same=True) for how in ("assign", "add", "mul")),
    Case(
        "index_add",
        {"X": C, "Index": np.array([0, 3, 0]), "AddValue": C[:, :3] * 2},
        _rows_added,
        lambda t, x, i, v: x.index_add(1, i, v),
        told={"axis": 1},
    ),
    *(
        Case(
            "index_put",
            {"x": C, "indices": [np.array([0, 1, 0 if add else 1]), np.array([1, -1, 1])], "value": value},
            _points(add),
            lambda t, x, at, v, add=add: x.index_put(tuple(at), v, accumulate=add),
            "out",
            {"accumulate": add},
            of="x value",
        )
        for add in (True, False)
        for value in (C[0, :3], np.array([0.7]))
    ),
    *(
        Case(
            "masked_select",
            {"X": x, "Mask": mask},
            lambda x, m: np.broadcast_to(x, (4, 3))[np.broadcast_to(m, (4, 3))],
            lambda t, x, m: x.masked_select(m),
            "Y",
        )
        for x, mask in ((A, MASK[0]), (A[:1], MASK))
    ),
    Case("masked_select", {"X": A, "Mask": MASK}, lambda x, m: x[m], lambda t, x, m: x.masked_select(m), "Y"),
    Case("mode", {"X": A}, _most, lambda t, x: tuple(x.mode(-1)), "Out Indices"),
    Case(
        "mode",
        {"X": TOLD},
        _most,
        lambda t, x: (x.mode(-1).values, t.tensor(_most(TOLD)[1])),
        "Out Indices",
        of="",
    ),
    Case(
        "mode",
        {"X": A},
        lambda x: tuple(each[None] for each in _most(x.T)),
        lambda t, x: tuple(x.mode(0, keepdim=True)),
        "Out Indices",
        {"axis": 0, "keepdim": True},
    ),
    Case(
        "roll", {"X": A}, lambda x: np.roll(x, 5), lambda t, x: x.roll(5), told={"shifts": [5]}, is_open=True
    ),
    Case(
        "roll",
        {"X": C},
        lambda x: np.roll(x, (1, -2), (0, 2)),
        lambda t, x: x.roll((1, -2), (0, 2)),
        told={"shifts": [1, -2], "axis": [0, 2]},
        is_open=True,
    ),
    *(
        Case(
            "repeat_interleave",
            {"X": A, "RepeatsTensor": times},
            lambda x, n, axis=axis: np.repeat(x, n, axis),
            lambda t, x, n, axis=axis: x.repeat_interleave(n, axis),
            told={"dim": axis},
        )
        for axis, times in ((0, np.array([1, 0, 2, 3])), (1, np.array([2, 0, 1])))
    ),
    *(
        Case(
            "segment_pool",
            {"X": A, "SegmentIds": SEGMENTS},
            lambda x, i, how=how: _gathered(x, i, how, 3)[0],
            lambda t, x, i, how=how: _torch_gathered(t, x, i, how, 3)[0],
            told={"pooltype": how},
        )
        for how in SUMS
    ),
    *(
        Case(
            "graph_send_recv",
            {"X": A, "Src_index": FROM, "Dst_index": TO},
            lambda x, a, b, how=how: _gathered(x[a], b, how, 6),
            lambda t, x, a, b, how=how: _torch_gathered(t, x[a], b, how, 6),
            "Out Dst_count",
            {"reduce_op": how, "out_size": [6]},
        )
        for how in SUMS
    ),
    *(
        Case(
            "graph_send_ue_recv",
            {"X": A, "Y": edges, "Src_index": FROM, "Dst_index": TO},
            lambda x, y, a, b, how=how: _gathered(x[a] * y if how in ("SUM", "MAX") else x[a] + y, b, how, 4),
            lambda t, x, y, a, b, how=how: _torch_gathered(
                t, x[a] * y if how in ("SUM", "MAX") else x[a] + y, b, how, 4
            ),
            "Out Dst_count",
            {"message_op": "MUL" if how in ("SUM", "MAX") else "ADD", "reduce_op": how},
        )
        for how, edges in (("SUM", EDGES), ("MEAN", EDGES[:, :1]), ("MAX", EDGES[:, :1]), ("MIN", EDGES))
    ),
    *(
        Case(
            "graph_send_uv",
            {"x": A, "y": other, "src_index": FROM, "dst_index": TO},
            lambda x, y, a, b, how=how: x[a] * y[b] if how == "MUL" else x[a] + y[b],
            lambda t, x, y, a, b, how=how: x[a] * y[b] if how == "MUL" else x[a] + y[b],
            "out",
            {"message_op": how},
        )
        for how, other in (("MUL", B), ("ADD", B), ("MUL", B[:, :1]))
    ),
    Case(
        "temporal_shift",
        {"X": SHIFTED},
        _shifted,
        "no such function",
        told={"seg_num": 2, "shift_ratio": 0.25},
        is_open=True,
    ),
    Case(
        "temporal_shift",
        {"X": SHIFTED.transpose(0, 2, 3, 1).copy()},
        lambda x: _shifted(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1),
        "no such function",
        told={"seg_num": 2, "shift_ratio": 0.25, "data_format": "NHWC"},
        is_open=True,
    ),
    Case("similarity_focus", {"X": C[:, :, :, None]}, _focused, "no such function", of=""),
    Case(
        "center_loss",
        {"X": A, "Label": np.array([[1], [0], [1], [2]]), "Centers": B, "CenterUpdateRate": np.array([0.1])},
        _beside_centers,
        "no such function",
        "Loss SampleCenterDiff CentersOut",
        {"cluster_num": 4},
        of="X",
    ),
    Case(
        "searchsorted",
        {"SortedSequence": np.sort(A, 1), "Values": B},
        lambda s, v: np.stack([np.searchsorted(*both, "right") for both in zip(s, v, strict=True)]),
        lambda t, s, v: t.searchsorted(s, v, right=True),
        told={"right": True},
    ),
    Case(
        "bincount",
        {"X": FROM, "Weights": EDGES[:, 0]},
        lambda x, w: np.bincount(x, w, 6),
        lambda t, x, w: t.bincount(x, w, 6),
        told={"minlength": 6},
    ),
    Case(
        "histogram",
        {"X": A},
        lambda x: np.histogram(x, 4, (-1, 2))[0],
        lambda t, x: t.histc(x, 4, -1, 2),
        told={"bins": 4, "min": -1, "max": 2},
    ),
    Case(
        "unique_consecutive",
        {"X": RUNS},
        lambda x: (np.array([1, 2, 3, 1]), np.array([0, 0, 1, 1, 2, 3, 3]), np.array([2, 2, 1, 2])),
        lambda t, x: tuple(t.unique_consecutive(x, True, True)),
        "Out Index Counts",
    ),
    Case("where_index", {"Condition": MASK}, lambda m: np.argwhere(m), lambda t, m: m.nonzero()),
    Case(
        "shard_index",
        {"X": np.array([[0], [3], [7], [9]])},
        lambda x: np.array([[-1], [-1], [2], [4]]),
        "no such function",
        told={"index_num": 10, "nshards": 2, "shard_id": 1, "ignore_value": -1},
    ),
    Case(
        "nms",
        {"Boxes": np.array([[0, 0, 4, 4], [1, 0, 5, 4], [3, 3, 6, 6], [0, 0, 4, 3.9], [3, 3, 6, 7]])},
        _kept,
        "that of torchvision",
        "KeepBoxesIdxs",
        {"iou_threshold": 0.4},
    ),
]
