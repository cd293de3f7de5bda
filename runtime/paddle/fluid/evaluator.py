"""Fluid's evaluators of 0.10 to 0.13: measures that add up in the program itself, in variables that outlive a
run. ``fluid.metrics`` came in their place.

They must never know what a chunk is (the layers do). Guarantee: ``eval`` is the measure of all runs since
``reset`` in the scope that is current.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description import unique_name
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program, program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import NotInitialized
from paddle._program.running.fetched import Fetched
from paddle._program.running.scope import global_scope
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._mean_precision import MeanPrecision

__all__ = ["Accuracy", "ChunkEvaluator", "DetectionMAP", "EditDistance", "Evaluator"]


class Evaluator:
    """Base of all. ``states``: what is added up; ``metrics``: what a batch has of its own."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.states: list[Variable] = []
        self.metrics: list[Variable] = []
        self.helper = LayerHelper(name, **kwargs)

    def reset(self, executor: Any, reset_program: Any = None) -> None:
        """Begin again."""
        for state in self.states:
            tensor = global_scope().var(state.name).get_tensor()
            tensor.set(np.zeros(state.shape, np.int64 if state.dtype == VarType.INT64 else np.float32))

    def eval(self, executor: Any, eval_program: Any = None) -> Any:
        """The measure of all runs."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it measures: define eval()")

    def _create_state(self, suffix: str, dtype: Any, shape: Any) -> Variable:
        name = f"{unique_name.generate(self.helper.name)}_{suffix}"
        traits: dict[str, Any] = {"shape": list(shape), "dtype": dtype, "persistable": True}
        state = self.helper.main_program.global_block().create_var(name=name, **traits)
        begun = self.helper.startup_program.global_block()
        Constant(0.0)(begun.create_var(name=name, **traits), begun)
        self.states.append(state)
        return state

    def _add(self, state: Variable, value: Variable) -> None:
        self.helper.append_op("sum", inputs={"X": [state, value]}, outputs={"Out": [state]})

    def _value(self, state: Variable) -> float:
        found = global_scope().value(state.name)
        if found is None:
            raise NotInitialized(
                f"evaluator state {state.name!r} has no value: run the startup program first"
            )
        return float(np.asarray(found).reshape(-1)[0])


class Accuracy(Evaluator):
    """The share of samples whose label is among the ``k`` greatest of their row; ``metrics``: a batch's.

    ``main_program`` and ``startup_program`` say to which programs it is added, where not to the default ones.
    """

    def __init__(
        self,
        input: Variable,
        label: Variable,
        k: int = 1,
        main_program: Program | None = None,
        startup_program: Program | None = None,
        **kwargs: Any,
    ) -> None:
        from paddle.fluid import layers

        super().__init__("accuracy", **kwargs)
        with program_guard(main_program or default_main_program(), startup_program):
            self.total = self._create_state("total", "int64", [1])
            self.correct = self._create_state("correct", "int64", [1])
            create = self.helper.create_variable_for_type_inference
            correct, total = (create(VarType.INT32, stop_gradient=True) for _ in range(2))
            self.metrics.append(layers.accuracy(input, label, k, correct=correct, total=total))
            self._add(self.total, layers.cast(total, "int64"))
            self._add(self.correct, layers.cast(correct, "int64"))

    def eval(self, executor: Any, eval_program: Any = None) -> np.ndarray:
        """The share of all samples, an array of one number."""
        total, correct = (self._value(state) for state in self.states)
        if not total:
            raise NotInitialized("fluid.evaluator.Accuracy: no run has had a sample since reset()")
        return _one(correct / total)


class ChunkEvaluator(Evaluator):
    """Precision, recall and F1 of chunks; see ``fluid.layers.chunk_eval``."""

    def __init__(
        self,
        input: Variable,
        label: Variable,
        chunk_scheme: str,
        num_chunk_types: int,
        excluded_chunk_types: Any = None,
    ) -> None:
        from paddle.fluid import layers

        super().__init__("chunk_eval")
        *shares, said, right, hits = layers.chunk_eval(
            input=input,
            label=label,
            chunk_scheme=chunk_scheme,
            num_chunk_types=num_chunk_types,
            excluded_chunk_types=excluded_chunk_types,
        )
        self.num_infer_chunks = self._create_state("num_infer_chunks", "int64", [1])
        self.num_label_chunks = self._create_state("num_label_chunks", "int64", [1])
        self.num_correct_chunks = self._create_state("num_correct_chunks", "int64", [1])
        self._add(self.num_infer_chunks, said)
        self._add(self.num_label_chunks, right)
        self._add(self.num_correct_chunks, hits)
        self.metrics.extend(shares)

    def eval(self, executor: Any, eval_program: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Precision, recall and F1, arrays of one number each."""
        said, right, hits = (self._value(state) for state in self.states)
        precision = hits / said if said else 0.0
        recall = hits / right if right else 0.0
        f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
        one, two, three = (_one(share) for share in (precision, recall, f1))
        return one, two, three


class EditDistance(Evaluator):
    """The mean distance of sequences, and the share of those that are not equal.

    ``metrics`` are of one batch: the sum of its distances, and how many of its sequences have one.
    """

    def __init__(self, input: Variable, label: Variable, ignored_tokens: Any = None, **kwargs: Any) -> None:
        from paddle.fluid import layers

        super().__init__("edit_distance", **kwargs)
        distances, number = layers.edit_distance(input=input, label=label, ignored_tokens=ignored_tokens)
        self.total_distance = self._create_state("total_distance", "float32", [1])
        self.seq_num = self._create_state("seq_num", "int64", [1])
        self.instance_error = self._create_state("instance_error", "int64", [1])
        total, wrong = self._reduced(distances), self._wrong(distances)
        self._add(self.total_distance, total)
        self._add(self.seq_num, number)
        self._add(self.instance_error, wrong)
        self.metrics.extend([total, wrong])

    def eval(self, executor: Any, eval_program: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean distance, and the share of sequences with one, arrays of one number each."""
        total, number, wrong = (self._value(state) for state in self.states)
        if not number:
            raise NotInitialized("fluid.evaluator.EditDistance: no run has had a sequence since reset()")
        return _one(total / number), _one(wrong / number)

    def _reduced(self, value: Variable) -> Variable:
        made: Variable = self.helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
        attrs = {"dim": [0], "reduce_all": True, "keep_dim": False}
        self.helper.append_op("reduce_sum", inputs={"X": [value]}, outputs={"Out": [made]}, attrs=attrs)
        return made

    def _wrong(self, distances: Variable) -> Variable:
        """How many are not 0: their signs, added up."""
        sign: Variable = self.helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
        self.helper.append_op("sign", inputs={"X": [distances]}, outputs={"Out": [sign]})
        count: Variable = self.helper.create_variable_for_type_inference(VarType.INT64, stop_gradient=True)
        attrs = {"in_dtype": int(VarType.FP32), "out_dtype": int(VarType.INT64)}
        self.helper.append_op(
            "cast", inputs={"X": [self._reduced(sign)]}, outputs={"Out": [count]}, attrs=attrs
        )
        return count


class DetectionMAP(MeanPrecision, Evaluator):
    """See ``fluid.metrics.DetectionMAP``; ``eval`` is told by the variables."""


def _one(number: float) -> np.ndarray:
    """An array of one number, which programs also take for the number."""
    return Fetched.of(np.array([number], np.float32))
