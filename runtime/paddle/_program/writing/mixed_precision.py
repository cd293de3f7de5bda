"""Mixed precision: an optimizer that programs decorate, to compute in numbers of 16 bits.

Here it is computed in float32, which needs no scaling of the loss. It must never know a rule. Guarantee: a
decorated optimizer trains as the bare one does; what is asked of its scaling is answered, and one notice says
that nothing is rounded to 16 bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import level_of_user
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper

LEVELS = ("O0", "OD", "O1", "O2")
DTYPES = ("float16", "bfloat16")


@cache
def tell() -> None:
    """Say once what becomes of mixed precision."""
    warnings.warn(
        "mixed precision changes nothing here: all is computed in float32, and no loss is scaled",
        stacklevel=level_of_user(),
    )


def check(who: str, level: Any, dtype: Any) -> None:
    """Refuse levels and dtypes that there are not."""
    if str(level).upper() not in LEVELS:
        raise BadArgument(f"{who}: level is one of {', '.join(LEVELS)}, and not {level!r}")
    if dtype not in DTYPES:
        raise BadArgument(f"{who}: dtype is 'float16' or 'bfloat16', and not {dtype!r}")


class OperatorLists:
    """Which operators a program has in 16 bits (``white_list``) and which in 32 (``black_list``), beyond
    those that the original has itself. All are computed in float32."""

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: str = "float16",
    ) -> None:
        check(type(self).__name__, "O1", dtype)
        self.white_list = set(custom_white_list or ())
        self.black_list = set(custom_black_list or ())
        self.black_varnames = set(custom_black_varnames or ())
        self.gray_list: set[str] = set()
        if both := sorted(self.white_list & self.black_list):
            raise BadArgument(
                f"{', '.join(both)}: an operator is in custom_white_list or in custom_black_list, not in both"
            )


class MixedPrecisionOptimizer:
    """``optimizer``, decorated. ``scaling``: the factor of the loss that it would begin with."""

    def __init__(self, optimizer: Any, amp_lists: Any, scaling: float) -> None:
        if not hasattr(optimizer, "minimize"):
            raise BadArgument(f"decorate takes an optimizer, and not a {type(optimizer).__name__}")
        tell()
        self._optimizer, self._amp_lists = optimizer, amp_lists
        self._init_loss_scaling = float(scaling)
        self._loss_scaling: Variable | None = None
        self._loss: Variable | None = None

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Any:
        """As the bare optimizer's."""
        made = self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        self._written(loss)
        return made

    def backward(self, loss: Any, *others: Any, **named: Any) -> Any:
        """As the bare optimizer's."""
        found = self._optimizer.backward(loss, *others, **named)
        self._written(loss)
        return found

    def amp_init(
        self,
        place: Any,
        scope: Any = None,
        test_program: Any = None,
        use_fp16_test: bool = False,
        **others: Any,
    ) -> None:
        """Cast parameters to 16 bits: they stay as they are."""

    def get_loss_scaling(self) -> Variable:
        """The factor of the loss, a variable: it stays what it begins with."""
        if self._loss_scaling is None:
            raise BadArgument("get_loss_scaling: call minimize(loss) before")
        return self._loss_scaling

    def get_scaled_loss(self) -> Variable | None:
        """The loss, which is not scaled."""
        return self._loss

    def _written(self, loss: Any) -> None:
        self._loss = loss
        helper = LayerHelper("loss_scaling")
        variable = helper.create_global_variable(
            name=unique_name.generate("loss_scaling"), dtype=VarType.FP32, shape=[1], persistable=True
        )
        self._loss_scaling = helper.set_variable_initializer(variable, Constant(self._init_loss_scaling))

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_optimizer"], name)


@contextmanager
def guard() -> Iterator[None]:
    """What is appended within is meant for 16 bits."""
    tell()
    yield
