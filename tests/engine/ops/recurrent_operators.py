"""Cases of LSTM, with a projection or without, and of GRU over sequences: one row after another in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(11)
OFFSETS = np.array([0, 2, 2, 5])  # the second sequence is empty
RUNS = [slice(0, 2), slice(2, 2), slice(2, 5)]


def drawn(**shapes: tuple[int, int]) -> dict[str, np.ndarray]:
    return {slot: RNG.normal(size=shape) for slot, shape in shapes.items()} | {"Offsets": OFFSETS}


LSTM = drawn(X=(5, 8), Weight=(2, 8), Bias=(1, 14))
BEGUN = LSTM | {"First": RNG.normal(size=(3, 2)), "FirstState": RNG.normal(size=(3, 2))}
LSTMP = drawn(X=(5, 8), Weight=(3, 8), Bias=(1, 14), Projection=(2, 3))
BEGUN_LSTMP = LSTMP | {"First": RNG.normal(size=(3, 3)), "FirstState": RNG.normal(size=(3, 2))}
GRU = drawn(X=(5, 9), Weight=(3, 9), Bias=(1, 9))
BEGUN_GRU = GRU | {"First": RNG.normal(size=(3, 3))}
BENT = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
}


def walked(is_reverse: bool) -> Iterator[tuple[int, int, bool]]:
    """Of each row its sequence, its number, and whether it is the first one."""
    for sequence, run in enumerate(RUNS):
        for at, k in enumerate(range(5)[run][:: -1 if is_reverse else 1]):
            yield sequence, k, not at


def cut(x: np.ndarray, limit: float) -> np.ndarray:
    return np.clip(x, -limit, limit) if limit else x


def lstm(
    given: dict[str, np.ndarray],
    is_reverse: bool = False,
    gate: str = "sigmoid",
    candidate: str = "tanh",
    state: str = "tanh",
    clip: float = 0.0,
    projection: str = "tanh",
    projection_clip: float = 0.0,
) -> np.ndarray:
    h = given["Weight"].shape[1] // 4
    out = np.empty((5, len(given["Weight"])))
    peep = given["Bias"][0, 4 * h :].reshape(-1, h) if given["Bias"].size == 7 * h else np.zeros((3, h))
    for sequence, k, is_first in walked(is_reverse):
        if is_first:
            hidden = given.get("First", np.zeros((3, out.shape[1])))[sequence]
            cell = given.get("FirstState", np.zeros((3, h)))[sequence]
        reached = given["X"][k] + hidden @ given["Weight"] + given["Bias"][0, : 4 * h]
        new, enter, keep, leave = np.split(reached, 4)
        enter, keep = BENT[gate](enter + peep[0] * cell), BENT[gate](keep + peep[1] * cell)
        cell = cut(BENT[candidate](new) * enter + cell * keep, clip)
        hidden = BENT[gate](leave + peep[2] * cell) * BENT[state](cell)
        if "Projection" in given:
            hidden = cut(BENT[projection](hidden @ given["Projection"]), projection_clip)
        out[k] = hidden
    return out


def gru(
    given: dict[str, np.ndarray],
    is_reverse: bool = False,
    gate: str = "sigmoid",
    candidate: str = "tanh",
    is_origin: bool = False,
) -> np.ndarray:
    out, weight = np.empty((5, 3)), given["Weight"].ravel()
    for sequence, k, is_first in walked(is_reverse):
        if is_first:
            hidden = given.get("First", np.zeros((3, 3)))[sequence]
        x = given["X"][k] + given["Bias"][0]
        update, reset = np.split(BENT[gate](x[:6] + hidden @ weight[:18].reshape(3, 6)), 2)
        new = BENT[candidate](x[6:] + (reset * hidden) @ weight[18:].reshape(3, 3))
        share = 1 - update if is_origin else update
        hidden = out[k] = (1 - share) * hidden + share * new
    return out


def case(twin, type: str, given: dict[str, np.ndarray], **attrs: object) -> Case:
    return Case(type, given, partial(twin, given, **attrs), attrs)


OTHER = {"gate": "tanh", "candidate": "relu", "state": "identity"}
RECURRENT = [
    case(lstm, "lstm", LSTM),
    case(lstm, "lstm", LSTM, is_reverse=True),
    case(lstm, "lstm", LSTM | {"Bias": LSTM["Bias"][:, :8]}),
    case(lstm, "lstm", BEGUN),
    case(lstm, "lstm", BEGUN, is_reverse=True, **OTHER),
    case(lstm, "lstm", {slot: each for slot, each in BEGUN.items() if slot != "FirstState"}, clip=0.3),
    case(lstm, "lstmp", LSTMP),
    case(lstm, "lstmp", BEGUN_LSTMP, is_reverse=True, clip=0.5, projection="identity", projection_clip=0.2),
    case(lstm, "lstmp", BEGUN_LSTMP, projection="relu", **OTHER),
    case(gru, "gru", GRU),
    case(gru, "gru", GRU, is_reverse=True),
    case(gru, "gru", BEGUN_GRU),
    case(gru, "gru", BEGUN_GRU, is_reverse=True, is_origin=True),
    case(gru, "gru", BEGUN_GRU, gate="relu", candidate="sigmoid"),
    Case("in_rows", {"X": LSTM["X"], "Offsets": OFFSETS}, lambda: LSTM["X"][[1, 3, 0, 2, 4]]),
    Case(
        "in_rows",
        {"X": LSTM["X"], "Offsets": OFFSETS},
        lambda: LSTM["X"][[3, 1, 4, 2, 0]],
        {"is_reverse": True},
    ),
]
