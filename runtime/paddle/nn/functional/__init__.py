"""What networks of the 2.x generation are made of, as functions: ``paddle.nn.functional``.

It must never hold code of its own. Guarantee: each name is the very function of the module that it stands
for.
"""

from __future__ import annotations

from typing import Any

from paddle._public_names import missing
from paddle.nn.functional import (
    activation,
    alignments,
    attention,
    basics,
    chance,
    conv,
    input,
    loss,
    norm,
    pooling,
    shuffles,
    similarity,
    windows,
)
from paddle.tensor import creation, placing

_MODULES = (
    *(activation, alignments, attention, basics, chance, conv, input, loss, norm, pooling, shuffles),
    *(similarity, windows),
)
_HOMES = {name: module for module in _MODULES for name in module.__all__} | {
    "assign": creation,
    "diag_embed": placing,
}


def __getattr__(name: str) -> Any:
    if name.endswith("_") and name[:-1] in _HOMES:
        from paddle.tensor.in_place import in_place_of

        value = globals()[name] = in_place_of(name, getattr(_HOMES[name[:-1]], name[:-1]))
        return value
    if name not in _HOMES:
        raise missing(__name__, name)
    value = globals()[name] = getattr(_HOMES[name], name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
