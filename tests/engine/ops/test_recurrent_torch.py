"""LSTM and GRU, over sequences and as layers in time, as PyTorch's own modules have them: values, gradients.

PyTorch has no peepholes, bends a projection by nothing, and resets a GRU's state after it was multiplied:
there the two are one where what multiplies the state for a candidate is a diagonal. Its gates come in another
order, of an LSTM input, forget, candidate, output, and of a GRU reset, update, candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from paddle._engine.single import Single

from . import layer_operators as layered
from .recurrent_operators import BEGUN, BEGUN_GRU, GRU, LSTM, OFFSETS, drawn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")

Tensor = Any
Arrays = dict[str, np.ndarray]
RNG = np.random.default_rng(29)
LSTM_ORDER = (1, 2, 0, 3)  # of the engine's gates, which begin with the candidate
# PyTorch projects to fewer than there are.
PROJECTED = drawn(X=(5, 16), Weight=(3, 16), Bias=(1, 16), Projection=(4, 3))
BEGUN_PROJECTED = PROJECTED | drawn(First=(3, 3), FirstState=(3, 4))
BOTH_WAYS = pytest.mark.parametrize("is_reverse", [False, True])


def parts(x: Tensor, offsets: np.ndarray) -> Sequence[Tensor]:
    return list(torch.tensor_split(x, torch.from_numpy(offsets)[1:-1]))


def ordered(x: Tensor, gates: Sequence[int]) -> Tensor:
    """The columns of these gates, one after another."""
    size = x.shape[1] // (max(gates) + 1)
    return torch.cat([x[:, gate * size : (gate + 1) * size] for gate in gates], 1)


def called(peer: Any, own: dict[str, Tensor], x: Tensor, begin: Any, is_reverse: bool) -> Any:
    """What a module says of one sequence, its matrices being ``own``, the one of its inputs none, and what it
    has at the end; a bias that is not given is 0."""
    width = x.shape[1]
    lacking = {name: torch.zeros_like(given) for name, given in peer.named_parameters() if name not in own}
    given = {**lacking, "weight_ih_l0": torch.eye(width, dtype=x.dtype), **own}
    states, end = torch.func.functional_call(peer, given, (x.flip(0) if is_reverse else x, begin))
    return (states.flip(0) if is_reverse else states), end


def agree(
    single: Single, found: dict[str, Tensor], given: dict[str, Tensor], among: np.ndarray | None = None
) -> None:
    """``found``: what PyTorch makes of outputs, and ``given``: of which gradients are compared; ``among``:
    of Weight these elements."""
    rng = np.random.default_rng(3)
    outputs = single.forward()
    back = {slot: rng.standard_normal(tuple(each.shape)) for slot, each in found.items()}
    for slot, each in found.items():
        np.testing.assert_allclose(outputs[slot], each.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=slot)
    expected = torch.autograd.grad(
        list(found.values()), list(given.values()), [torch.from_numpy(each) for each in back.values()]
    )
    gradients = single.gradient(back, list(given))
    for slot, each in zip(given, expected, strict=True):
        assert each.any(), slot
        chosen = among if slot == "Weight" and among is not None else np.ones(each.shape, bool)
        one, other = gradients[slot][0][chosen], each.numpy()[chosen]
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7, err_msg=slot)


def tensors(arrays: Arrays, *slots: str) -> dict[str, Tensor]:
    return {slot: torch.tensor(arrays[slot], requires_grad=True) for slot in slots if slot in arrays}


def single(type: str, arrays: Arrays, **attrs: Any) -> Single:
    return Single(type, {slot: [each.copy()] for slot, each in arrays.items()}, attrs)


@BOTH_WAYS
@pytest.mark.parametrize("arrays", [LSTM, BEGUN], ids=["from zeros", "begun"])
def test_an_lstm_without_peepholes_agrees(arrays: Arrays, is_reverse: bool) -> None:
    agree_of_lstm("lstm", arrays, torch.nn.LSTM(8, 2, dtype=torch.float64), is_reverse)


@BOTH_WAYS
@pytest.mark.parametrize("arrays", [PROJECTED, BEGUN_PROJECTED], ids=["from zeros", "begun"])
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_an_lstm_with_a_projection_agrees(arrays: Arrays, is_reverse: bool) -> None:
    peer = torch.nn.LSTM(16, 4, proj_size=3, dtype=torch.float64)
    agree_of_lstm("lstmp", arrays, peer, is_reverse, projection="identity")


def agree_of_lstm(type: str, arrays: Arrays, peer: Any, is_reverse: bool, **attrs: Any) -> None:
    arrays = arrays | {"Bias": arrays["Bias"][:, : arrays["X"].shape[1]]}
    given = tensors(arrays, "X", "Weight", "Bias", "First", "FirstState", "Projection")
    own = {
        "weight_hh_l0": ordered(given["Weight"], LSTM_ORDER).T,
        "bias_ih_l0": ordered(given["Bias"], LSTM_ORDER)[0],
    }
    if "Projection" in given:
        own["weight_hr_l0"] = given["Projection"].T
    first = given.get("First", torch.zeros(3, arrays["Weight"].shape[0]).double())
    state = given.get("FirstState", torch.zeros(3, arrays["Weight"].shape[1] // 4).double())
    made = [
        called(peer, own, ordered(run, LSTM_ORDER), (first[i : i + 1], state[i : i + 1]), is_reverse)[0]
        for i, run in enumerate(parts(given["X"], OFFSETS))
        if len(run)
    ]
    agree(single(type, arrays, is_reverse=is_reverse, **attrs), {"Out": torch.cat(made)}, given)


@BOTH_WAYS
@pytest.mark.parametrize("is_origin", [False, True])
@pytest.mark.parametrize("arrays", [GRU, BEGUN_GRU], ids=["from zeros", "begun"])
def test_a_gru_agrees(arrays: Arrays, is_origin: bool, is_reverse: bool) -> None:
    """PyTorch's update says how much stays, as ``is_origin`` does; else it says how much is new."""
    size = 3
    among = np.concatenate([np.ones(2 * size * size, bool), np.eye(size, dtype=bool).ravel()])
    among = among.reshape(size, 3 * size)
    arrays = arrays | {"Weight": np.where(among, arrays["Weight"], 0)}
    given = tensors(arrays, "X", "Weight", "Bias", "First")
    sign, flat = 1 if is_origin else -1, given["Weight"].reshape(-1)
    update, reset = torch.tensor_split(flat[: 2 * size * size].reshape(size, 2 * size), 2, 1)
    new = flat[2 * size * size :].reshape(size, size)
    own = {"weight_hh_l0": torch.cat([reset, sign * update, new], 1).T}
    told = ordered(given["X"] + given["Bias"], (1, 0, 2))
    told = torch.cat([told[:, :size], sign * told[:, size : 2 * size], told[:, 2 * size :]], 1)
    first = given.get("First", torch.zeros(3, size).double())
    peer = torch.nn.GRU(3 * size, size, dtype=torch.float64)
    made = [
        called(peer, own, run, first[i : i + 1], is_reverse)[0]
        for i, run in enumerate(parts(told, OFFSETS))
        if len(run)
    ]
    attrs = {"is_origin": is_origin, "is_reverse": is_reverse}
    agree(single("gru", arrays, **attrs), {"Out": torch.cat(made)}, given, among)


def of_all(runs: Sequence[Tensor], size: int) -> Tensor:
    """Zeros behind each sequence, in time."""
    longest = torch.zeros(layered.TIME, size).double()
    return torch.stack([torch.cat([run, longest[len(run) :]]) for run in runs], 1)


def lengths() -> Iterator[tuple[int, int]]:
    yield from enumerate(min(layered.TIME, int(length)) for length in layered.LENGTHS)


@BOTH_WAYS
def test_a_layer_of_lstm_in_time_agrees(is_reverse: bool) -> None:
    given = tensors(layered.LSTM, "X", "Weight", "Hidden", "Cell")
    size, made, ends = layered.SIZE, [], []
    own = {"weight_hh_l0": ordered(given["Weight"], LSTM_ORDER).T}
    peer = torch.nn.LSTM(4 * size, size, dtype=torch.float64)
    for i, length in lengths():
        states, end = torch.zeros(0, size).double(), (given["Hidden"][i : i + 1], given["Cell"][i : i + 1])
        if length:
            told = ordered(given["X"][:length, i], LSTM_ORDER)
            states, end = called(peer, own, told, end, is_reverse)
        made.append(states)
        ends.append(end)
    hidden, cell = (torch.cat(each) for each in zip(*ends, strict=True))
    outputs = {"Out": of_all(made, size), "LastHidden": hidden, "LastCell": cell}
    agree(single("lstm_layer", layered.LSTM, is_reverse=is_reverse), outputs, given)


@BOTH_WAYS
def test_a_layer_of_gru_in_time_agrees(is_reverse: bool) -> None:
    given = tensors(layered.GRU, "X", "Weight", "Bias", "Hidden")
    size, made, ends = layered.SIZE, [], []
    bias = torch.cat([torch.zeros(2 * size).double(), given["Bias"]])
    own = {"weight_hh_l0": given["Weight"].T, "bias_hh_l0": bias}
    peer = torch.nn.GRU(3 * size, size, dtype=torch.float64)
    for i, length in lengths():
        states, end = torch.zeros(0, size).double(), given["Hidden"][i : i + 1]
        if length:
            states, end = called(peer, own, given["X"][:length, i], end, is_reverse)
        made.append(states)
        ends.append(end)
    outputs = {"Out": of_all(made, size), "LastHidden": torch.cat(ends)}
    agree(single("gru_layer", layered.GRU, is_reverse=is_reverse), outputs, given)


def test_a_moment_of_an_lstm_without_peepholes_agrees() -> None:
    arrays = {"X": RNG.normal(size=(5, 8)), "State": RNG.normal(size=(5, 2)), "Bias": np.zeros((1, 6))}
    given, peer = tensors(arrays, "X", "State"), torch.nn.LSTMCell(8, 2, dtype=torch.float64)
    own = of_cell(peer, weight_ih=torch.eye(8).double())
    begin = torch.zeros(5, 2).double(), given["State"]
    out, state = torch.func.functional_call(peer, own, (ordered(given["X"], LSTM_ORDER), begin))
    agree(single("lstm_step", arrays), {"Out": out, "Next": state}, given)


def test_a_moment_of_a_gru_agrees() -> None:
    """What multiplies the state for a candidate is a diagonal; updates say how much is new."""
    among = np.concatenate([np.ones(8, bool), np.eye(2, dtype=bool).ravel()]).reshape(2, 6)
    arrays = {slot: RNG.normal(size=shape) for slot, shape in {"X": (5, 6), "State": (5, 2)}.items()}
    arrays |= {"Weight": np.where(among, RNG.normal(size=(2, 6)), 0), "Bias": RNG.normal(size=(1, 6))}
    given, peer = tensors(arrays, "X", "State", "Weight", "Bias"), torch.nn.GRUCell(6, 2, dtype=torch.float64)
    flat = given["Weight"].reshape(-1)
    update, reset = torch.tensor_split(flat[:8].reshape(2, 4), 2, 1)
    told = ordered(given["X"] + given["Bias"], (1, 0, 2)) * torch.tensor([1, 1, -1, -1, 1, 1])
    own = of_cell(
        peer,
        weight_ih=torch.eye(6).double(),
        weight_hh=torch.cat([reset, -update, flat[8:].reshape(2, 2)], 1).T,
    )
    out = torch.func.functional_call(peer, own, (told, given["State"]))
    agree(single("gru_step", arrays), {"Out": out}, given, among)


def of_cell(peer: Any, **own: Tensor) -> dict[str, Tensor]:
    """Its parameters; those that are not given are 0."""
    return {name: own.get(name, torch.zeros_like(each)) for name, each in peer.named_parameters()}
