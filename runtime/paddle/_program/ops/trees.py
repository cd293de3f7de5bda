"""Rows of trees that are searched for what to recommend: children of nodes, and nodes drawn beside the way
to a leaf. Computed on the host; no gradient goes through them.

A node is a row number, and 0 is none. ``TreeInfo`` has for each node what item it is (0: none, it is no
leaf), its layer, its parent and its children.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.filling import drawing
from paddle._program.running.host import Host

_CHILDREN = 3
"""The column of ``TreeInfo`` from which on children stand."""


def _dtype(op: Operator) -> VarType:
    return dtype_of(op.attr("dtype"))


def _of_children(op: Operator) -> None:
    x = op.block._var_recursive(op.input("X")[0])
    for slot in ("Child", "LeafMask"):
        out = op.block._var_recursive(op.output(slot)[0])
        out.shape, out.dtype = (*x.shape, int(op.attr("child_nums"))), _dtype(op)


@hosts("tdm_child", infer=_of_children, child_nums=2, dtype=int(VarType.INT32))
def _child(host: Host, op: Operator) -> None:
    nodes, tree = np.asarray(host.input(op, "X")), np.asarray(host.input(op, "TreeInfo"))
    _check(op, nodes, len(tree), "TreeInfo")
    children = tree[nodes, _CHILDREN : _CHILDREN + int(op.attr("child_nums"))].astype(np.int64)
    children = np.where((nodes != 0)[..., None] & (children[..., :1] != 0), children, 0)
    _check(op, children, len(tree), "TreeInfo")
    is_leaf = (tree[children, 0] != 0) & (children != 0)
    kind = numpy_dtype(_dtype(op))
    host.give(op, "Child", children.astype(kind))
    host.give(op, "LeafMask", is_leaf.astype(kind))


def _check(op: Operator, rows: np.ndarray, height: int, table: str) -> None:
    if rows.size and not (rows.min() >= 0 and rows.max() < height):
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}): rows {int(rows.min())} to {int(rows.max())} are "
            f"asked of {table}, which has {height}"
        )


def _of_samples(op: Operator) -> None:
    x = op.block._var_recursive(op.input("X")[0])
    count = sum(op.attr("neg_samples_num_list")) + len(op.attr("neg_samples_num_list")) * op.attr(
        "output_positive"
    )
    for slot in ("Out", "Labels", "Mask"):
        out = op.block._var_recursive(op.output(slot)[0])
        out.shape, out.dtype = (x.shape[0], count), _dtype(op)


@hosts(
    "tdm_sampler",
    infer=_of_samples,
    neg_samples_num_list=(),
    layer_offset_lod=(),
    output_positive=True,
    seed=0,
    dtype=int(VarType.INT32),
)
def _sampler(host: Host, op: Operator) -> None:
    """Of each layer on the way to a leaf the node there and, without repeating one, others of the layer;
    where the way has ended, zeros."""
    leaves = np.asarray(host.input(op, "X")).reshape(-1)
    travel, layer = (np.asarray(host.input(op, slot)) for slot in ("Travel", "Layer"))
    _check(op, leaves, len(travel), "Travel")
    generator, nodes = drawing(host, op), layer.reshape(-1)
    ends = [int(each) for each in op.attr("layer_offset_lod")]
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for level, count in enumerate(op.attr("neg_samples_num_list")):
        own = travel[leaves, level]
        if op.attr("output_positive"):
            parts.append((own[:, None], np.ones((len(own), 1), bool)))
        others = _others(op, nodes[ends[level] : ends[level + 1]], own, int(count), generator)
        parts.append((others, np.zeros(others.shape, bool)))
    kind = numpy_dtype(_dtype(op))
    drawn = np.concatenate([nodes for nodes, _ in parts], axis=1).astype(kind)
    is_way = np.concatenate([is_own for _, is_own in parts], axis=1)
    host.give(op, "Out", drawn)
    host.give(op, "Labels", (is_way & (drawn != 0)).astype(kind))
    host.give(op, "Mask", (drawn != 0).astype(kind))


def _others(
    op: Operator, layer: np.ndarray, own: np.ndarray, count: int, generator: np.random.Generator
) -> np.ndarray:
    """``count`` nodes of a layer for each that is not its own; zeros for none."""
    if count >= len(layer):
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}): {count} nodes beside one cannot be drawn of a "
            f"layer of {len(layer)}"
        )
    order = generator.random((len(own), len(layer)))
    order[layer[None, :] == own[:, None]] = 2.0  # behind all others
    found = layer[np.argsort(order, axis=1)[:, :count]]
    return np.where((own != 0)[:, None], found, 0)
