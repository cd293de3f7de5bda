"""Script: what a trainer asks of the shards around each batch, written down from the real trainer's part.

What a trainer asks never depends on what it is answered, only on the mode and the batch's number. So the real
exchange of its mode (trainer_modes.py) trains a tiny model here against a center that only writes down what
it is asked. Guarantee: a simulated trainer asks what a real one would, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from paddle._engine.exchange import (
    ModeSpec,
    ParameterSpec,
    RuleSpec,
    ScheduleSpec,
    StepReport,
    UpdateSpec,
)
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.trainer_modes import in_mode

Call = Literal["prefetch", "push", "pull", "changes"]

_MODEL = (ParameterSpec(name="w", shape=(1,)), ParameterSpec(name="t", shape=(2, 1), sparse=True))


def update_in(mode: ModeSpec) -> UpdateSpec:
    """What jobs here declare: plain descent, in this mode."""
    return UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1e-6), mode=mode)


@dataclass(frozen=True, slots=True)
class Batch:
    """Calls ``before`` the computation of a batch and ``after`` it. ``merged``: so many batches' gradients,
    or moves, are in the push."""

    before: tuple[Call, ...]
    after: tuple[Call, ...]
    merged: int = 1


@dataclass(slots=True)
class Recorder:
    """A center that writes down what it is asked, and tells always the same ``changed`` rows."""

    changed: Mapping[str, SparseRows] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        self._arrays = {name: np.array(value) for name, value in values.items()}
        return self._arrays

    def room(self) -> Mapping[str, np.ndarray]:
        return {}

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        self.calls.append("prefetch")

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        self.calls.append("push")
        return StepReport(0)

    def pull(self) -> None:
        self.calls.append("pull")

    def changes(self) -> Iterator[Mapping[str, SparseRows]]:
        self.calls.append("changes")
        yield self.changed

    def begin_pass(self, pass_id: int) -> None: ...

    def end_pass(self, pass_id: int) -> None: ...

    def fetch(self) -> None: ...

    def averages(self) -> Mapping[str, np.ndarray]:
        raise NotImplementedError("no job here keeps averages")

    def close(self, failure: str | None = None) -> None: ...


def script_of(mode: ModeSpec, trainers: int, batches: int) -> list[Batch]:
    """What one trainer of ``trainers`` asks in its first ``batches`` batches."""
    recorder = Recorder()
    exchange = in_mode(recorder, mode, trainers)
    values = {parameter.name: np.zeros(parameter.shape, np.float32) for parameter in _MODEL}
    exchange.start(_MODEL, update_in(mode), values)
    exchange.begin_pass(0)
    told, script = 0, []
    for number in range(1, batches + 1):
        exchange.prefetch({"t": np.array([0])})
        before = _taken(recorder)
        rows = SparseRows(np.array([0]), np.ones((1, 1), np.float32), 2)
        exchange.step({"w": np.ones(1, np.float32), "t": rows}, 1)
        after = _taken(recorder)
        script.append(Batch(before, after, merged=number - told))
        told = number if "push" in after else told
    exchange.close()
    return script


def _taken(recorder: Recorder) -> tuple[Call, ...]:
    calls, recorder.calls = tuple(recorder.calls), []
    return calls
