"""LayerHelper: what layers write programs with.

It must never know what a layer computes. Guarantee: names follow from the order of layers alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from paddle._complaint import tell_uncaught
from paddle._program.description import unique_name
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType, dtype_of, is_float
from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant, Initializer, Xavier, global_initializer
from paddle._program.writing.param_attr import ParamAttr, WeightNormParamAttr, normalized_weights


class LayerHelper:
    """``layer_type`` names what is made; ``kwargs`` are the layer's arguments."""

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        tell_uncaught()
        self.layer_type = layer_type
        self.kwargs = kwargs
        self.name: str = kwargs.get("name") or unique_name.generate(layer_type)

    @property
    def main_program(self) -> Program:
        """The program that is being written."""
        return default_main_program()

    @property
    def startup_program(self) -> Program:
        """The program that gives first values."""
        return default_startup_program()

    @property
    def block(self) -> Block:
        """The block that is being written."""
        return self.main_program.current_block()

    def append_op(self, *args: Any, **kwargs: Any) -> Operator:
        """Append an operator to it."""
        return self.block.append_op(*args, **kwargs)

    def multiple_input(self, input_param_name: str = "input") -> list[Variable]:
        """The layer's inputs, one or several."""
        given = self.kwargs.get(input_param_name, [])
        several = list(given) if isinstance(given, list | tuple) else [given]
        for each in several:
            if not isinstance(each, Variable):
                raise BadArgument(
                    f"{self.layer_type}: {input_param_name} is a Variable of the program, not {each!r}"
                )
        return several

    def input(self, input_param_name: str = "input") -> Variable:
        """The layer's one input."""
        found = self.multiple_input(input_param_name)
        if len(found) != 1:
            raise BadArgument(f"{self.layer_type} takes one {input_param_name}, not {len(found)}")
        return found[0]

    def input_dtype(self, input_param_name: str = "input") -> VarType:
        """The dtype of its inputs, which is one."""
        found = {each.dtype for each in self.multiple_input(input_param_name)}
        if len(found) != 1:
            raise BadArgument(f"{self.layer_type}: its inputs are of several dtypes: {sorted(found)}")
        return found.pop()

    @property
    def param_attr(self) -> Any:
        """The attribute of its weights."""
        return ParamAttr._to_attr(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self) -> Any:
        """The attribute of its bias."""
        return ParamAttr._to_attr(self.kwargs.get("bias_attr"))

    def multiple_param_attr(self, length: int) -> list[Any]:
        """One attribute for each of ``length`` weights."""
        given = self.param_attr
        several = given if isinstance(given, list) else [given]
        if len(several) == 1 and length != 1:
            several = [copy(several[0]) for _ in range(length)]
        if len(several) != length:
            raise BadArgument(f"{self.layer_type}: {len(several)} param_attr for {length} inputs")
        return several

    def iter_inputs_and_params(self, input_param_name: str = "input") -> Iterator[tuple[Variable, Any]]:
        """Each input with the attribute of its weights."""
        inputs = self.multiple_input(input_param_name)
        yield from zip(inputs, self.multiple_param_attr(len(inputs)), strict=True)

    def create_parameter(
        self,
        attr: Any,
        shape: Any,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        stop_gradient: bool = False,
        type: VarType = VarType.LOD_TENSOR,
    ) -> Any:
        """A parameter, with its first value in the startup program; None where attr is False."""
        attr = ParamAttr._to_attr(attr)
        if attr is False:
            return None
        if isinstance(attr, WeightNormParamAttr):
            return normalized_weights(self, attr, [int(size) for size in shape], dtype, default_initializer)
        attr = copy(attr)
        dtype = VarType.FP32 if dtype is None else dtype_of(dtype)
        fallback = Constant(0.0) if is_bias or not is_float(dtype) else Xavier()
        attr._set_default_initializer(default_initializer or global_initializer(is_bias) or fallback)
        if attr.name is None:
            attr.name = unique_name.generate(f"{self.name}.{'b' if is_bias else 'w'}")
        traits = attr._to_kwargs()
        shape = [int(size) for size in shape]
        if not shape or min(shape) < 1:
            raise BadArgument(f"{self.layer_type}: a parameter has sizes of 1 or more, not {shape}")
        startup = self.startup_program.global_block()
        startup.create_parameter(shape=shape, dtype=dtype, initializer=attr.initializer, **traits)
        made = self.main_program.global_block().create_parameter(shape=shape, dtype=dtype, **traits)
        made.stop_gradient = stop_gradient
        return made

    def get_parameter(self, name: str) -> Parameter:
        """The parameter of that name."""
        found = self.main_program.global_block().var(name)
        if not isinstance(found, Parameter):
            raise BadArgument(f"{name!r} is not a parameter")
        return found

    def create_variable_for_type_inference(
        self, dtype: Any, stop_gradient: bool = False, shape: Any = None
    ) -> Variable:
        """A variable for what an operator gives, which says its shape."""
        name = unique_name.generate(f"{self.name}.tmp")
        return self.block.create_var(name, dtype=dtype, stop_gradient=stop_gradient, shape=shape)

    create_tmp_variable = create_variable_for_type_inference

    def create_variable(self, *args: Any, **kwargs: Any) -> Variable:
        """A variable of the block that is being written."""
        return self.block.create_var(*args, **kwargs)

    def create_global_variable(
        self, persistable: bool = False, *args: Any, name: str | None = None, **kwargs: Any
    ) -> Variable:
        """A variable of the global block, which names it where ``name`` is None."""
        return self.main_program.global_block().create_var(
            name, *args, persistable=persistable, **{"stop_gradient": True, **kwargs}
        )

    def create_or_get_global_variable(self, name: str, *args: Any, **kwargs: Any) -> tuple[Variable, bool]:
        """The global variable of that name, and whether it was made now."""
        block = self.main_program.global_block()
        if block.has_var(name):
            return block.var(name), False
        return self.create_global_variable(*args, name=name, **kwargs), True

    def set_variable_initializer(self, var: Variable, initializer: Initializer) -> Variable:
        """Give a variable its first value in the startup program."""
        block = self.startup_program.global_block()
        if not any(var.name in op.output_arg_names for op in block.ops):
            initializer(var, block)
        return var

    def append_bias_op(self, input_var: Variable, dim_start: int = 1, dim_end: int | None = None) -> Variable:
        """Add a bias to what the layer gives, along its axes from ``dim_start`` on, unless it has none."""
        size = list(input_var.shape[dim_start:dim_end])
        bias_attr = self.bias_attr
        if bias_attr is False:
            return input_var
        bias = self.create_parameter(bias_attr, size, input_var.dtype, is_bias=True)
        out = self.create_variable_for_type_inference(input_var.dtype)
        inputs = {"X": [input_var], "Y": [bias]}
        self.append_op("elementwise_add", inputs=inputs, outputs={"Out": [out]}, attrs={"axis": dim_start})
        return out

    def append_activation(self, input_var: Variable) -> Variable:
        """Apply the layer's activation, if it has one."""
        act = self.kwargs.get("act")
        if act is None:
            return input_var
        if not isinstance(act, str | Mapping):
            raise BadArgument(
                f"{self.layer_type}: act is the name of an activation, such as 'relu', not {act!r}"
            )
        attrs = {"type": act} if isinstance(act, str) else dict(act)
        type = attrs.pop("type")
        out = self.create_variable_for_type_inference(input_var.dtype)
        try:
            self.append_op(type, inputs={"X": [input_var]}, outputs={"Out": [out]}, attrs=attrs)
        except NotImplementedError as absent:
            raise BadArgument(
                f"{self.layer_type}: act is the name of an activation, such as 'relu', and {type!r} is none"
            ) from absent
        return out
