"""Decoding: pushes in the numbers in which they travel (wire.py), a shard's side.

What comes is received into memory of its own and decoded when it is there whole and undamaged: into arrays of
float32, which are kept from push to push. Nobody behind them knows in which numbers they came. It must never
know a session or a mode.

Guarantee: memory is made only for as many bytes as the job's wire lets a push bring, and nothing is decoded
outside of a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paddle._engine.exchange import ModeSpec
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import Push
from paddle._pserver.protocol.placement import Segment
from paddle._pserver.protocol.wire import HALF_BYTES, PLACE_BYTES, VALUE_BYTES, WireSpec
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.tables import Tables

Decode = Callable[[], None]
_EXPONENTS = range(-126, 128)
_ALIGNED = 8


class Decoder:
    """The pushes of one trainer to a shard that keeps ``tables``, in a job in ``mode``."""

    def __init__(self, wire: WireSpec, mode: ModeSpec, tables: Tables) -> None:
        self._wire, self._tables = wire, tables
        self._halves_rows = wire.halves_rows(mode)
        self._dense = [np.empty(segment.size, np.float32) for segment in tables.layout.segments]
        self._raw = np.empty(0, np.uint8)
        self._rows = np.empty(0, np.float32)

    def place(
        self, push: Push, counts: Sequence[int], body_length: int
    ) -> tuple[Gradient, Sequence[memoryview], Decode]:
        """The gradient that ``push`` brings, where its body goes, and what makes the one of the other.

        ``counts``: checked, how many rows of each table.
        """
        forms = self._forms(push)
        lengths = self._lengths(forms, counts)
        if sum(lengths) != body_length:
            raise BadMessage(f"this push should bring {sum(lengths)} bytes and brings {body_length}")
        parts = self._room(lengths)
        segments = len(self._dense)
        rows = self._made_rows(parts[segments].view(np.int64), counts)

        def decode() -> None:
            for raw, form, out, segment in zip(
                parts, forms, self._dense, self._tables.layout.segments, strict=False
            ):
                self._fill(raw, form, out, segment)
            for raw, form, each in zip(parts[segments + 1 :], forms[segments:], rows, strict=True):
                self._widen(raw, form, each.values.reshape(-1), is_half=self._halves_rows)

        return Gradient(self._dense, rows), [bytes_of(part) for part in parts], decode

    def length(self, push: Push, counts: Sequence[int]) -> int:
        """How many bytes ``push`` should bring."""
        return sum(self._lengths(self._forms(push), counts))

    def _lengths(self, forms: Sequence[int], counts: Sequence[int]) -> list[int]:
        return [*self._dense_lengths(forms), 8 * sum(counts), *self._row_lengths(counts)]

    def _forms(self, push: Push) -> Sequence[int]:
        """One for each segment and table; 0 where the wire needs none."""
        parts = len(self._dense) + len(self._tables.rows)
        if self._wire.name not in ("float16", "topk"):
            return [0] * parts
        if len(push.forms) != parts:
            raise BadMessage(f"this shard keeps {parts} parameters, the push tells {len(push.forms)} forms")
        if self._wire.name == "float16" and not all(form in _EXPONENTS for form in push.forms):
            raise BadMessage(f"a push tells an exponent outside {_EXPONENTS.start}..{_EXPONENTS.stop - 1}")
        return push.forms

    def _dense_lengths(self, forms: Sequence[int]) -> Iterator[int]:
        for form, segment in zip(forms, self._tables.layout.segments, strict=False):
            most = self._wire.most_bytes(segment.parameter, segment.size)
            if not self._wire.picks(segment.parameter):
                yield most
                continue
            length = (PLACE_BYTES + VALUE_BYTES) * form
            if not 0 <= length <= most:
                raise BadMessage(
                    f"{form} values of {segment.parameter.name!r} are more than this job's share of it"
                )
            yield length

    def _row_lengths(self, counts: Sequence[int]) -> Iterator[int]:
        size = HALF_BYTES if self._halves_rows else VALUE_BYTES
        for count, table in zip(counts, self._tables.rows.values(), strict=True):
            yield size * count * table.held.width

    def _room(self, lengths: Sequence[int]) -> list[np.ndarray]:
        """Where parts of the body go, each where numbers of any kind may begin."""
        rooms = [-(-length // _ALIGNED) * _ALIGNED for length in lengths]
        if len(self._raw) < sum(rooms):
            self._raw = np.empty(sum(rooms), np.uint8)
        parts = zip(split(self._raw, rooms), lengths, strict=True)
        return [room[:length] for room, length in parts]

    def _made_rows(self, ids: np.ndarray, counts: Sequence[int]) -> list[Rows]:
        """Rows whose values are not there yet."""
        widths = [table.held.width for table in self._tables.rows.values()]
        sizes = [count * width for count, width in zip(counts, widths, strict=True)]
        if len(self._rows) < sum(sizes):
            self._rows = np.empty(sum(sizes), np.float32)
        values = split(self._rows, sizes)
        return [
            Rows(one, flat.reshape(-1, width))
            for one, flat, width in zip(split(ids, counts), values, widths, strict=True)
        ]

    def _fill(self, raw: np.ndarray, form: int, out: np.ndarray, segment: Segment) -> None:
        if not self._wire.picks(segment.parameter):
            return self._widen(raw, form, out, is_half=self._wire.is_half)
        from paddle._engine.kernels.largest import put  # numba is loaded only where it is needed

        places, values = raw[: PLACE_BYTES * form], raw[PLACE_BYTES * form :]
        if not put(places.view(np.uint32), values.view(np.float32), out):
            raise BadMessage(f"places in {segment.parameter.name!r} are not ascending, or are outside of it")
        return None

    def _widen(self, raw: np.ndarray, form: int, out: np.ndarray, *, is_half: bool) -> None:
        """Fill ``out`` with all its values."""
        if not is_half:
            out[...] = raw.view(np.float32)
            return
        from paddle._engine.kernels import halves

        if self._wire.name == "float16":
            halves.from_float16(raw.view(np.uint16), form, out)
        else:
            halves.from_bfloat16(raw.view(np.uint16), out)


def split(flat: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """The first of ``flat``, cut into pieces of these sizes."""
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return [flat[end - size : end] for end, size in zip(ends, sizes, strict=True)]
