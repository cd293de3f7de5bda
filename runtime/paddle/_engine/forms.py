"""Forms of a run: the shape and dtype of every variable, once a feed has decided all sizes.

It must never know an array. Guarantee: what a feed brings fits what the program declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from paddle._engine import registry
from paddle._engine.errors import FeedError
from paddle._engine.program import Form, Operator, Parameter, Program, Shape


def forms_of(
    program: Program, operators: Sequence[Operator], feed_shapes: Mapping[str, Shape], fetch: Sequence[str]
) -> dict[str, Form]:
    """The forms of all variables of a run, every size known."""
    made = {name for operator in operators for name in operator.writes()}
    forms: dict[str, Form] = {}
    for name in dict.fromkeys(chain(chain.from_iterable(each.reads() for each in operators), fetch)):
        if name in made:
            continue
        variable = program.variable(name)
        if isinstance(variable, Parameter):
            forms[name] = variable.form
        elif not variable.is_data:
            raise FeedError(f"{name!r} is made by no operator of this program: it cannot be fetched")
        elif name not in feed_shapes:
            raise FeedError(f"the feed lacks {variable}; it has {sorted(feed_shapes)}")
        else:
            forms[name] = Form(_fitting(str(variable), variable.shape, feed_shapes[name]), variable.dtype)
    for operator in operators:
        forms |= registry.infer(operator, forms)
    return forms


def _fitting(variable: str, declared: Shape, given: Shape) -> Shape:
    pairs = zip(declared, given, strict=False)
    if len(declared) != len(given) or any(size not in (-1, actual) for size, actual in pairs):
        raise FeedError(f"data {variable}: the feed's shape {list(given)} does not fit")
    return given
