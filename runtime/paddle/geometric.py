"""Messages along the edges of graphs, and sums over runs of rows: ``paddle.geometric``.

It must never compute: each function appends an operator to the default program. Guarantee: what nothing comes
to is 0.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import AbsentName
from paddle._program.description.variable import Variable
from paddle.tensor import math
from paddle.tensor._append import append_all
from paddle.tensor.manipulation import unsqueeze

__all__ = [
    *("segment_max", "segment_mean", "segment_min", "segment_sum", "send_u_recv", "send_ue_recv", "send_uv"),
]

_ABSENT = (
    *("reindex_graph", "reindex_heter_graph", "sample_neighbors", "weighted_sample_neighbors"),
    *("graph_khop_sampler", "graph_reindex", "graph_sample_neighbors"),
)


def _pooled(how: str, data: Any, segment_ids: Any, name: str | None) -> Any:
    inputs = {"X": data, "SegmentIds": segment_ids}
    return append_all("segment_pool", inputs, {"pooltype": how}, outputs=("Out", "SummedIds"), name=name)[0]


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment: ``segment_ids`` say of each row its segment, ascending."""
    return _pooled("SUM", data, segment_ids, name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment."""
    return _pooled("MEAN", data, segment_ids, name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest of the rows of each segment, element by element."""
    return _pooled("MAX", data, segment_ids, name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest of the rows of each segment, element by element."""
    return _pooled("MIN", data, segment_ids, name)


def _how(value: str, function: str, *known: str) -> str:
    if value not in known:
        raise ValueError(f"paddle.geometric.{function} takes {', '.join(known)}, not {value!r}")
    return value.upper()


def _sized(out_size: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if isinstance(out_size, Variable):
        return {"Out_size": out_size}, {"out_size": [0]}
    return {}, {"out_size": [0 if out_size is None else int(out_size)]}


_COUNTED = {"outputs": ("Out", "Dst_count"), "dtypes": {"Dst_count": "int32"}}


def send_u_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What comes to each node by the edges from ``src_index`` to ``dst_index``, of the rows of x where these
    begin: their "sum", "mean", "max" or "min". There are ``out_size`` nodes; as many as rows, if None."""
    how = _how(reduce_op, "send_u_recv", "sum", "mean", "max", "min")
    more, told = _sized(out_size)
    inputs = {"X": x, "Src_index": src_index, "Dst_index": dst_index, **more}
    return append_all("graph_send_recv", inputs, {"reduce_op": how, **told}, name=name, **_COUNTED)[0]


def graph_send_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    pool_type: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """``send_u_recv`` by its older name, ``paddle.incubate.graph_send_recv``."""
    return send_u_recv(x, src_index, dst_index, pool_type, out_size, name)


def _undone(message: str, y: Any) -> tuple[str, Any]:
    """Less is more of what is below 0, and a part is a product."""
    if message == "SUB":
        return "ADD", math.scale(y, -1.0)
    return ("MUL", math.reciprocal(math.scale(y, 1.0, 1e-12))) if message == "DIV" else (message, y)


def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """``send_u_recv`` of the rows of x with those of the edges, y: "add", "sub", "mul" or "div"."""
    message = _how(message_op, "send_ue_recv", "add", "sub", "mul", "div")
    how = _how(reduce_op, "send_ue_recv", "sum", "mean", "max", "min")
    if len(y.shape) < len(x.shape):
        y = unsqueeze(y, [*range(1, 1 + len(x.shape) - len(y.shape))])
    (message, y), (more, told) = _undone(message, y), _sized(out_size)
    inputs = {"X": x, "Y": y, "Src_index": src_index, "Dst_index": dst_index, **more}
    told |= {"message_op": message, "reduce_op": how}
    return append_all("graph_send_ue_recv", inputs, told, name=name, **_COUNTED)[0]


def send_uv(
    x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: str | None = None
) -> Any:
    """Of each edge the row of x where it begins with that of y where it ends."""
    message = _how(message_op, "send_uv", "add", "sub", "mul", "div")
    message, y = _undone(message, y)
    inputs = {"x": x, "y": y, "src_index": src_index, "dst_index": dst_index}
    return append_all("graph_send_uv", inputs, {"message_op": message}, outputs=("out",), name=name)[0]


def __getattr__(name: str) -> Any:
    if name in _ABSENT:
        raise AbsentName(f"paddle.geometric.{name} is not in this release: draw neighbours in the reader.")
    raise AttributeError(f"paddle.geometric.{name} does not exist", name=name)
