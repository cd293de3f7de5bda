"""Optimizer: writes gradients and updates into a program.

Both faces have classes of their own over this one, which differ in the names and order of arguments. It must
never know where parameters live.

Guarantee: whatever is written here is operators with Paddle's types and slots, in upstream's order:
gradients, clipping, regularisation, updates.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from paddle._program.description import unique_name
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program, default_startup_program, program_guard
from paddle._program.description.open_tables import open_tables
from paddle._program.description.operator import Operator, level_of_user
from paddle._program.description.program import Program
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadArgument
from paddle._program.lowering.updates import UPDATES, Kept
from paddle._program.writing.backward import append_backward, check_no_branch
from paddle._program.writing.initializer import Constant, RowsInitializer

Pairs = list[tuple[Any, Any]]


class Optimizer:
    """``learning_rate``: a number, a variable of the program that holds one, or a schedule of 2.x, which is
    asked for one at every step. ``type``: the operator's.

    What is remembered of each parameter the row of ``type`` says (updates.py); ``attrs`` are its numbers, and
    ``first_values`` those of what does not begin at 0, by name.
    """

    type = ""
    rate_shape: tuple[int, ...] = (1,)
    """Of the variable that holds the rate."""

    def __init__(
        self,
        learning_rate: Any,
        regularization: Any = None,
        grad_clip: Any = None,
        parameter_list: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._scheduler = learning_rate if hasattr(learning_rate, "last_lr") else None
        if self._scheduler is None and not isinstance(learning_rate, int | float | Variable):
            raise BadArgument(
                "learning_rate is a number, a Variable or a schedule of paddle.optimizer.lr, not "
                f"{learning_rate!r}"
            )
        if hasattr(parameter_list, "_regularization_coeff"):  # releases before 1.7 have it in this place,
            name = regularization if isinstance(regularization, str) else name  # and then the name
            parameter_list, regularization = None, parameter_list
        self._learning_rate = learning_rate
        self._learning_rate_map: WeakKeyDictionary[Program, Variable] = WeakKeyDictionary()
        self._name = name
        self.regularization = regularization
        self._grad_clip = grad_clip
        self._parameter_list = parameter_list
        self._accumulators: dict[str, dict[str, Variable]] = {}
        self.attrs: dict[str, Any] = {}
        self.first_values: dict[str, float] = {}

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
        checkpoints: Any = None,
    ) -> Pairs:
        """Append the gradients of ``loss``; gives parameters with their gradients."""
        if tuple(loss.shape) not in ((), (1,)):
            raise BadArgument(
                f"a loss is one number, and {loss.name!r} has shape {loss.shape}: take its mean"
            )
        parameters = parameter_list if parameter_list is not None else self._parameter_list
        found = append_backward(loss, parameters, no_grad_set, callbacks)
        return [pair for pair in found if isinstance(pair[0], Parameter)]

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Append clipping, regularisation and updates for these gradients; gives the update operators. Where
        there is no gradient, as upstream, nothing is appended; a warning says so."""
        pairs = sorted(params_grads, key=lambda pair: pair[0].name)
        if not pairs:
            warnings.warn(
                "nothing will be learned: the loss depends on no parameter that can be trained, or "
                "no_grad_set names all of them",
                stacklevel=level_of_user(),
            )
            return []
        program = pairs[0][0].block.program
        check_no_branch(program)
        with program._optimized_guard(pairs):
            pairs = self._clipped(pairs)
            pairs = self._regularized(pairs)
            return self._append_updates(program.global_block(), pairs)

    def apply_optimize(self, loss: Variable, startup_program: Any, params_grads: Pairs) -> list[Operator]:
        """The same, in the programs of ``loss``."""
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        grad_clip: Any = None,
    ) -> tuple[list[Operator], Pairs]:
        """Append all that makes ``loss`` smaller; gives updates, and parameters with gradients.
        ``grad_clip``: how gradients are clipped, as releases before 1.8 take it here."""
        if not isinstance(loss, Variable):
            raise BadArgument(f"minimize takes the loss, a Variable of a program, not {loss!r}")
        self._grad_clip = self._grad_clip if grad_clip is None else grad_clip
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs

    def _clipped(self, pairs: Pairs) -> Pairs:
        if self._grad_clip is not None:
            return list(self._grad_clip(pairs))
        from paddle._program.writing.clip import append_gradient_clip_ops

        return list(append_gradient_clip_ops(pairs))

    def _regularized(self, pairs: Pairs) -> Pairs:
        from paddle._program.writing.regularizer import append_regularization_ops

        return list(append_regularization_ops(pairs, self.regularization))

    def _append_updates(self, block: Block, pairs: Pairs) -> list[Operator]:
        self._create_global_learning_rate(block.program)
        self._create_accumulators(block, [parameter for parameter, _ in pairs])
        made = [
            self._append_optimize_op(block, pair)
            for pair in pairs
            if pair[1] is not None and pair[0].trainable
        ]
        self._finish_update(block, pairs)
        return made

    def _append_optimize_op(self, block: Block, pair: tuple[Any, Any]) -> Operator:
        parameter, gradient = pair
        kept = {each.slot: [self._get_accumulator(each.name, parameter)] for each in self._keeps}
        rate = [self._create_param_lr(block, parameter)]
        inputs = {"Param": [parameter], "Grad": [gradient], "LearningRate": rate, **kept}
        outputs = {"ParamOut": [parameter], **{f"{slot}Out": of for slot, of in kept.items()}}
        return block.append_op(
            self.type, inputs=inputs, outputs=outputs, attrs=dict(self._attrs_of(parameter))
        )

    def _attrs_of(self, parameter: Parameter) -> dict[str, Any]:
        """The numbers with which a parameter is moved."""
        return self.attrs

    @property
    def _keeps(self) -> tuple[Kept, ...]:
        known = UPDATES.get(self.type)
        return () if known is None else known.keeps

    def _finish_update(self, block: Block, pairs: Pairs) -> None:
        pass

    def _create_accumulators(self, block: Block, parameters: Sequence[Parameter]) -> None:
        open_ones = open_tables(block.program)
        for each in self._keeps:
            first = self.attrs[each.power] if each.power else self.first_values.get(each.name, 0.0)
            for parameter in parameters:
                shape = [1] if each.power else None
                self._add_accumulator(each.name, parameter, None, first, shape, open_ones)

    def _add_accumulator(
        self,
        name: str,
        param: Parameter,
        dtype: Any = None,
        fill_value: float = 0.0,
        shape: Any = None,
        open_ones: Mapping[str, str] | None = None,
    ) -> Variable:
        whole = name if self._name is None else f"{self._name}_{name}"
        known = self._accumulators.setdefault(name, {})
        if param.name in known:
            return known[param.name]
        open_ones = open_tables(param.block.program) if open_ones is None else open_ones
        made = persistent(
            unique_name.generate(f"{param.name}_{whole}"),
            list(param.shape) if shape is None else shape,
            param.dtype if dtype is None else dtype,
            fill_value,
            param.block.program,
            of_rows=shape is None and param.name in open_ones,
        )
        known[param.name] = made
        return made

    def _get_accumulator(self, name: str, param: Parameter) -> Variable:
        return self._accumulators[name][param.name]

    def get_opti_var_name_list(self) -> list[str]:
        """The names of what is remembered of parameters, in order."""
        return [each.name for known in self._accumulators.values() for each in known.values()]

    def _create_global_learning_rate(self, program: Program | None = None) -> Variable:
        program = program or default_main_program()
        found = self._learning_rate_map.get(program)
        if found is None:
            given = self._learning_rate
            if isinstance(given, Variable):
                found = given
            else:
                name = unique_name.generate("learning_rate")
                rate = given if self._scheduler is None else self._scheduler()
                found = persistent(name, self.rate_shape, VarType.FP32, float(rate), program)
                self._follow(program, name)
            self._learning_rate_map[program] = found
        return found

    def _follow(self, program: Program, name: str) -> None:
        """Have a schedule be asked for the rate at every step, where there is one."""
        if self._scheduler is not None:
            self._scheduler._var_name = name
            program._rates[name] = self._scheduler

    def _global_learning_rate(self, program: Program | None = None) -> Variable | None:
        return self._learning_rate_map.get(program or default_main_program())

    def _create_param_lr(self, block: Block, parameter: Parameter) -> Variable:
        rate, own = self._create_global_learning_rate(block.program), parameter.optimize_attr["learning_rate"]
        if isinstance(own, Variable):
            return own
        if own == 1.0:
            return rate
        made = block.create_var(unique_name.generate("learning_rate.own"), shape=[1], dtype=VarType.FP32)
        attrs = {"scale": float(own), "own_learning_rate": True}
        block.append_op("scale", inputs={"X": [rate]}, outputs={"Out": [made]}, attrs=attrs)
        return made


def persistent(
    name: str, shape: Any, dtype: Any, value: float, program: Program, *, of_rows: bool = False
) -> Variable:
    """A variable that outlives a run, which the startup program gives its first value. ``of_rows``: it is
    what is remembered of rows that are made when they are asked for."""
    traits = {"shape": shape, "dtype": dtype, "persistable": True, "stop_gradient": True}
    made = program.global_block().create_var(name, **traits)
    first = Constant(value)
    (RowsInitializer(first) if of_rows else first)(made, default_startup_program().global_block())
    return made
