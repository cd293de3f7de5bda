"""Cases of recurrent layers over batches that are laid out in time: with twins, sequence by sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..passes.case import Case

RNG = np.random.default_rng(5)
TIME, COUNT, SIZE = 4, 3, 2
LENGTHS = np.array([2, 0, 9])  # one is empty, and one says more than there is
HIDDEN, CELL = RNG.normal(size=(2, COUNT, SIZE))
LSTM = {
    "X": RNG.normal(size=(TIME, COUNT, 4 * SIZE)),
    "Weight": RNG.normal(size=(SIZE, 4 * SIZE)),
    "Hidden": HIDDEN,
    "Cell": CELL,
    "Lengths": LENGTHS,
}
GRU = {
    "X": RNG.normal(size=(TIME, COUNT, 3 * SIZE)),
    "Weight": RNG.normal(size=(SIZE, 3 * SIZE)),
    "Bias": RNG.normal(size=SIZE),
    "Hidden": HIDDEN,
    "Lengths": LENGTHS,
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def steps(number: int, is_reverse: bool) -> range:
    return range(min(TIME, LENGTHS[number]))[:: -1 if is_reverse else 1]


def lstm(is_reverse: bool = False) -> np.ndarray:
    out = np.zeros((TIME, COUNT, SIZE))
    for number in range(COUNT):
        hidden, state = HIDDEN[number], CELL[number]
        for t in steps(number, is_reverse):
            candidate, enter, keep, leave = np.split(LSTM["X"][t, number] + hidden @ LSTM["Weight"], 4)
            state = np.tanh(candidate) * sigmoid(enter) + state * sigmoid(keep)
            hidden = out[t, number] = sigmoid(leave) * np.tanh(state)
    return out


def gru(is_reverse: bool = False) -> np.ndarray:
    out = np.zeros((TIME, COUNT, SIZE))
    for number in range(COUNT):
        hidden = HIDDEN[number]
        for t in steps(number, is_reverse):
            reset, update, candidate = np.split(GRU["X"][t, number], 3)
            by_reset, by_update, by_state = np.split(hidden @ GRU["Weight"], 3)
            candidate = np.tanh(candidate + sigmoid(reset + by_reset) * (by_state + GRU["Bias"]))
            update = sigmoid(update + by_update)
            hidden = out[t, number] = update * hidden + (1 - update) * candidate
    return out


LAYERS = [
    Case(type, slots, lambda is_reverse=is_reverse, twin=twin: twin(is_reverse), {"is_reverse": is_reverse})
    for type, slots, twin in (("lstm_layer", LSTM, lstm), ("gru_layer", GRU, gru))
    for is_reverse in (False, True)
]

LAYERS_WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("lstm_layer", LSTM | {"X": LSTM["X"][:, :, 1:]}, {}, "X is "),
    ("lstm_layer", LSTM | {"Cell": CELL[:2]}, {}, "Cell is"),
    ("lstm_layer", LSTM | {"Lengths": CELL[:, 0]}, {}, "must be int64"),
    ("gru_layer", GRU | {"Hidden": HIDDEN[:2]}, {}, "a state of"),
    ("gru_layer", GRU | {"Bias": HIDDEN}, {}, "Bias is"),
]
