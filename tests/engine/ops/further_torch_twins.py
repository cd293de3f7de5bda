"""What PyTorch's plain functions make of operators for which it has no function of its own, by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .torch_twins import F, Slots, Tensor, Twin, runs, torch


def unpacked(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """PyTorch packs sequences in time, too, the longest first; one without an element it does not know."""
    lengths = slots["Offsets"][0].diff()
    lengths = lengths[lengths > 0]
    order = lengths.argsort(descending=True, stable=True)
    sizes = (lengths > torch.arange(lengths.max())[:, None]).sum(1)
    packed = torch.nn.utils.rnn.PackedSequence(slots["X"][0], sizes, order, order.argsort())
    padded, _ = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    rows = [each[:length] for each, length in zip(padded, lengths, strict=True)]
    return torch.cat([each.flip(0) if attrs["is_reverse"] else each for each in rows])


def at_end(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    x, offsets = slots["X"][0], slots["Offsets"][0]
    at = offsets[:-1] if attrs["which"] == "first" else offsets[1:] - 1
    return x[at.clamp(0, len(x) - 1)] * (offsets.diff() > 0)[:, None]


def windows(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """Around each sequence lie zeros, or the rows of Padding."""
    start, length, width = attrs["start"], attrs["length"], slots["X"][0].shape[1]
    before, behind = max(0, -start), max(0, start + length - 1)
    around = slots["Padding"][0] if "Padding" in slots else slots["X"][0].new_zeros(before + behind, width)
    rows = [(torch.cat([around[:before], run, around[before:]]), len(run)) for run in runs(slots) if len(run)]
    seen = [whole[max(0, start) :].unfold(0, length, 1)[:count] for whole, count in rows]
    return torch.cat(seen).transpose(1, 2).flatten(1)


def enumerated(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    size, pad = attrs["win_size"], attrs["pad_value"]
    own = [F.pad(run[:, 0], (0, size - 1), value=pad) for run in runs(slots) if len(run)]
    return torch.cat([each.unfold(0, size, 1) for each in own])


def accuracy(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    hits = (slots["Indices"][0] == slots["Label"][0]).any(1)
    return hits.to(slots["Out"][0].dtype).mean().reshape(1)


def missed(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    best = slots["X"][0].argsort(dim=1, descending=True, stable=True)[:, : attrs["top_k"]]
    return (best != slots["Label"][0]).all(1, keepdim=True).to(slots["X"][0].dtype)


def of_margins(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    margins = slots["X"][0] * (2 * slots["Label"][0] - 1)
    return torch.where(margins < -1, -4 * margins, F.relu(1 - margins).square())


def noise_contrast(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    x, samples, count = slots["X"][0], slots["Samples"][0], attrs["num_classes"]
    chances = torch.tensor(attrs["distribution"] or [1 / count] * count, dtype=x.dtype)[samples]
    shares = x / (x + (samples.shape[1] - attrs["labels"]) * chances)
    true = (torch.arange(samples.shape[1]) < attrs["labels"]).expand_as(x).to(x.dtype)
    return F.binary_cross_entropy(shares, true, reduction="none").sum(1, keepdim=True)


def nodes(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """Those of the way from a leaf to the root, which is 1; behind it 0."""
    longest = (2 * attrs["num_classes"] - 1).bit_length() - 1
    return (slots["Label"][0] + attrs["num_classes"]) >> torch.arange(longest + 1)


def turned(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    x, way = slots["X"][0], nodes(slots, attrs)[:, :-1]
    right, counts = (way % 2).to(x.dtype), (way > 1).to(x.dtype)
    costs = F.binary_cross_entropy_with_logits(x, right, counts, reduction="none")
    return costs.sum(1, keepdim=True)


def walked(run: Tensor, chain: Tensor, over_all: Callable[..., Tensor]) -> Tensor:
    """The score over all ways through one sequence."""
    score = chain[0] + run[0]
    for row in run[1:]:
        score = over_all(score[:, None] + chain[2:], 0) + row
    return over_all(score + chain[1], 0)


def of_chain(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    chain, costs = slots["Transition"][0], []
    for run, tags in zip(runs(slots), runs({**slots, "X": slots["Label"]}), strict=True):
        steps = [chain[2:][tags[:-1, 0], tags[1:, 0]], run.gather(1, tags)[:, 0]]
        own = torch.cat([*steps, chain[0][tags[:1, 0]], chain[1][tags[-1:, 0]]]).sum()
        costs.append(walked(run, chain, torch.logsumexp) - own if len(run) else own)
    return torch.stack(costs)[:, None]


def likeliest(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """The best score changes with what is on its way, and with nothing else."""
    given = [run for run in runs(slots) if len(run)]
    best = [walked(run, slots["Transition"][0], torch.amax) for run in given]
    return torch.cat([way.argmax(1, keepdim=True) for way in torch.autograd.grad(best, given)])


def standing(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    (rows, columns), image = attrs["grid"], torch.tensor(attrs["image"])
    y, x = torch.cartesian_prod((torch.arange(rows) + 0.5) / rows, (torch.arange(columns) + 0.5) / columns).T
    middle, half = torch.stack([x, y], 1)[:, None], torch.tensor(attrs["sizes"]) / image.flip(0) / 2
    boxes = torch.cat([middle - half, middle + half], 2).clamp(0, 1)
    return torch.cat([boxes, torch.tensor(attrs["variances"]).expand_as(boxes)], 2).reshape(1, -1)


def greatest(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """A region may lie beyond its image, where nothing is the greatest; PyTorch's own takes none."""
    found = []
    for image, *ends in slots["Regions"][0].tolist():
        left, top, right, bottom = (int(end * attrs["scale"] + 0.5) for end in ends)
        wide = F.pad(slots["X"][0][int(image)], (0, right + 1, 0, bottom + 1), value=-torch.inf)
        region = wide[:, top : max(bottom, top) + 1, left : max(right, left) + 1]
        found.append(F.adaptive_max_pool2d(region, attrs["cells"]))
    pools = torch.stack(found)
    return pools.masked_fill(pools.isinf(), 0)


def scaled(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    out = slots["X"][0].clone()
    for image, bounds in enumerate(slots["Bounds"][0].long().tolist()):
        first, last, top, bottom, left, right = bounds
        out[image, first - 1 : last, top - 1 : bottom, left - 1 : right] *= attrs["value"]
    return out


def selected(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    counts = slots["Starts"][0].diff()
    x = torch.repeat_interleave(slots["X"][0], counts, 0)
    return (x * slots["W"][0][slots["Ids"][0]]).sum(1).reshape(len(counts), -1)


def of_batch(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """The same for all samples; its slope is the mean of theirs."""
    count, one = len(slots["Like"][0]), slots["X"][0] * 1
    one.register_hook(lambda slope: slope / count)
    return one.expand(count, -1)


FURTHER: dict[str, Twin] = {
    "in_rows": unpacked,
    "sequence_end": at_end,
    "sequence_merge": lambda slots, attrs: slots["X"][0][slots["Outer"][0]],
    "sequence_window": windows,
    "sequence_window_padded": windows,
    "sequence_enumerate": enumerated,
    "accuracy": accuracy,
    "classification_error": missed,
    "modified_huber_loss": of_margins,
    "nce_cost": noise_contrast,
    "class_path": lambda slots, attrs: (nodes(slots, attrs)[:, 1:] - 1).clamp(min=0),
    "path_cost": turned,
    "linear_chain_crf": of_chain,
    "crf_decoding": likeliest,
    "prior_boxes": standing,
    "region_max": greatest,
    "scale_piece": scaled,
    "selected_mul": selected,
    "of_batch": of_batch,
}


def ranges(starts: Tensor, sizes: Tensor) -> Tensor:
    return torch.cat([torch.arange(first, first + size) for first, size in zip(starts, sizes, strict=True)])


def ends(sizes: Tensor) -> Tensor:
    return F.pad(sizes.cumsum(0), (1, 0))


def repeated(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    offsets, times = slots["Offsets"][0], slots["Times"][0].diff()
    which = torch.repeat_interleave(torch.arange(len(times)), times)
    sizes = offsets.diff()[which]
    return {"Rows": ranges(offsets[which], sizes), "Out": ends(sizes)}


def strides(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    own = [torch.arange(length).split(attrs["stride"]) for length in slots["Offsets"][0].diff()]
    sizes = [torch.tensor([len(each) for each in pieces if len(each)]).long() for pieces in own]
    counts = torch.tensor([len(each) for each in sizes])
    return {
        "Out": ends(torch.cat([each.flip(0) if attrs["from_end"] else each for each in sizes])),
        "Outer": ends(counts),
    }


def pieces(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    offsets, bounds = slots["Offsets"][0][:, None], slots["Bounds"]
    there = bounds[0] >= 0
    starts = (offsets[:-1] + (bounds[0] if attrs["has_starts"] else 0)).expand_as(there)[there]
    behind = (offsets[:-1] + bounds[-1] + 1 if attrs["has_ends"] else offsets[1:]).expand_as(there)[there]
    return {
        "Rows": ranges(starts, behind - starts),
        "Out": ends(behind - starts),
        "Outer": ends(there.sum(1)),
    }


def parts(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    begins, sizes = slots["Begins"][0].flatten(), slots["Sizes"][0].flatten()
    return {"Rows": ranges(slots["Offsets"][0][:-1] + begins, sizes), "Out": ends(sizes)}


def chosen(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    offsets, there = slots["Offsets"][0], slots["Chosen"][0] >= 0
    inner = (slots["Outer"][0][:-1, None] + slots["Chosen"][0])[there]
    sizes = offsets.diff()[inner]
    return {"Rows": ranges(offsets[inner], sizes), "Out": ends(sizes), "Kept": ends(there.sum(1))}


def best(slots: Slots, attrs: dict[str, Any]) -> dict[str, Tensor]:
    k = attrs["k"]
    own = [run[:, 0].argsort(descending=True, stable=True)[:k] for run in runs(slots)]
    return {"Out": torch.stack([F.pad(each, (0, k - len(each)), value=-1) for each in own])}


LISTED: dict[str, Callable[[Slots, dict[str, Any]], dict[str, Tensor]]] = {
    "sequence_repeat": repeated,
    "row_repeat": lambda s, a: {
        "Rows": torch.repeat_interleave(torch.arange(len(s["Times"][0]) - 1), s["Times"][0].diff())
    },
    "sequence_ends": lambda s, a: {"Out": ends(s["X"][0].flatten()), "Rows": torch.arange(s["X"][0].sum())},
    "count_up": lambda s, a: {"Out": torch.arange(s["X"][0].max() if a["maxlen"] < 0 else a["maxlen"])},
    "sequence_strides": strides,
    "sequence_slices": pieces,
    "sequence_parts": parts,
    "sequence_chosen": chosen,
    "sequence_best": best,
    "sequence_resize": lambda s, a: {"Out": s["Offsets"][0] * a["width"] // a["into"]},
}
"""Of all that they find, by what."""
