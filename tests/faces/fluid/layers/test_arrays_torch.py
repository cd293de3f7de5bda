"""Layers of arrays that PyTorch has too: values and slopes, where it is installed (``.[peers]``).

Hashes, tags, a student's cost and centres it has not: these are held to 1.8.5's figures and to numerical
slopes (test_arrays.py, test_clicks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.faces.fluid.layers import array_cases as cases

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
F = torch.nn.functional


def _normal(x: Any, y: Any) -> list[Any]:
    kind = torch.distributions.Normal
    own, other = kind(x, y.exp()), kind(y, y.exp() * 2)
    return [own.entropy(), own.log_prob(y), torch.distributions.kl_divergence(own, other)]


def _categorical(x: Any, y: Any) -> list[Any]:
    own, other = (torch.distributions.Categorical(logits=each) for each in (x, y))
    apart = torch.distributions.kl_divergence(own, other)
    return [own.entropy()[:, None], apart[:, None]]


def _cubic(x: Any, **told: Any) -> Any:
    return F.interpolate(x, mode="bicubic", **told)


TWINS: dict[str, Callable[..., Any]] = {
    "addcmul": lambda a, b, c: torch.addcmul(a, b, c, value=0.5),
    "addmm": lambda i, x, y: torch.addmm(i, x, y, beta=2.0, alpha=0.5),
    "addmm of a row": torch.addmm,
    "bmm": torch.bmm,
    "cross": lambda x, y: torch.linalg.cross(x, y, dim=1),
    "cross along an axis": lambda x, y: torch.linalg.cross(x, y, dim=0),
    "dist": torch.dist,
    "dist of 1": lambda x, y: torch.dist(x, y, 1),
    "dist of 3, spread": lambda x, y: torch.dist(x, y, 3),
    "dist, the most": lambda x, y: torch.dist(x, y, float("inf")),
    "dist, the least": lambda x, y: torch.dist(x, y, float("-inf")),
    "dot": lambda x, y: (x * y).sum(-1, keepdim=True),
    "flip": lambda x: torch.flip(x, [0, -1]),
    "fsp_matrix": lambda x, y: torch.einsum("nchw,ndhw->ncd", x, y) / 6,
    "index_sample": lambda x, index: torch.gather(x, 1, index),
    "index_select": lambda x, index: torch.index_select(x, 1, index),
    "interpolate": lambda x: _cubic(x, size=(2, 3), align_corners=False),
    "interpolate to corners": lambda x: _cubic(x, size=(4, 3), align_corners=True),
    "kron": torch.kron,
    "kron of two ranks": torch.kron,
    "log_softmax": lambda x: torch.log_softmax(x, 0),
    "logsumexp": lambda x: torch.logsumexp(x, [0, 2], keepdim=True),
    "meshgrid": lambda x, y: list(torch.meshgrid(x, y, indexing="ij")),
    "roll": lambda x: torch.roll(x, 2),
    "roll along axes": lambda x: torch.roll(x, [1, -2], [0, 1]),
    "t": torch.t,
    "trace": lambda x: x.diagonal(1).sum(),
    "trace of many": lambda x: x.diagonal(1, 1, 2).sum(-1),
    "tril": torch.tril,
    "triu": lambda x: torch.triu(x, 1),
    "unfold": lambda x: F.unfold(x, (2, 1), padding=(1, 0), stride=(1, 2)),
    "Normal": _normal,
    "Categorical": _categorical,
}


@pytest.mark.parametrize("name", TWINS)
def test_a_layer_gives_what_pytorch_gives(name: str) -> None:
    told, slopes = cases.asked(name)
    given = {each: torch.tensor(value.copy()) for each, value in cases.CASES[name][0].items()}
    for each in given.values():
        each.requires_grad_(each.is_floating_point())
    found = TWINS[name](*given.values())
    outs = found if isinstance(found, list) else [found]
    sum((each * each).sum() * 0.5 for each in outs).backward()
    for (_, _, mine), each in zip(told, outs, strict=True):
        assert mine == pytest.approx(each.detach().ravel().tolist(), rel=1e-4, abs=1e-5)
    for slot, mine in slopes.items():
        assert mine == pytest.approx(given[slot].grad.ravel().tolist(), rel=1e-3, abs=1e-5), slot
