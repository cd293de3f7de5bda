"""Lowering of sparse data layers: what reads them as they are, and how they are spread out for all others.

It must never know how entries are fed. Guarantee: a layer that is only multiplied by weights is never spread
out, however wide it is; one that is spread out is so once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._lowering.output import AMOUNTS, STARTS, Entries

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def entries_fed(net: Network, name: str, width: int) -> Entries:
    """What the data layer of that name is fed."""
    data = net.builder.data
    return Entries(
        data(name, (-1,), "int64"), data(name + AMOUNTS, (-1,)), data(name + STARTS, (-1,), "int64"), width
    )


def product(net: Network, layer: str, weight: str) -> Variable:
    """The rows of a layer times the parameter ``weight``, of which sparse rows touch what they name."""
    parameter, entries = net.parameter(weight), net.outputs[layer].entries
    if entries is None:
        return net.builder.op("mul", X=net.value(layer), Y=parameter)
    return net.builder.op(
        "sparse_mul",
        {"is_sparse": parameter.spec.sparse},
        W=parameter,
        Ids=entries.columns,
        Amounts=entries.amounts,
        Starts=entries.starts,
    )


def spread(net: Network, entries: Entries) -> Variable:
    """All columns of sparse rows."""
    return net.builder.op(
        "sparse_spread",
        {"width": entries.width},
        Ids=entries.columns,
        Amounts=entries.amounts,
        Starts=entries.starts,
    )
