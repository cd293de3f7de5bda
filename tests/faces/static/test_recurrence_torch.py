"""Recurrent layers of 2.x beside PyTorch's of the same parameters: values, last states and slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")

pytestmark = pytest.mark.usefixtures("alone")

X = np.random.default_rng(4).normal(size=(3, 5, 4)).astype(np.float32)
LENGTHS = np.array([5, 2, 3])


def ran(layer: Any, lengths: bool) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """The parameters, by their names in PyTorch, and what the layer gives, with the slopes of half its square
    by each of them, and by X."""
    x = paddle.static.data("x", [None, 5, 4])
    x.stop_gradient = False
    length = paddle.static.data("length", [None], "int64")
    outputs, states = layer(x, sequence_length=length if lengths else None)
    wanted = [outputs, *(states if isinstance(states, tuple) else [states])]
    named = {
        f"{name}_l{i}{'_reverse' * back}": getattr(cell, name)
        for i, level in enumerate(layer)
        for back, cell in enumerate(
            [level.cell_fw, level.cell_bw] if hasattr(level, "cell_bw") else [level.cell]
        )
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }
    loss = sum(paddle.sum(each * each) for each in wanted) * 0.5
    slopes = paddle.static.gradients([loss], [x, *named.values()])
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    found = executor.run(feed={"x": X, "length": LENGTHS}, fetch_list=[*wanted, *slopes])
    held = paddle.static.global_scope().find_var
    return {name: np.array(held(each.name).get_tensor()) for name, each in named.items()}, found


@pytest.mark.parametrize("lengths", [False, True], ids=["whole", "of lengths"])
@pytest.mark.parametrize("direction", ["forward", "bidirect"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_layer_gives_what_pytorch_gives(kind: str, direction: str, lengths: bool) -> None:
    parameters, found = ran(getattr(nn, kind)(4, 6, num_layers=2, direction=direction), lengths)
    peer = getattr(torch.nn, kind)(4, 6, 2, batch_first=True, bidirectional=direction == "bidirect")
    own = {name: torch.tensor(each, requires_grad=True) for name, each in parameters.items()}
    assert own.keys() == {name for name, _ in peer.named_parameters()}
    x = torch.tensor(X, requires_grad=True)
    pack, unpack = torch.nn.utils.rnn.pack_padded_sequence, torch.nn.utils.rnn.pad_packed_sequence
    given = pack(x, torch.from_numpy(LENGTHS), batch_first=True, enforce_sorted=False) if lengths else x
    outputs, states = torch.func.functional_call(peer, own, (given,))
    outputs = unpack(outputs, batch_first=True)[0] if lengths else outputs
    expected = [outputs, *(states if isinstance(states, tuple) else [states])]
    sum(each.square().sum() * 0.5 for each in expected).backward()
    expected = [each.detach() for each in expected] + [each.grad for each in (x, *own.values())]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-4, atol=1e-5)
