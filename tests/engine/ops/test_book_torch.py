"""Operators of the book that torch has too, and what they give back: the two agree."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.single import Single

from .book_operators import COLUMN, CTC, MAPS, POSITIVE, SHARES, TAGS, X, Y

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
F = torch.nn.functional


CASES = {
    "cos_sim": ({"X": X, "Y": Y}, {}, lambda x: F.cosine_similarity(x, torch.tensor(Y))[:, None]),
    "huber_loss": (
        {"X": X, "Label": Y},
        {"delta": 0.7},
        lambda x: F.huber_loss(x, torch.tensor(Y), delta=0.7, reduction="none").sum(1, keepdim=True),
    ),
    "lrn": (
        {"X": MAPS},
        {"n": 3, "alpha": 0.1, "beta": 0.75},
        lambda x: F.local_response_norm(x, 3, alpha=0.3, beta=0.75, k=1.0),
    ),
    "bilinear_interp": (
        {"X": MAPS},
        {"size": (7, 5)},
        lambda x: F.interpolate(x, (7, 5), mode="bilinear", align_corners=True),
    ),
    "elementwise_pow": (
        {"X": POSITIVE, "Y": COLUMN},
        {},
        lambda x: x ** torch.tensor(COLUMN),
    ),
    "maxout": ({"X": MAPS}, {"groups": 3}, lambda x: x.reshape(2, 2, 3, 3, 4).amax(2)),
}


@pytest.mark.parametrize("type", CASES)
def test_values_and_slopes_are_those_of_torch(type) -> None:
    inputs, attrs, theirs = CASES[type]
    single = Single(type, {slot: [np.array(value)] for slot, value in inputs.items()}, attrs)
    x = torch.tensor(inputs["X"], requires_grad=True)
    out = theirs(x)
    np.testing.assert_allclose(single.forward()["Out"], out.detach().numpy(), rtol=1e-8, atol=1e-10)
    given = np.random.default_rng(1).normal(size=tuple(out.shape))
    out.backward(torch.tensor(given))
    found = single.gradient(given, ["X"])["X"][0]
    np.testing.assert_allclose(found, x.grad.numpy(), rtol=1e-7, atol=1e-9)


def test_alignments_of_logits_cost_what_they_cost_in_torch() -> None:
    """Sequences are padded to the longest; the one without an element is left out, as torch has none."""
    logits = torch.tensor(X, requires_grad=True)
    padded = torch.nn.utils.rnn.pad_sequence([logits[0:2], logits[2:5]]).log_softmax(2)
    tags, lengths = torch.tensor([[TAGS[0, 0], 0], [TAGS[1, 0], TAGS[2, 0]]]), torch.tensor([2, 3])
    costs = F.ctc_loss(padded, tags, lengths, torch.tensor([1, 2]), blank=3, reduction="none")
    given = np.array([[0.5], [2.0], [3.0]])
    costs.backward(torch.tensor(given[[0, 2], 0]))
    single = Single("ctc", {slot: [np.array(value)] for slot, value in CTC.items()}, {"blank": 3})
    found = single.forward()["Out"]
    np.testing.assert_allclose(found[:, 0], [costs[0].item(), 0, costs[1].item()], rtol=1e-8)
    slope = SHARES * single.gradient(given, ["X"])["X"][0]
    back = slope - SHARES * slope.sum(1, keepdims=True)  # through the softmax
    np.testing.assert_allclose(back, logits.grad.numpy(), rtol=1e-7, atol=1e-9)
