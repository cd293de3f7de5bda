"""ParamAttr: how one parameter is called, begins and learns.

It must never know a layer. Guarantee: whatever a program gives as an attribute becomes a ParamAttr, or False
where it wants no parameter.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.block import Block
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant, Initializer
from paddle._program.writing.regularizer import L2DecayRegularizer
from paddle._program.writing.taking import checked


class ParamAttr:
    """``learning_rate`` multiplies the optimizer's. What is None is the layer's, or the optimizer's."""

    @checked
    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        gradient_clip: Any = None,
        do_model_average: Any = True,
        need_clip: bool = True,
    ) -> None:
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.gradient_clip = gradient_clip
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def _set_default_initializer(self, initializer: Any) -> None:
        if self.initializer is None:
            self.initializer = initializer

    @staticmethod
    def _to_attr(given: Any) -> Any:
        """One ParamAttr for what a program gives: None, a name, an initializer, a regularizer or a bool."""
        if given is None or given is True:
            return ParamAttr()
        if isinstance(given, ParamAttr):
            return given
        if given is False:
            return False
        if isinstance(given, str):
            return ParamAttr(name=given)
        if isinstance(given, list | tuple):
            return [ParamAttr._to_attr(each) for each in given]
        if isinstance(given, Initializer):
            return ParamAttr(initializer=given)
        if isinstance(given, L2DecayRegularizer) or callable(given):
            return ParamAttr(regularizer=given)
        raise BadArgument(f"{given!r} is not an attribute of a parameter: it is a ParamAttr, a name or False")

    def _to_kwargs(self, with_initializer: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": self.name,
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "gradient_clip_attr": self.gradient_clip,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }
        return {**found, "initializer": self.initializer} if with_initializer else found


class WeightNormParamAttr(ParamAttr):
    """A parameter that is a direction times a length (Salimans and Kingma): of the whole, or of each place
    along axis ``dim``. Both are learned; at the beginning their product is what the initializer made. They
    are not averaged, unless ``do_model_average`` says so."""

    def __init__(self, dim: int | None = None, name: str | None = None, **traits: Any) -> None:
        super().__init__(name, **{"do_model_average": False, **traits})
        self.dim = dim


def normalized_weights(
    helper: Any, attr: WeightNormParamAttr, shape: list[int], dtype: Any, initial: Any
) -> Any:
    """The weights: an output of operators on the parameters ``NAME_v``, a direction, and ``NAME_g``, with as
    many axes, of size 1 but for that of ``dim``."""
    name = attr.name or unique_name.generate(f"{helper.name}.w")
    lengths = [size if axis == attr.dim else 1 for axis, size in enumerate(shape)]
    parts = {}
    for part in ("g", "v"):
        own = ParamAttr()
        vars(own).update({trait: value for trait, value in vars(attr).items() if trait != "dim"})
        own.name = f"{name}_{part}"
        begins = attr.initializer or initial if part == "v" else Constant(1.0)
        own.initializer = begins
        parts[part] = helper.create_parameter(own, shape if part == "v" else lengths, dtype)
    startup = helper.startup_program.global_block()
    given = startup.var(f"{name}_v")
    whole = {"X": [_length(startup, given, attr.dim)]}, {"Out": [startup.var(f"{name}_g")]}
    startup.append_op("reshape2", *whole, {"shape": lengths})
    block = helper.block
    long = block.create_var(unique_name.generate(f"{name}_g.reshape"), dtype=parts["g"].dtype)
    block.append_op("reshape2", {"X": [parts["g"]]}, {"Out": [long]}, {"shape": [-1]})
    share = _appended(block, "elementwise_div", long, _length(block, parts["v"], attr.dim))
    axis = -1 if attr.dim is None else attr.dim
    return _appended(block, "elementwise_mul", parts["v"], share, axis)


def _length(block: Block, v: Variable, dim: int | None) -> Variable:
    squares = _appended(block, "square", v)
    others = [axis for axis in range(len(v.shape)) if axis != dim]
    attrs = {"dim": others, "keep_dim": False, "reduce_all": dim is None}
    made = block.create_var(unique_name.generate(f"{v.name}.norm"), dtype=v.dtype)
    block.append_op("reduce_sum", {"X": [squares]}, {"Out": [made]}, attrs)
    return _appended(block, "sqrt", made)


def _appended(block: Block, type: str, x: Variable, y: Variable | None = None, axis: int = -1) -> Variable:
    made = block.create_var(unique_name.generate(f"{x.name}.{type}"), dtype=x.dtype)
    inputs = {"X": [x]} if y is None else {"X": [x], "Y": [y]}
    block.append_op(type, inputs, {"Out": [made]}, {} if y is None else {"axis": axis})
    return made
