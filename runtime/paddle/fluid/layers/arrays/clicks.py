"""Layers of click-through programs: hashes of ids, samples that bear a tag, the rows that one server of a
table has, and what a student costs beside a teacher."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended

__all__ = ["filter_by_instag", "hash", "shard_index", "teacher_student_sigmoid_loss"]


def filter_by_instag(
    ins: Variable, ins_tag: Variable, filter_tag: Variable, is_lod: bool, out_val_if_empty: int = 0
) -> list[Variable]:
    """The samples, rows or sequences if ``is_lod``, that bear one of the tags, and a weight of 1 for each. If
    none does, a row of ``out_val_if_empty`` whose weight is 0."""
    helper = LayerHelper("filter_by_instag")
    made = [helper.create_variable_for_type_inference(kind) for kind in (ins.dtype, "float32", ins_tag.dtype)]
    outputs = {slot: [each] for slot, each in zip(("Out", "LossWeight", "IndexMap"), made, strict=True)}
    attrs = {"is_lod": is_lod, "out_val_if_empty": out_val_if_empty}
    inputs = {"Ins": ins, "Ins_tag": ins_tag, "Filter_tag": filter_tag}
    helper.append_op("filter_by_instag", inputs, outputs, attrs)
    made[1].stop_gradient = made[2].stop_gradient = True
    return made[:2]


def hash(input: Variable, hash_size: int, num_hash: int = 1, name: str | None = None) -> Variable:
    """Each row of ids as ``num_hash`` numbers below ``hash_size``, that are the same wherever the row is."""
    if hash_size < 1 or num_hash < 1:
        raise BadArgument(f"hash: hash_size and num_hash are 1 or more, not {hash_size} and {num_hash}")
    attrs = {"num_hash": num_hash, "mod_by": hash_size}
    out = appended("hash", {"X": input}, attrs, name=name)
    out.stop_gradient = True
    return out


def shard_index(
    input: Variable, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Variable:
    """Rows of a table of ``index_num``, as places in a part of ``nshards``; ``ignore_value`` where a row is
    in another part."""
    if not 0 <= shard_id < nshards:
        raise BadArgument(f"shard_index: shard_id is from 0 to {nshards - 1}, not {shard_id}")
    attrs = {"index_num": index_num, "nshards": nshards, "shard_id": shard_id, "ignore_value": ignore_value}
    return appended("shard_index", {"X": input}, attrs)


def teacher_student_sigmoid_loss(
    input: Variable,
    label: Variable,
    soft_max_up_bound: float = 15.0,
    soft_max_lower_bound: float = -15.0,
) -> Variable:
    """What a score costs that is told whether there was a click, and by a teacher how likely it was.

    A label is -2 (no click) or -1 (a click) without a teacher, the teacher's share without a click, and 1
    more with one. A score beyond the bounds learns nothing.
    """
    helper = LayerHelper("teacher_student_sigmoid_loss")
    out = helper.create_variable(dtype=input.dtype)
    bounds = {
        "soft_max_lower_bound": float(soft_max_lower_bound),
        "soft_max_up_bound": float(soft_max_up_bound),
    }
    helper.append_op("teacher_student_sigmoid_loss", {"X": [input], "Label": [label]}, {"Y": [out]}, bounds)
    return out
