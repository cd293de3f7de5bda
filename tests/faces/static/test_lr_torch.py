"""A schedule that looks at losses, beside PyTorch's."""

from __future__ import annotations

import pytest

from paddle.optimizer import lr

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")


def test_a_plateau_is_that_of_torch():
    losses = [1.0, 0.9, 0.95, 0.9, 0.91, 0.92, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6]
    for mode, threshold_mode in (("min", "rel"), ("max", "abs")):
        ours = lr.ReduceOnPlateau(0.5, mode, 0.3, 1, 0.01, threshold_mode, cooldown=1, min_lr=0.01)
        optimizer = torch.optim.SGD([torch.zeros(1)], 0.5)
        theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode, 0.3, 1, threshold=0.01, threshold_mode=threshold_mode, cooldown=1, min_lr=0.01
        )
        for loss in losses:
            ours.step(loss)
            theirs.step(loss)
            assert ours() == pytest.approx(optimizer.param_groups[0]["lr"])
