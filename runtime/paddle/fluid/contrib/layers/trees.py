"""Layers of trees that are searched for what to recommend: ``tdm_child`` and ``tdm_sampler``.

They must never compute: each appends an operator to the default program. Guarantee: their trees are
parameters that no optimizer moves, and that are saved with all others.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

from paddle._program.description.dtypes import VarType, dtype_of
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["tdm_child", "tdm_sampler"]


def _whole(name: str, dtype: Any) -> VarType:
    kind = dtype_of(dtype)
    if kind not in (VarType.INT32, VarType.INT64):
        raise BadArgument(f"{name} is int32 or int64, and not {dtype!r}")
    return kind


def _kept(helper: LayerHelper, attr: Any, shape: list[int], dtype: VarType) -> Variable:
    made: Variable = helper.create_parameter(
        attr=attr, shape=shape, dtype=dtype, default_initializer=Constant(0)
    )
    made.stop_gradient = True
    made.trainable = False  # type: ignore[attr-defined]
    return made


def tdm_child(
    x: Variable, node_nums: int, child_nums: int, param_attr: Any = None, dtype: Any = "int32"
) -> tuple[Variable, Variable]:
    """The children of nodes, (..., ``child_nums``), 0 for none, and whether each is a leaf.

    The tree is a parameter of ``node_nums`` rows: item, layer, parent, children; give it as the initializer
    of ``param_attr``.
    """
    helper = LayerHelper("tdm_child", param_attr=param_attr)
    kind = _whole("dtype of tdm_child", dtype)
    tree = _kept(helper, helper.param_attr, [node_nums, 3 + child_nums], kind)
    child, leaf = (helper.create_variable_for_type_inference(kind, stop_gradient=True) for _ in range(2))
    attrs = {"child_nums": int(child_nums), "dtype": int(kind)}
    outputs = {"Child": [child], "LeafMask": [leaf]}
    helper.append_op("tdm_child", {"X": [x], "TreeInfo": [tree]}, outputs, attrs)
    return child, leaf


def tdm_sampler(
    x: Variable,
    neg_samples_num_list: list[int],
    layer_node_num_list: list[int],
    leaf_node_num: int,
    tree_travel_attr: Any = None,
    tree_layer_attr: Any = None,
    output_positive: bool = True,
    output_list: bool = True,
    seed: int = 0,
    tree_dtype: Any = "int32",
    dtype: Any = "int32",
) -> tuple[Any, Any, Any]:
    """Of each layer on the way to a leaf the node there, of label 1, and others of the layer, of label 0:
    nodes, labels, and a mask that is 0 where the way has ended.

    ``x``: numbers of leaves, (n, 1). The ways are a parameter (``leaf_node_num``, layers), the nodes of all
    layers, one after another, another one. ``output_list``: one (n, nodes, 1) for each layer, not all in one.
    """
    if len(neg_samples_num_list) != len(layer_node_num_list):
        raise BadArgument(
            f"tdm_sampler: neg_samples_num_list is of {len(neg_samples_num_list)} layers, and "
            f"layer_node_num_list of {len(layer_node_num_list)}"
        )
    for level, (count, nodes) in enumerate(zip(neg_samples_num_list, layer_node_num_list, strict=True)):
        if count >= nodes:
            raise BadArgument(
                f"tdm_sampler: layer {level} has {nodes} nodes, of which {count} are to be drawn beside one"
            )
    helper = LayerHelper("tdm_sampler")
    tree_kind, kind = _whole("tree_dtype of tdm_sampler", tree_dtype), _whole("dtype of tdm_sampler", dtype)
    levels = len(layer_node_num_list)
    travel = _kept(helper, tree_travel_attr, [leaf_node_num, levels], tree_kind)
    layer = _kept(helper, tree_layer_attr, [sum(layer_node_num_list), 1], tree_kind)
    found = [helper.create_variable_for_type_inference(kind, stop_gradient=True) for _ in range(3)]
    attrs = {
        "neg_samples_num_list": list(neg_samples_num_list),
        "layer_offset_lod": [0, *accumulate(layer_node_num_list)],
        "output_positive": bool(output_positive),
        "seed": int(seed),
        "dtype": int(kind),
    }
    outputs = {slot: [each] for slot, each in zip(("Out", "Labels", "Mask"), found, strict=True)}
    helper.append_op("tdm_sampler", {"X": [x], "Travel": [travel], "Layer": [layer]}, outputs, attrs)
    if not output_list:
        return found[0], found[1], found[2]
    sizes = [count + bool(output_positive) for count in neg_samples_num_list]
    parted = [_by_layer(helper, each, sizes) for each in found]
    return parted[0], parted[1], parted[2]


def _by_layer(helper: LayerHelper, nodes: Variable, sizes: list[int]) -> list[Variable]:
    from paddle.fluid.layers import reshape, slice

    ends = [0, *accumulate(sizes)]
    parts = [slice(nodes, [1], [first], [end]) for first, end in pairwise(ends)]
    return [reshape(part, [-1, size, 1]) for part, size in zip(parts, sizes, strict=True)]
