"""Layer: a node of the network that a program writes down, and the names that nodes get.

It must never know how a layer is computed: what it holds is data, made into a program by ``_lowering``.
Guarantee: a layer never changes once it is made (except a mixed layer inside its ``with``), and ``number``
tells which came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle.v2._config import EvaluatorConfig, LayerConfig, ParameterConfig

if TYPE_CHECKING:
    from paddle.v2._scope import Group
    from paddle.v2.activation import BaseActivation
    from paddle.v2.data_type import InputType

__all__ = ["Layer"]

Initializer = Callable[[str], np.ndarray]
"""A program's own first value of a parameter, from its name."""

_numbers = count()
_names_given: Counter[str] = Counter()


def default_name(prefix: str) -> str:
    """The next of ``__prefix_0__``, ``__prefix_1__``..., as layers without a name are called."""
    _names_given[prefix] += 1
    return f"__{prefix}_{_names_given[prefix] - 1}__"


class Layer:
    """What a layer function returns: its configuration, the layers that it reads, its parameters.

    ``size``: the width of its output. Layers take ``+``, ``-`` and ``*`` with numbers and with each other.
    """

    def __init__(
        self,
        config: LayerConfig,
        parents: Sequence[Layer] = (),
        *,
        activation: BaseActivation | None = None,
        parameters: Sequence[tuple[ParameterConfig, Initializer | None]] = (),
        data_type: InputType | None = None,
    ) -> None:
        self.number = next(_numbers)
        self.config = config
        self.parents = list(parents)
        self.activation = activation
        self.parameters = list(parameters)
        self.data_type = data_type
        self.evaluators: list[EvaluatorConfig] = []
        self.printers: list[Layer] = []
        self.num_filters: int | None = None  # the channels of a layer over images
        self.outputs = ["default"]  # and what else it gives, for get_output
        self.home: Group | None = None  # the recurrent group that it was written in
        self.group: Group | None = None  # the one that it is, as a whole
        self.holds_ids = False  # it stands for another layer, which gives ids

    def is_written_now(self) -> None:
        """Stand behind all layers that were written before now, as one that is complete only now."""
        self.number = next(_numbers)

    @property
    def name(self) -> str:
        """Its name, by which feeding, evaluators and saved networks know it."""
        return str(self.config.name)

    @property
    def full_name(self) -> str:
        """The same; the original's layers inside recurrent groups had a longer one."""
        return str(self.config.name)

    @property
    def layer_type(self) -> str:
        """Its type, as ModelConfig spells it: ``data``, ``fc``, ``mixed``..."""
        return str(self.config.type)

    @property
    def size(self) -> int:
        """The number of columns of its output."""
        return int(self.config.size)

    @property
    def height(self) -> int:
        """The rows of the images that it gives; 0 where nobody said."""
        return int(self.config.height)

    @property
    def width(self) -> int:
        """The columns of the images that it gives; 0 where nobody said."""
        return int(self.config.width)

    @property
    def depth(self) -> int:
        """The planes of the volumes that it gives; 1 of images, and of what is none."""
        return int(self.config.depth)

    def __repr__(self) -> str:
        reads = ", ".join(parent.name for parent in self.parents)
        return f"<{self.layer_type} layer {self.name!r} of size {self.size}({reads})>"

    def __add__(self, other: Any) -> Layer:
        from paddle.v2.op import add  # it is made of layers

        return add(self, other)

    __radd__ = __add__

    def __neg__(self) -> Layer:
        from paddle.v2.op import negative

        return negative(self)

    def __sub__(self, other: Any) -> Layer:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Layer:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> Layer:
        from paddle.v2.op import multiply

        return multiply(self, other)

    __rmul__ = __mul__
