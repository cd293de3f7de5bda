"""dynamic_lstm, dynamic_lstmp and dynamic_gru as PyTorch's modules have them: values, slopes of parameters.

Without peepholes, which PyTorch has not; a projection is bent by nothing; and a GRU, whose state PyTorch
resets after it was multiplied, has a diagonal there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")

layers = fluid.layers
LENGTHS = [2, 3]
RNG = np.random.default_rng(9)
X = RNG.normal(size=(5, 12)).astype(np.float32)

Tensor = Any


def ran(layer: Callable[[Any], Any], given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What it gives of X with these parameters, as "out", and the slopes of half its square by them."""
    x = layers.data("x", [12], lod_level=1)
    x.stop_gradient = False
    out = layer(x)
    loss = layers.reduce_sum(out * out) * 0.5
    pairs = fluid.backward.append_backward(loss)
    slopes = {parameter.name: gradient.name for parameter, gradient in pairs}
    assert slopes.keys() == given.keys()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for name, value in given.items():
        fluid.global_scope().find_var(name).get_tensor().set(value, None)
    feed = {"x": fluid.create_lod_tensor(X, [LENGTHS], None)}
    fetch = {"out": out.name, "x": x.name + "@GRAD", **slopes}
    found = exe.run(feed=feed, fetch_list=list(fetch.values()), return_numpy=False)
    return {name: np.array(each) for name, each in zip(fetch, found, strict=True)}


def agree(found: dict[str, np.ndarray], out: Tensor, given: dict[str, Tensor]) -> None:
    np.testing.assert_allclose(found["out"], out.detach().numpy(), rtol=1e-5, atol=1e-6)
    (out.square().sum() * 0.5).backward()
    for name, each in given.items():
        assert each.grad.any(), name
        np.testing.assert_allclose(found[name], each.grad.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


def tensors(given: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.tensor(each, requires_grad=True) for name, each in {"x": X, **given}.items()}


def through(module: Any, x: Tensor, own: dict[str, Tensor], is_reverse: bool) -> Tensor:
    """All sequences through a module, the matrix of whose inputs is none, and whose other bias is 0."""
    shapes = {name: torch.zeros_like(each) for name, each in module.named_parameters()}
    given = {**shapes, "weight_ih_l0": torch.eye(x.shape[1]), **own}
    made = []
    for run in torch.split(x, LENGTHS):
        states, _ = torch.func.functional_call(module, given, (run.flip(0) if is_reverse else run,))
        made.append(states.flip(0) if is_reverse else states)
    return torch.cat(made)


def ordered(x: Tensor, gates: Sequence[int]) -> Tensor:
    parts = torch.tensor_split(x, len(gates), 1)
    return torch.cat([parts[gate] for gate in gates], 1)


@pytest.mark.parametrize("is_reverse", [False, True])
def test_an_lstm_gives_what_pytorch_gives(is_reverse: bool) -> None:
    drawn = {
        "lstm_0.w_0": RNG.normal(size=(3, 12)).astype(np.float32),
        "lstm_0.b_0": RNG.normal(size=(1, 12)).astype(np.float32),
    }
    found = ran(lambda x: layers.dynamic_lstm(x, 12, use_peepholes=False, is_reverse=is_reverse)[0], drawn)
    given = tensors(drawn)
    x, weight, bias = (ordered(each, (1, 2, 0, 3)) for each in given.values())
    own = {"weight_hh_l0": weight.T, "bias_ih_l0": bias[0]}
    agree(found, through(torch.nn.LSTM(12, 3), x, own, is_reverse), given)


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_a_projected_lstm_gives_what_pytorch_gives(is_reverse: bool) -> None:
    drawn = {
        "lstmp_0.w_0": RNG.normal(size=(2, 12)).astype(np.float32),
        "lstmp_0.w_1": RNG.normal(size=(3, 2)).astype(np.float32),
        "lstmp_0.b_0": RNG.normal(size=(1, 12)).astype(np.float32),
    }
    how: dict[str, Any] = {"use_peepholes": False, "proj_activation": "identity", "is_reverse": is_reverse}
    found = ran(lambda x: layers.dynamic_lstmp(x, 12, 2, **how)[0], drawn)
    given = tensors(drawn)
    x, weight, projection, bias = given.values()
    x, weight, bias = (ordered(each, (1, 2, 0, 3)) for each in (x, weight, bias))
    own = {"weight_hh_l0": weight.T, "weight_hr_l0": projection.T, "bias_ih_l0": bias[0]}
    agree(found, through(torch.nn.LSTM(12, 3, proj_size=2), x, own, is_reverse), given)


@pytest.mark.parametrize("origin_mode", [False, True])
def test_a_gru_gives_what_pytorch_gives(origin_mode: bool) -> None:
    """PyTorch's update says how much stays, as in ``origin_mode``; else it says how much is new."""
    size, sign = 4, 1 if origin_mode else -1
    weight, bias = RNG.normal(size=(4, 12)).astype(np.float32), RNG.normal(size=(1, 12)).astype(np.float32)
    among = np.concatenate([np.ones(32, bool), np.eye(4, dtype=bool).ravel()]).reshape(4, 12)
    drawn = {"gru_0.w_0": np.where(among, weight, 0), "gru_0.b_0": bias}
    found = ran(lambda x: layers.dynamic_gru(x, size, origin_mode=origin_mode), drawn)
    found["gru_0.w_0"] *= among
    given = tensors(drawn)
    x, flat, bias = given["x"], (given["gru_0.w_0"] * torch.from_numpy(among)).reshape(-1), given["gru_0.b_0"]
    update, reset = torch.tensor_split(flat[:32].reshape(size, 2 * size), 2, 1)
    own = {"weight_hh_l0": torch.cat([reset, sign * update, flat[32:].reshape(size, size)], 1).T}
    by_update, by_reset, new = torch.tensor_split(x + bias, 3, 1)
    told = torch.cat([by_reset, sign * by_update, new], 1)
    agree(found, through(torch.nn.GRU(12, size), told, own, False), given)
