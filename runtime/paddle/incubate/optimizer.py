"""What is done besides an optimizer's steps: ``paddle.incubate.LookAhead`` and ``ModelAverage``.

They must never compute. Guarantee: they are fluid's, by the arguments that 2.x gives them.
"""

from __future__ import annotations

from typing import Any

from paddle._program.moving import averaging

__all__ = ["LookAhead", "ModelAverage"]

__path__: list[str] = []  # programs import it by the original's files


class LookAhead(averaging.LookaheadOptimizer):
    """``inner_optimizer``'s steps, and every ``k`` of them back to where these began, and ``alpha`` of the
    way. The first begin behind step 1, as in 2.x; fluid's LookaheadOptimizer begins at the initial values."""

    _slow, _is_of_two = "{}_slow_0", True

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        super().__init__(inner_optimizer, alpha, k)


class ModelAverage(averaging.ModelAverage):
    """Parameters averaged over the last steps; made behind ``minimize``, and taken by ``apply(executor)``.
    ``parameters``: all that are learned, whatever it says, as in static programs of the original."""

    def __init__(
        self,
        average_window_rate: float,
        parameters: Any = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        super().__init__(average_window_rate, min_average_window, max_average_window, name=name)
