"""Brief: whether one thread computes a batch as soon as several that have a part of it each.

Each of several goes through all operators of a program, one at a time among all threads while it is in
Python, and gradients are added up and handed over behind them: some 0.5 ms. One thread that has the others
take their part of large products (shared.py) computes the rest alone. It must never know an executor.

Guarantee: what is said follows from the program and from sizes, never from a clock: how a batch is cut
decides in which order numbers are added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from paddle._engine.program import Program, Shape
from paddle._engine.teams import shared

MOST = 1 << 26
"""Multiplications of a batch, outside of what is shared, that one thread does sooner: in 2 ms or less."""

_ELEMENT, _LOOKUP = 6, 1 << 13
"""So many of them take as long as an element of what any other operator gives, or a row of a table."""

_PLAIN = frozenset(
    [
        *("abs", "brelu", "clip", "exp", "leaky_relu", "log", "reciprocal", "relu", "sigmoid", "softmax"),
        *("softplus", "sqrt", "square", "stanh", "tanh"),
        *("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div"),
        *("elementwise_max", "elementwise_min", "scale", "dropout", "concat", "lookup_table", "mul"),
        *("mean", "reduce_mean", "reduce_sum"),
        *("cross_entropy", "square_error_cost", "classification_error"),
    ]
)
"""Operators that compute each row by itself, and do with each element only a few times what they do."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a program computes for a row of a batch: ``products`` with parameters of these shapes, and the
    ``rest``, as so many multiplications."""

    products: Sequence[Shape]
    rest: int

    def is_brief(self, rows: int) -> bool:
        """Whether one thread is better given all of so many rows."""
        alone = sum(prod(shape) for shape in self.products if not shared.pays(rows, shape))
        return rows * (alone + self.rest) <= MOST


def work(program: Program) -> Work | None:
    """What there is to do for each row of a batch; None where an operator's share is not in its shapes."""
    forward = [operator for operator in program.main.operators if operator.role == "forward"]
    if any(operator.type not in _PLAIN for operator in forward):
        return None

    def shapes(names: Iterable[str]) -> list[Shape]:
        return [program.variable(name).shape for name in names]

    def of_row(names: Iterable[str]) -> int:
        return sum(abs(prod(shape)) for shape in shapes(names))

    elements = sum(of_row(operator.writes()) for operator in forward)
    looked = sum(of_row(operator.inputs["Ids"]) for operator in forward if operator.type == "lookup_table")
    products = shapes(operator.inputs["Y"][0] for operator in forward if operator.type == "mul")
    return Work(products, _ELEMENT * elements + _LOOKUP * looked)
