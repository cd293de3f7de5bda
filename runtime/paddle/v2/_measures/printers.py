"""Printers: evaluators that print what layers give, batch by batch.

They must never know what for. Guarantee: they say nothing of a pass; what is printed is what was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from paddle.v2._measures.measure import Silence

Values = Sequence[np.ndarray]


def value_printer(layers: Sequence[str]) -> Callable[[Values, int], Silence]:
    """Print what the layers give."""

    def show(values: Values, samples: int) -> Silence:
        for name, value in zip(layers, values, strict=True):
            print(f"layer={name} value matrix:\n{value}", flush=True)
        return Silence()

    return show


def layer_printer(form: str) -> Callable[[Values, int], Silence]:
    """Print what layers give, each in its place of a text."""

    def show(values: Values, samples: int) -> Silence:
        print(form % tuple(f"value:\n{value}" for value in values), flush=True)
        return Silence()

    return show


def gradient_printer(name: str, values: Sequence[np.ndarray | str]) -> None:
    """Print what comes back to a layer."""
    print(f"layer={name} grad matrix:", *values, sep="\n", flush=True)


def maxid_printer(layers: Sequence[str], count: int) -> Callable[[Values, int], Silence]:
    """Print the greatest columns of each row, with their values."""

    def show(values: Values, samples: int) -> Silence:
        for name, value in zip(layers, values, strict=True):
            lines = (_listed(row, count) for row in value)
            print(f"layer={name} row max id vector:", *lines, sep="\n", flush=True)
        return Silence()

    return show


def maxframe_printer(layers: Sequence[str], count: int) -> Callable[[Values, int], Silence]:
    """Print the greatest elements of each sequence; of each layer its one column and the offsets in it."""

    def show(values: Values, samples: int) -> Silence:
        for name, column, offsets in zip(layers, values[::2], values[1::2], strict=True):
            runs = np.split(column.reshape(-1), offsets[1:-1])
            lines = (f"{_listed(run, count)}total {len(run)} frames" for run in runs)
            print(f"layer={name} sequence max frames:", *lines, sep="\n", flush=True)
        return Silence()

    return show


def error_printer(name: str) -> Callable[[Values, int], Silence]:
    """Print which samples are wrong."""

    def show(values: Values, samples: int) -> Silence:
        print(f"Printer={name} Classification Error:\n{values[0]}", flush=True)
        return Silence()

    return show


def text_printer(
    result_file: str, dict_file: str, is_delimited: bool, has_samples: bool
) -> Callable[[Values, int], Silence]:
    """Write sequences of ids into a file, as words of a dictionary where there is one: a line for each.

    Before it stands the number of the sample, counted in its batch or, with ``has_samples``, its own id.
    """
    words = Path(dict_file).read_text().splitlines() if dict_file else []
    result = Path(result_file)
    result.write_text("")

    def show(values: Values, samples: int) -> Silence:
        *numbers, ids, offsets = values
        runs = np.split(ids.reshape(-1), offsets[1:-1])
        with result.open("a") as lines:
            for number, run in zip(
                numbers[0].reshape(-1) if has_samples else range(len(runs)), runs, strict=True
            ):
                tokens = [words[i] if words else str(i) for i in run.tolist()]
                space = " " if is_delimited else ""
                lines.write(f"{number}\t{''.join(space + token for token in tokens)}\n")
        return Silence()

    return show


def _listed(row: np.ndarray, count: int) -> str:
    order = np.argsort(-row, kind="stable")[:count]
    return "".join(f"{i} : {row[i]:g}, " for i in order.tolist())
