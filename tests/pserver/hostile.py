"""Frames that nobody should send: random bytes, damaged ones, wrong lengths, lengths below nothing, deep
nests, lists that announce what does not come, out of turn."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import xxhash

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol import framing
from paddle._pserver.protocol.framing import MAGIC, VERSION, pieces
from paddle._pserver.protocol.messages import (
    KINDS,
    Answer,
    CountChanges,
    Declare,
    Export,
    Failure,
    GoBack,
    Goodbye,
    Hello,
    Part,
    PullChanges,
    PullRows,
    Push,
    Seed,
    Waiting,
    encode,
)

from .conftest import update

_packed = msgspec.msgpack.Encoder().encode
_HUGE = (1 << 31, 1 << 40, 1 << 62, (1 << 64) - 1)  # the last is -1 to who takes it for a number with a sign
_MANY = (b"\xdb", b"\xdd", b"\xdf", b"\xc6", b"\xc9")  # a text, a list, a map, bytes, an extension to come


def framed(kind: int, meta: bytes, body: bytes = b"") -> bytes:
    """A frame with the right checks."""
    parts = [memoryview(np.frombuffer(body, np.uint8).copy())] if body else []
    return b"".join(bytes(view) for group in pieces(kind, meta, parts) for view in group)


def of(message: Any, body: bytes = b"") -> bytes:
    return framed(*encode(message), body)


def header(kind: int, meta_length: int, body_length: int) -> bytes:
    """One that announces what it likes."""
    fields = framing._FIELDS.pack(MAGIC, VERSION, kind, meta_length & 0xFFFFFFFF, body_length)
    return fields + framing._CHECK.pack(xxhash.xxh32_intdigest(fields))


def nested(depth: int) -> bytes:
    """A list in a list in a list."""
    return b"\x91" * depth + b"\xc0"


class Hostile:
    """Makes them, the same ones for the same ``seed``, for a shard of these ``parameters``. None would change
    what others train: a goodbye, which may end a job, is said with right by whoever may come in."""

    def __init__(self, seed: int, parameters: tuple[ParameterSpec, ...]) -> None:
        self._random = random.Random(seed)
        self._parameters = parameters
        self._makers: list[Callable[[], bytes]] = [
            self._noise,
            self._truncated,
            self._flipped,
            self._announced,
            self._promised,
            self._deep,
            self._scrambled,
            self._of_another_kind,
            self._answer,
            self._out_of_turn,
            self._miscounted,
            self._of_another_length,
        ]

    def frame(self) -> bytes:
        return self._random.choice(self._makers)()

    def _bytes(self, most: int) -> bytes:
        return self._random.randbytes(self._random.randint(1, most))

    def _some(self) -> bytes:
        """A frame that is right in itself."""
        return self._random.choice([self._out_of_turn, self._miscounted, self._answer])()

    def _noise(self) -> bytes:
        return self._bytes(200)

    def _truncated(self) -> bytes:
        whole = self._some()
        return whole[: self._random.randrange(1, len(whole))]

    def _flipped(self) -> bytes:
        whole = bytearray(self._some())
        for _ in range(self._random.choice((1, 1, 3))):
            whole[self._random.randrange(len(whole))] ^= 1 << self._random.randrange(8)
        return bytes(whole)

    def _announced(self) -> bytes:
        kind, huge = self._random.randrange(256), self._random.choice(_HUGE)
        return header(kind, self._random.choice((0, huge)), self._random.choice((0, huge, 1 << 20)))

    def _promised(self) -> bytes:
        """A meta one of whose members announces up to 4,294,967,295 of what does not come."""
        before = b"\x98" + b"\x01" * self._random.randrange(4)
        count = self._random.choice((1 << 20, (1 << 31) - 1, (1 << 32) - 1))
        promise = self._random.choice(_MANY) + count.to_bytes(4, "big")
        return framed(self._random.choice(list(KINDS)), before + promise + self._bytes(20))

    def _deep(self) -> bytes:
        return framed(self._random.choice(list(KINDS)), nested(self._random.choice((40, 900, 100_000))))

    def _scrambled(self) -> bytes:
        """Right frames about something else."""
        kinds = [-1, 1 << 63, 1.5, None, True, "x" * 50, b"\xff" * 9, [], {}, {"a": [1, {}]}, [[[]]]]
        meta = [self._random.choice(kinds) for _ in range(self._random.randrange(8))]
        kinds_of = [kind for kind, message in KINDS.items() if message is not Goodbye]
        return framed(self._random.choice(kinds_of), _packed(meta) + self._random.choice((b"", b"\xc1")))

    def _of_another_kind(self) -> bytes:
        return framed(self._random.randrange(128, 256), self._bytes(40))

    def _answer(self) -> bytes:
        return of(self._random.choice((Answer(3), Waiting("x"), Failure("Stale", "x"))))

    def _out_of_turn(self) -> bytes:
        number = self._random.randrange(9)
        return of(
            self._random.choice(
                (
                    Hello(-1, number, 7, "dense"),
                    Declare(self._parameters, update(), 0, 1),
                    Declare(self._parameters * 2, update(), 3, 1),
                    Seed(),
                    Seed("x" * 20),
                    GoBack(number),
                    CountChanges(number),
                    PullChanges((number,) * 3),
                    Export("x", 5),
                )
            )
        )

    def _miscounted(self) -> bytes:
        numbers = (-1, -(1 << 62), 0, 3, *_HUGE[:3])
        counts = tuple(self._random.choice(numbers) for _ in range(self._random.randrange(1, 5)))
        step = self._random.choice((-1, 1, 2, 1 << 62))
        message = self._random.choice(
            (Push(step, 0, 1, counts), PullRows(counts), Push(step, 0, 1), Part(step, counts))
        )
        return of(message, self._random.choice((b"", self._bytes(64))))

    def _of_another_length(self) -> bytes:
        """It announces a body that no message of its kind has."""
        kind, meta = encode(self._random.choice((Push(1, 0, 1), Seed(), PullRows((1, 1)), Part(1, (0,)))))
        lengths = (1, 7, 1 << 20, 1 << 33, 60 << 30)
        digest = xxhash.xxh3_64(head := header(kind, len(meta), self._random.choice(lengths)) + meta)
        return head + framing._DIGEST.pack(digest.intdigest()) + self._bytes(64)
