"""How good tags are that a model gave to sequences: edits to the right ones, and chunks that are right.

Sources of the semantics: fluid's ``edit_distance`` and ``chunk_eval``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.chunks import SCHEMES, Scheme
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.sequence import count_runs
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Kernel, Row, Runs, Steps


def _distance_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.integers(forms, "X")
    shapes.integers(forms, "Label")
    counts = count_runs(forms), count_runs(forms, "LabelOffsets")
    if not shapes.agree(*counts):
        raise ShapeError(f"{counts[0]} sequences are compared with {counts[1]}")
    return {"Out": Form((counts[0], 1)), "Count": Form((1,), "int64")}


def _distance(call: Call) -> Steps:
    """The fewest edits, over the length of the label if they are to be ``normalized``."""
    from paddle._engine.kernels.alignments import count_edits  # loads numba

    ours, theirs = call["X"].reshape(-1), call["Label"].reshape(-1)
    offsets, right_offsets, out = call["Offsets"], call["LabelOffsets"], call["Out"].reshape(-1)

    def normalize() -> None:
        lengths = np.diff(right_offsets)
        if not lengths.all():
            raise FeedError(
                f"label {int(np.argmin(lengths))} of edit_distance has no elements, over whose number it is "
                "to be normalized"
            )
        np.divide(out, lengths, out)

    yield partial(count_edits, ours, offsets, theirs, right_offsets, out)
    if call.attrs["normalized"]:
        yield normalize
    yield partial(call["Count"].fill, len(out))


_COUNTS = ("Inferred", "Labelled", "Correct")
_RATIOS = ("Out", "Recall", "F1")


def _chunks_shape(forms: Forms) -> Mapping[str, Form]:
    x = shapes.integers(forms, "X")
    if not shapes.agree(x.shape[0], shapes.integers(forms, "Label").shape[0]):
        raise ShapeError(f"{x.shape[0]} tags are compared with {forms['Label'].shape[0]}")
    if forms.attrs["scheme"] not in SCHEMES:
        raise ShapeError(f"chunks are spelt in one of {sorted(SCHEMES)}, not {forms.attrs['scheme']!r}")
    one = Form((1,))
    return dict.fromkeys(_RATIOS, one) | dict.fromkeys(_COUNTS, replace(one, dtype="int64"))


def _chunks(call: Call) -> Steps:
    attrs = call.attrs
    scheme = Scheme(SCHEMES[attrs["scheme"]], attrs["types"], frozenset(attrs["excluded"]))
    x, label, offsets = call["X"], call["Label"], call["Offsets"]

    def compare() -> None:
        found = scheme.compare(x, label, offsets)
        for slot, count in zip(_COUNTS, (found.said_so, found.there, found.right), strict=True):
            call[slot][0] = count
        for slot, ratio in zip(_RATIOS, found.said().values(), strict=True):
            call[slot][0] = ratio

    yield compare


ROWS = (
    Row(
        type="edit_distance",
        inputs=("X", "Offsets", "Label", "LabelOffsets"),
        outputs=("Out", "Count"),
        attrs={"normalized": True},
        shape=_distance_shape,
        forward=Kernel(_distance),
        runs=(Runs("Offsets", of="X"), Runs("LabelOffsets", of="Label")),
    ),
    Row(
        type="chunk_eval",
        inputs=("X", "Label", "Offsets"),
        outputs=(*_RATIOS, *_COUNTS),
        attrs={"scheme": REQUIRED, "types": REQUIRED, "excluded": ()},
        shape=_chunks_shape,
        forward=Kernel(_chunks),
        runs=(Runs("Offsets", of="X"),),
    ),
)
