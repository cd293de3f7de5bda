"""Operators that draw random numbers, all of which follow from the run's seed, its step and a name."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Run, Step, Steps

_DRAWN_AT_ONCE = 16  # numbers of 16 bits for each value of the generator's counter
_APART = 0x9E3779B97F4A7C15  # seeds of parts; any large odd number does
_WAYS = ("downgrade_in_infer", "upscale_in_train")


def _shape(forms: Forms) -> Mapping[str, Form]:
    rate, way = forms.attrs["dropout_prob"], forms.attrs["dropout_implementation"]
    if not 0 <= rate < 1:
        raise ShapeError(f"dropout_prob must lie in [0, 1), got {rate}")
    if way not in _WAYS:
        raise ShapeError(f"dropout_implementation must be one of {_WAYS}, got {way!r}")
    return {"Out": forms["X"], "Mask": forms["X"]}


def _dropout(call: Call) -> Steps:
    """Out = X * Mask; in a test the mask is one number, which makes the expectation that of training.

    v2's way, ``downgrade_in_infer``, keeps values in training and multiplies by 1 - rate in a test;
    ``upscale_in_train`` divides by 1 - rate in training. What is drawn follows from the name ``draws_as``, by
    default that of Out, unless there is a ``seed`` of its own.
    """
    x, out, mask, rate = call["X"], call["Out"], call["Mask"], call.attrs["dropout_prob"]
    upscale = call.attrs["dropout_implementation"] == "upscale_in_train"
    if call.attrs["is_test"]:
        yield partial(mask.fill, 1.0 if upscale else 1.0 - rate)
    else:
        name = call.attrs["draws_as"] or call.operator.outputs["Out"][0]
        yield _drawn(mask, rate, call.run, zlib.crc32(name.encode()), call.attrs["seed"])
        if upscale:
            yield partial(np.divide, mask, 1.0 - rate, mask)
    yield partial(np.multiply, x, mask, out)


def _drawn(mask: np.ndarray, rate: float, run: Run, salt: int, fixed: int = 0) -> Step:
    """A step that fills ``mask`` with 0 at ``rate`` (to 1/65536) and 1 elsewhere, if its seed is ``fixed`` in
    the same way every time.

    Philox is a counter-based generator: each key has a stream of its own, and setting a key costs next to
    nothing. So does beginning in the midst: where the rows are the samples of a part of a batch, they are
    dropped as in the whole batch. Where they are something else, such as words, each part has its own stream.
    """
    generator = np.random.Philox(key=0)
    start = generator.state
    key, counter = start["state"]["key"], start["state"]["counter"]
    dropped = np.uint16(min(round(rate * 65536), 65535))

    def draw() -> None:
        is_of_samples = len(mask) == run.samples > 0
        begin = run.before * mask.size // len(mask) if is_of_samples else 0
        seed = fixed or run.seed
        stream = seed if is_of_samples else seed + run.part * _APART
        key[0], key[1] = stream % 2**64, 0 if fixed else (run.step % 2**32) << 32 | salt
        counter[0], skipped = divmod(begin, _DRAWN_AT_ONCE)
        generator.state = start
        bits = generator.random_raw(-(-(skipped + mask.size) // 4)).view(np.uint16)
        np.greater_equal(bits[skipped : skipped + mask.size].reshape(mask.shape), dropped, mask)

    return draw


def _dropout_gradient(call: Call) -> Steps:
    yield partial(np.multiply, call["Out@GRAD"], call["Mask"], call["X@GRAD"])


ROWS = (
    Row(
        type="dropout",
        outputs=("Out", "Mask"),
        attrs={
            **{"dropout_prob": 0.5, "dropout_implementation": _WAYS[0], "is_test": False},
            **{"seed": 0, "draws_as": ""},
        },
        shape=_shape,
        forward=Kernel(_dropout, in_place={"Out": "X"}),
        gradient=Gradient(_dropout_gradient, in_place={"X@GRAD": "Out@GRAD"}, needs=("Mask",)),
    ),
)
