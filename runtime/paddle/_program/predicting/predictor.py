"""Predictors of 2.x: a saved model that is run again and again, by handles of its inputs and outputs.

They must never know a file. Guarantee: a predictor's inputs stay until others are copied to them; clones, and
those of a pool, share a model's values and nothing else, so that each may run in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument
from paddle._program.predicting.config import Config
from paddle._program.predicting.model import Model
from paddle._program.predicting.tensor import Tensor
from paddle._program.running.executor import Executor
from paddle._program.running.lod_tensor import LoDTensor


class NoSuchName(BadArgument, RuntimeError):
    """A model has no input or output of that name."""


class Runner:
    """What predictors of all generations do."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._executor = Executor()
        self._inputs = {name: Tensor(name) for name in model.feeds}
        self._outputs = {name: Tensor(name) for name in model.targets}
        self._made_of = {model.made_of(name): name for name in model.targets}

    def get_input_names(self) -> list[str]:
        """The names of its inputs, in the model's order."""
        return list(self._model.feeds)

    def get_output_names(self) -> list[str]:
        """The names of its outputs, in the model's order."""
        return list(self._model.targets)

    def _output(self, name: str) -> Tensor:
        """The output of that name, or that of the variable which it was in the program that was saved."""
        return self._handle(self._made_of.get(name, name), self._outputs, "output")

    def _handle(self, name: str, among: Mapping[str, Tensor], what: str) -> Tensor:
        if name not in among:
            known = ", ".join(map(repr, among))
            raise NoSuchName(f"the model has no {what} {name!r}; it has {known}")
        return among[name]

    def _computed(self, values: Mapping[str, LoDTensor]) -> list[LoDTensor]:
        return self._model.compute(self._executor, values)

    def _run(self) -> None:
        given = {name: each._tensor for name, each in self._inputs.items() if each._tensor._is_initialized()}
        for name, found in zip(self.get_output_names(), self._computed(given), strict=True):
            self._outputs[name]._tensor = found


class Predictor(Runner):
    """A model that runs. ``config``: which, and how."""

    def __init__(self, config: Config) -> None:
        if not isinstance(config, Config):
            raise BadArgument(f"a predictor is made of a Config, and not of a {type(config).__name__}")
        super().__init__(config._read())

    def get_input_handle(self, name: str) -> Tensor:
        """The input of that name, to copy to."""
        return self._handle(name, self._inputs, "input")

    def get_output_handle(self, name: str) -> Tensor:
        """The output of that name, to copy from."""
        return self._output(name)

    def run(self, inputs: Sequence[Any] | None = None) -> list[np.ndarray] | None:
        """Compute the outputs of what was copied to the inputs. ``inputs``: arrays in the order of their
        names, of which the outputs are given back."""
        if inputs is None:
            self._run()
            return None
        names = self.get_input_names()
        if len(inputs) != len(names):
            raise BadArgument(f"run is given {len(inputs)} inputs, and the model has {', '.join(names)}")
        for name, each in zip(names, inputs, strict=True):
            self._inputs[name].copy_from_cpu(np.asarray(each))
        self._run()
        return [self._outputs[name].copy_to_cpu() for name in self.get_output_names()]

    def clone(self) -> Predictor:
        """Another one of the same values, for another thread."""
        made = object.__new__(type(self))
        Runner.__init__(made, self._model)
        return made

    def try_shrink_memory(self) -> int:
        """Give back what no run needs: nothing is kept."""
        return 0

    def clear_intermediate_tensor(self) -> None:
        """Forget what lies between inputs and outputs: no run leaves it."""


class PredictorPool:
    """``size`` predictors of one model."""

    def __init__(self, config: Config, size: int) -> None:
        if size < 1:
            raise BadArgument(f"a PredictorPool has one predictor or more, not {size}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, idx: int) -> Predictor:
        """That of a number, from 0 on."""
        if not 0 <= idx < len(self._predictors):
            raise BadArgument(f"the pool has {len(self._predictors)} predictors, and none of number {idx}")
        return self._predictors[idx]

    retrieve = retrive


def create_predictor(config: Config) -> Predictor:
    """A predictor of the model that a config names."""
    return Predictor(config)
