"""ParamAttr: how one parameter is called, begins and learns.

It must never know a layer. Guarantee: whatever a program gives as an attribute becomes a ParamAttr, or False
where it wants no parameter.
"""

from __future__ import annotations

from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.initializer import Initializer


class ParamAttr:
    """``learning_rate`` multiplies the optimizer's. What is None is the layer's, or the optimizer's."""

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        gradient_clip: Any = None,
        do_model_average: Any = None,
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
        """One ParamAttr for what a program gives: nothing, a name, an initializer, True or False."""
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
        if hasattr(given, "_append_regularization_op") or callable(given):
            return ParamAttr(regularizer=given)
        raise BadArgument(f"{given!r} is no attribute of a parameter: it is a ParamAttr, a name or False")

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
