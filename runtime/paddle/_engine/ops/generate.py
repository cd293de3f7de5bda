"""The operator ``generate``: a step is run until it has ended sequences of its own, by beam search.

Slot In holds what the step reads, in the order of ``Loop.inputs``. Of the memory ``word`` the step's output
is the probability of what it is one moment later. Ids holds, from its beginning, what was generated for one
sample after another, which begin at Offsets: with ``results`` above 1, of each result its length, its words
and -1, else the words of the one. Probs has for each result how probable it is, as a logarithm; -inf where
there are fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Kernel, Row, Steps
from paddle._engine.steps.beam import Beam, Path
from paddle._engine.steps.frame import Frame, runs_of
from paddle._engine.steps.kinds import EACH, Kind
from paddle._engine.steps.loop import Loop

Array = np.ndarray
_LYING = (Kind(EACH, varies=False), Kind(EACH, varies=False, ends=True))


def _shape(forms: Forms) -> Mapping[str, Form]:
    loop: Loop = forms.attrs["loop"]
    found = zip(loop.inputs, forms.all("In"), strict=True)
    sizes = {form.shape[0] - kind.ends for name, form in found if (kind := loop.kinds[name]) in _LYING}
    if not sizes:
        raise ShapeError("nothing says how many sequences are to be generated: the step sees no sample")
    samples = max(sizes)
    each = forms.attrs["results"] * (forms.attrs["longest"] + 2)
    return {
        "Ids": Form((samples * each if samples >= 0 else -1,), "int64"),
        "Probs": Form((samples, forms.attrs["results"])),
        "Offsets": Form((samples + 1 if samples >= 0 else -1,), "int64"),
    }


class _Search:
    """One run of it."""

    def __init__(self, call: Call) -> None:
        self._attrs, self._loop = call.attrs, call.attrs["loop"]
        arrays = [array for array in call.arrays("In") if array is not None]
        self._inputs = dict(zip(self._loop.inputs, arrays, strict=True))
        self._floating = next((a.dtype.name for a in arrays if a.dtype.kind == "f"), "float32")
        self._ids, self._probs, self._offsets = call["Ids"], call["Probs"], call["Offsets"]

    def __call__(self) -> None:
        attrs = self._attrs
        beam = Beam(len(self._probs), attrs["beam_size"], attrs["end"], attrs["longest"])
        (output,) = self._loop.outputs
        before: Frame | None = None
        for _ in range(attrs["longest"]):
            if not beam.live:
                break
            before = self._moment(beam.live, before)
            beam.extend(before.values[output])
        self._write(beam.results(attrs["results"]))

    def _moment(self, paths: list[Path], before: Frame | None) -> Frame:
        """Run the step for paths that go on from those of the moment before."""
        of = np.array([path.of for path in paths])
        frame = Frame(self._loop, self._inputs, of, self._floating)
        rows = np.array([path.row for path in paths])
        for memory in self._loop.memories:
            now = frame.values[memory.now]
            if before is None:
                now[...] = memory.start if memory.boot is None else frame.values[memory.boot]
            elif memory.now == self._attrs["word"]:
                now[:, 0] = [path.words[-1] for path in paths]
            else:
                of = self._loop.kinds[memory.now].of
                places = rows if of == EACH else runs_of(before.values[of], rows)
                np.take(before.values[memory.next], places, 0, now)
        frame()
        return frame

    def _write(self, results: list[list[Path]]) -> None:
        self._probs.fill(-np.inf)
        self._offsets[0] = 0
        for number, paths in enumerate(results):
            self._probs[number, : len(paths)] = [path.score for path in paths]
            words = np.fromiter(self._said(paths), np.int64)
            start = int(self._offsets[number])
            self._ids[start : start + len(words)] = words
            self._offsets[number + 1] = start + len(words)
        self._ids[int(self._offsets[-1]) :] = -1

    def _said(self, paths: list[Path]) -> Iterator[int]:
        for path in paths:
            if self._attrs["results"] == 1:
                yield from path.words
            else:
                yield from (len(path.words), *path.words, -1)


def _generate(call: Call) -> Steps:
    yield _Search(call)


ROWS = (
    Row(
        type="generate",
        inputs=("In*",),
        outputs=("Ids", "Probs", "Offsets"),
        attrs={
            **dict.fromkeys(("loop", "word", "end", "longest", "beam_size"), REQUIRED),
            "results": 1,
        },
        shape=_shape,
        forward=Kernel(_generate),
    ),
)
