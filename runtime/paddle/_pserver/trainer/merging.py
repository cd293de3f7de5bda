"""Merging: half-asynchronous training, a trainer's part. Gradients of several steps are pushed as one.

An Exchange around another one. It must never know where that one's gradients go.

Guarantee: each step's gradient is in exactly one push, with those of at most ``max_merge_var_num`` steps, as
their sum or mean; the shards count a push once and discard none. Parameters change with a push. What is not
pushed yet is, at the end of a pass, before parameters are fetched and when the trainer leaves in order. A
process that is killed takes it along. For the rest, what a trainer sees that is late, lost, repeats its push
or is replaced is what modes/asynchronous.py says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec, Past, Remembering, StepReport, UpdateSpec
from paddle._engine.rows import SparseRows, TableRows


class Merging:
    """See the module's text. ``inner``: where merged gradients go."""

    def __init__(self, inner: Remembering, mode: ModeSpec) -> None:
        self._inner = inner
        self._most, self._is_mean = mode.max_merge_var_num, mode.merge == "mean"
        self._dense: dict[str, np.ndarray] = {}
        self._rows: dict[str, list[SparseRows]] = {}
        self._steps = self._samples = 0
        self._rate: float | None = None
        self._report = StepReport(0)

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        return self._inner.start(parameters, update, values)

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Exchange."""
        self._inner.prefetch(rows)

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        return self._inner.lookup(ids, training=training)

    def room(self) -> Mapping[str, np.ndarray]:
        """See Exchange. What is merged has that room."""
        return {}

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        """See Exchange. The dense parameters are those of the last push, whose rate is its last step's."""
        self._rate = rate
        for name, gradient in gradients.items():
            if isinstance(gradient, SparseRows):
                self._rows.setdefault(name, []).append(gradient.merged())
            elif self._steps:
                self._dense[name] += gradient
            else:
                self._dense[name] = self._inner.room().get(name, np.empty_like(gradient))
                np.copyto(self._dense[name], gradient)
        self._steps += 1
        self._samples += samples
        if self._steps == self._most:
            self._flush()
            return self._report
        return StepReport(self._report.version)

    def _flush(self) -> None:
        if not self._steps:
            return
        scale = np.float32(1 / self._steps if self._is_mean else 1)
        rows = {name: SparseRows.concatenate(parts).merged() for name, parts in self._rows.items()}
        merged: dict[str, np.ndarray | SparseRows] = {
            name: SparseRows(part.ids, part.values * scale, part.height) for name, part in rows.items()
        }
        for name, total in self._dense.items():
            merged[name] = np.multiply(total, scale, out=total)
        samples, self._samples, self._steps = self._samples, 0, 0
        self._rows.clear()
        self._report = self._inner.step(merged, samples, rate=self._rate)

    def begin_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._inner.begin_pass(pass_id)

    def end_pass(self, pass_id: int) -> None:
        """See Exchange."""
        self._flush()
        self._inner.end_pass(pass_id)

    def fetch(self) -> None:
        """See Exchange."""
        self._flush()
        self._inner.fetch()

    def export(self, name: str) -> SparseRows:
        """See Exchange."""
        self._flush()
        return self._inner.export(name)

    def go_on_from(self, past: Past) -> None:
        """See Remembering."""
        self._inner.go_on_from(past)

    @property
    def steps(self) -> int:
        """See Remembering."""
        return self._inner.steps

    def remembered(self, parameter: str, slot: str) -> np.ndarray | None:
        """See Remembering."""
        self._flush()
        return self._inner.remembered(parameter, slot)

    def rows_of(self, table: str) -> Iterator[TableRows]:
        """See Remembering."""
        self._flush()
        return self._inner.rows_of(table)

    def shrink(self, threshold: int) -> None:
        """See Exchange."""
        self._inner.shrink(threshold)

    def averages(self) -> Mapping[str, np.ndarray]:
        """See Exchange."""
        self._flush()
        return self._inner.averages()

    def close(self, failure: str | None = None) -> None:
        """See Exchange."""
        try:
            if failure is None:
                self._flush()
        finally:
            self._inner.close(failure)
