"""What click-through programs ask beside layers: samples that bear a tag, columns of hashes, the part of a
table that one server of several has, and what a student costs beside a teacher.

It must never know an operator's block. Guarantee: hashes are those of 1.8 (XXH64 of a row's bytes), so a
table that was trained there is looked up alike.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import xxhash

from paddle._program.description.dtypes import VarType, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.formulas.formula import Attrs, Formula
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.tape import Done, Slopes


def _in_shard(told: Attrs, x: np.ndarray) -> np.ndarray:
    count, shards = int(told["index_num"]), int(told["nshards"])
    if x.size and not 0 <= int(x.min()) <= int(x.max()) < count:
        raise ValueError(f"{int(x.min())} to {int(x.max())} are not rows of {count}")
    size = -(-count // shards)
    return np.where(x // size == told["shard_id"], x % size, int(told["ignore_value"]))


Formula("shard_index", "X", "Out", _in_shard).register(index_num=1, nshards=1, shard_id=0, ignore_value=-1)


def _two_sided(x: np.ndarray) -> np.ndarray:
    """The logarithm of 1 + exp(x), with no exp that is too large."""
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _taught(told: Attrs, x: np.ndarray, label: np.ndarray) -> np.ndarray:
    """A label below 0 says whether it was clicked, -2 or -1; one from 0 on has a teacher's share added."""
    clicked = ((label >= -1) & (label < 0)) | (label >= 1)
    share = np.where(label >= 1, label - 1, label)
    taught = np.where(label >= 0, _two_sided(x) - x * share, 0)
    return np.asarray(_two_sided(x) - np.where(clicked, x, 0) + taught)


def _taught_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, label = arrays
    low, high = told["soft_max_lower_bound"], told["soft_max_up_bound"]
    held = np.clip(x, low, high)
    likely = 1 / (1 + np.exp(-held))
    slope = np.where(label >= 0, 2 * likely - label, likely - (label >= -1))
    return [np.where((held > low) & (held < high), slope, 0) * came, None]


Formula("teacher_student_sigmoid_loss", "X Label", "Y", _taught, _taught_back).register(
    soft_max_up_bound=15.0, soft_max_lower_bound=-15.0
)


def _of_hashes(op: Operator) -> None:
    x, out = (op.block._var_recursive(name) for name in (op.input("X")[0], op.output("Out")[0]))
    if len(x.shape) != 2:
        raise BadProgram(f"operator 'hash' (written at {op.where}): rows are (n, width), not {list(x.shape)}")
    out.shape, out.dtype, out.lod_level = (x.shape[0], int(op.attr("num_hash")), 1), x.dtype, x.lod_level


@hosts("hash", infer=_of_hashes, num_hash=1, mod_by=100000)
def _hashes(host: Host, op: Operator) -> None:
    x, described = host.input(op, "X"), host.described(op, "X")
    rows = np.asarray(x).astype(numpy_dtype(described.dtype))
    count, modulus = int(op.attr("num_hash")), int(op.attr("mod_by"))
    found = [[xxhash.xxh64_intdigest(row.tobytes(), seed) % modulus for seed in range(count)] for row in rows]
    host.give(op, "Out", _beside(x, np.array(found, np.int64).reshape(len(rows), count, 1)))


def _beside(x: Any, value: np.ndarray) -> Any:
    """In the sequences of ``x``, where it has some."""
    return LoDTensor(value, x.lod()) if isinstance(x, LoDTensor) and x.lod() else value


def _of_tagged(op: Operator) -> None:
    ins = op.block._var_recursive(op.input("Ins")[0])
    for slot, shape, dtype in (
        ("Out", (-1, *ins.shape[1:]), ins.dtype),
        ("LossWeight", (-1, 1), VarType.FP32),
        ("IndexMap", (-1, 3), VarType.INT64),
    ):
        for name in op.output(slot):
            made = op.block._var_recursive(name)
            made.shape, made.dtype, made.lod_level = shape, dtype, 1


def _spans(op: Operator, slot: str, value: Any) -> list[tuple[int, int]]:
    """Where each sample begins and ends."""
    if isinstance(value, LoDTensor) and value.lod():
        return list(pairwise(value.lod()[-1]))
    if slot == "Ins_tag":
        raise BadProgram(
            f"operator 'filter_by_instag' (written at {op.where}): each sample has tags of its own, and "
            f"{op.input(slot)[0]!r} has no sequences: feed a LoDTensor"
        )
    return [(row, row + 1) for row in range(len(np.asarray(value)))]


def _chosen(op: Operator, ins: Any, tags: Any, wanted: Any) -> list[tuple[int, int]]:
    rows = len(np.asarray(ins))
    samples = _spans(op, "Ins", ins) if op.attr("is_lod") else [(row, row + 1) for row in range(rows)]
    tagged = _spans(op, "Ins_tag", tags)
    if len(samples) != len(tagged):
        raise BadProgram(
            f"operator 'filter_by_instag' (written at {op.where}): {len(samples)} samples have tags for "
            f"{len(tagged)}"
        )
    bears = np.isin(np.asarray(tags).reshape(-1), np.asarray(wanted).reshape(-1))
    return [each for each, (begin, end) in zip(samples, tagged, strict=True) if bears[begin:end].any()]


@hosts("filter_by_instag", infer=_of_tagged, is_lod=True, out_val_if_empty=0)
def _tagged(host: Host, op: Operator) -> None:
    """The samples that bear one of the tags; if none does, one row of a number, which has the weight 0."""
    given = [host.input(op, slot) for slot in ("Ins", "Ins_tag", "Filter_tag")]
    chosen, rows = _chosen(op, *given), np.asarray(given[0])
    sizes = [end - begin for begin, end in chosen] or [1]
    ends = np.cumsum([0, *sizes]).tolist()
    weights, each = np.ones((len(sizes), 1), np.float32), list(range(len(sizes) + 1))
    if chosen:
        kept = np.concatenate([rows[begin:end] for begin, end in chosen])
        places = [[at, begin, size] for at, (begin, _), size in zip(ends, chosen, sizes, strict=False)]
    else:
        kept = np.full((1, *rows.shape[1:]), op.attr("out_val_if_empty"), rows.dtype)
        weights[:], places = 0, [[0, 1, 1]]
    host.give(op, "Out", LoDTensor(kept, [ends]))
    host.give(op, "LossWeight", LoDTensor(weights, [each]))
    host.give(op, "IndexMap", LoDTensor(np.array(places, np.int64), [each]))


@backs("filter_by_instag")
def _tagged_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is None:
        return
    found, at = np.zeros_like(np.asarray(done.input("Ins")), np.float32), 0
    chosen = _chosen(done.op, *(done.input(slot) for slot in ("Ins", "Ins_tag", "Filter_tag")))
    for begin, end in chosen:
        found[begin:end] = np.asarray(came)[at : at + end - begin]
        at += end - begin
    done.add(slopes, "Ins", found)
