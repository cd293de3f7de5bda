"""The mean average precision of what a program detects, of each batch and of all since ``reset``.

It must never know how precision is measured (the layer does). Guarantee: what batches add up lies in
variables that outlive a run, in the scope that is current.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.guards import program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper

_STATES = (
    ("accum_pos_count", "int32", [-1, 1], 0),
    ("accum_true_pos", "float32", [-1, 2], 1),
    ("accum_false_pos", "float32", [-1, 2], 1),
)


class MeanPrecision:
    """``input``: (label, score, box), and ``gt_label``, ``gt_box`` and ``gt_difficult``, columns:
    sequences, one for each image. Other arguments are those of ``fluid.layers.detection.detection_map``."""

    def __init__(
        self,
        input: Variable,
        gt_label: Variable,
        gt_box: Variable,
        gt_difficult: Variable | None = None,
        class_num: int | None = None,
        background_label: int = 0,
        overlap_threshold: float = 0.5,
        evaluate_difficult: bool = True,
        ap_version: str = "integral",
    ) -> None:
        from paddle.fluid import layers

        columns = [gt_label] if gt_difficult is None else [gt_label, gt_difficult]
        for each in (input, gt_box, *columns):
            if not isinstance(each, Variable):
                raise BadArgument(
                    f"DetectionMAP takes Variables, what is detected and what is right, not {each!r}"
                )
        if class_num is None:
            raise BadArgument("DetectionMAP: class_num says how many classes there are, with none")
        self.helper = LayerHelper("map_eval")
        label = layers.concat([*(layers.cast(each, gt_box.dtype) for each in columns), gt_box], axis=1)
        told = (class_num, background_label, overlap_threshold, evaluate_difficult)
        self.cur_map = layers.detection_map(input, label, *told, ap_version=ap_version)
        states = [self._state(*each) for each in _STATES]
        self.has_state = self._state("has_state", "int32", [1], 0)
        begun = self.helper.startup_program.global_block()
        Constant(0)(_like(self.has_state, begun), begun)
        self.accum_map = layers.detection_map(
            input, label, *told, self.has_state, states, states, ap_version=ap_version
        )
        self._mark(1)

    def _state(self, suffix: str, dtype: str, shape: list[int], levels: int) -> Variable:
        name = f"{unique_name.generate(self.helper.name)}_{suffix}"
        traits: dict[str, Any] = {"shape": shape, "dtype": dtype, "lod_level": levels, "persistable": True}
        made: Variable = self.helper.main_program.global_block().create_var(name=name, **traits)
        made.stop_gradient = True
        return made

    def _mark(self, value: int, state: Variable | None = None) -> None:
        from paddle.fluid import layers

        layers.fill_constant([1], "int32", value, out=self.has_state if state is None else state)

    def get_map_var(self) -> tuple[Variable, Variable]:
        """Of a batch, and of all since ``reset``."""
        return self.cur_map, self.accum_map

    def reset(self, executor: Any, reset_program: Any = None) -> None:
        """Begin again."""
        program = Program() if reset_program is None else reset_program
        with program_guard(program):
            self._mark(0, _like(self.has_state, program.current_block()))
        executor.run(program)


def _like(state: Variable, block: Any) -> Variable:
    traits = {"shape": state.shape, "dtype": state.dtype, "persistable": True}
    made: Variable = block.create_var(name=state.name, **traits)
    return made
