"""Wire: in which numbers the gradients of a job travel, as trainers and shards both know it.

float32        as they were computed.
bfloat16       16 bits each, and so are gradient rows, unless trainers update by themselves: half the bytes.
               The range of float32, 8 binary digits.
float16        the same with 11 digits, and one exponent for each parameter and push.
topk           of each dense parameter the ``share`` of values that is largest in magnitude, with their
               places, 8 bytes each. Parameters of at most ``WHOLE`` values, and rows, travel as they are.

The ``answers``, by which a trainer computes its next batch, travel as float32 or rounded to bfloat16; shards
keep float32, and what is tested and saved is that (outlet.py).

A job has one wire, whatever its sessions run over, so that its results do not depend on where its processes
are. It must never know a session, or what a gradient is for.

Guarantee: what a part of a parameter is in bytes is decided here and by the meta of its push alone (its
``forms``), equally for both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, cast, get_args

from paddle._engine.exchange import ModeSpec, ParameterSpec

WireName = Literal["float32", "bfloat16", "float16", "topk"]
AnswersName = Literal["float32", "bfloat16"]
WHOLE = 1024
_SHARE = 0.01
PLACE_BYTES, VALUE_BYTES, HALF_BYTES = 4, 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSpec:
    """See the module's text. ``share``: for topk only, above 0 and at most 1. ``answers``: of new values."""

    name: WireName = "float32"
    share: float = _SHARE
    answers: AnswersName = "float32"

    def __post_init__(self) -> None:
        if self.name not in get_args(WireName):
            raise ValueError(f"a wire is one of {', '.join(get_args(WireName))}, not {self.name!r}")
        if self.answers not in get_args(AnswersName):
            raise ValueError(f"answers are {' or '.join(get_args(AnswersName))}, not {self.answers!r}")
        if not 0 < self.share <= 1:
            raise ValueError(f"the share of topk is above 0 and at most 1, not {self.share}")

    @property
    def is_plain(self) -> bool:
        """Whether all values travel as they are."""
        return self.name == self.answers == "float32"

    @property
    def is_half(self) -> bool:
        """Whether values have 16 bits."""
        return self.name in ("bfloat16", "float16")

    def halves_rows(self, mode: ModeSpec) -> bool:
        """Whether values of rows have 16 bits, too. Not where a trainer counts what it pushed as known to it,
        and is not told of it again (local_updates.py)."""
        return self.is_half and not mode.is_local

    def picks(self, parameter: ParameterSpec) -> bool:
        """Whether only some values of a dense parameter travel."""
        return self.name == "topk" and parameter.size > WHOLE

    def most(self, parameter: ParameterSpec) -> int:
        """How many values of a dense parameter travel at most."""
        return ceil(self.share * parameter.size) if self.picks(parameter) else parameter.size

    def most_bytes(self, parameter: ParameterSpec, size: int) -> int:
        """What ``size`` values of a dense parameter on one shard come to at most."""
        if self.picks(parameter):
            return (PLACE_BYTES + VALUE_BYTES) * min(size, self.most(parameter))
        return (HALF_BYTES if self.is_half else VALUE_BYTES) * size


def wire_of(name: str, share: float, answers: str = "float32") -> WireSpec:
    """The wire that flags name; raises ValueError where there is none. A share that has no meaning is not
    told to others, who may have another."""
    share = share if name == "topk" else _SHARE
    return WireSpec(name=cast("WireName", name), share=share, answers=cast("AnswersName", answers))
