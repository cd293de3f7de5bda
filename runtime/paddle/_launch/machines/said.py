"""Values that a node may say of itself: no others are believed; some become parts of paths, sums or texts.

It must never know what is asked. Guarantee: whatever passes can be added, written in words and shown in a
line; what becomes part of a path here is a word without a slash, and no ``..``.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec

from paddle._launch.errors import NodeUnfit
from paddle._visible import visible

Said = TypeVar("Said")
_SHOWN = 200

Text = Annotated[str, msgspec.Meta(max_length=4096)]
Word = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_]{1,32}\Z")]
Version = Annotated[str, msgspec.Meta(max_length=100)]
Path = Annotated[str, msgspec.Meta(pattern=r"^/[^\n\0]{0,4095}\Z")]
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]  # bytes of the largest disk, and more
Number = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Real = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]  # seconds since 1970, or a load


def understood(answer: object, kind: type[Said]) -> Said:
    """Give what was said as that kind, or refuse it."""
    try:
        return msgspec.convert(answer, kind, str_keys=True)
    except msgspec.ValidationError as error:
        said = visible(repr(answer)[:_SHOWN])
        raise NodeUnfit(
            f"it says of itself what is not understood ({visible(str(error))}): {said}"
        ) from error
