"""Progress: what a trainer tells its log and whoever started it.

It must never know what is trained. Guarantee: a line in the log ``paddle.trainer`` every ``log_period``
batches and at the end of each pass; the reporter hears of every batch and decides itself what it passes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from paddle._launch.environ import Reporter
from paddle.v2._tally import Tally

_logger = logging.getLogger("paddle.trainer")


class Progress:
    """Follows one pass. ``clock`` gives seconds."""

    def __init__(self, pass_id: int, log_period: int, reporter: Reporter, clock: Callable[[], float]) -> None:
        self.total = Tally()
        self._pass_id = pass_id
        self._log_period = log_period
        self._reporter = reporter
        self._clock = clock
        self._began = clock()
        self._recent = Tally()

    def batch(self, batch_id: int, tally: Tally, cost: float) -> None:
        """Take in the tally of the batch that just ended, whose cost per sample that is."""
        self.total.add(tally)
        self._recent.add(tally)
        elapsed_s = self._clock() - self._began
        rate = self.total.samples / elapsed_s if elapsed_s > 0 else 0.0
        self._reporter.progress(pass_id=self._pass_id, batch_id=batch_id, cost=cost, samples_per_s=rate)
        if self._log_period and (batch_id + 1) % self._log_period == 0:
            _logger.info(
                "Pass=%d Batch=%d samples=%d AvgCost=%g CurrentCost=%g %.0f samples/s Eval: %s "
                "CurrentEval: %s",
                *(self._pass_id, batch_id + 1, self.total.samples, self.total.cost, self._recent.cost, rate),
                *(_listed(self.total.metrics), _listed(self._recent.metrics)),
            )
            self._recent = Tally()

    def end(self) -> None:
        """The pass has ended."""
        _logger.info(
            "Pass=%d ended: samples=%d AvgCost=%g Eval: %s",
            *(self._pass_id, self.total.samples, self.total.cost, _listed(self.total.metrics)),
        )


def _listed(metrics: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in metrics.items()) or "-"
