"""LeNet, of LeCun and others, 1998."""

from __future__ import annotations

from typing import Any

from paddle import nn

__all__ = ["LeNet"]


class LeNet(nn.Layer):
    """Digits of 28 by 28 in one colour: two convolutions, then three matrices to ``num_classes``; without
    these where that is 0 or less."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            *(nn.Conv2D(1, 6, 3, stride=1, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2)),
            *(nn.Conv2D(6, 16, 5, stride=1, padding=0), nn.ReLU(), nn.MaxPool2D(2, 2)),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Any) -> Any:
        """What it makes of images: a row of ``num_classes`` for each."""
        found = self.features(inputs)
        return self.fc(nn.Flatten()(found)) if self.num_classes > 0 else found
