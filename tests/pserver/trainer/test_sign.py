"""When a trainer that hears nothing says a sign."""

from __future__ import annotations

from paddle._pserver.protocol.messages import decode, encode
from paddle._pserver.trainer.sign import SIGN, SILENT_S, Silence


def test_it_is_said_once_nothing_has_come_for_a_while() -> None:
    silence = Silence()
    silence.begin()
    assert not silence.wants_sign(100.0)
    assert not silence.wants_sign(100.0 + SILENT_S / 2)
    assert silence.wants_sign(100.0 + SILENT_S)


def test_what_comes_begins_the_while_anew() -> None:
    silence = Silence()
    assert not silence.wants_sign(100.0)
    silence.heard()
    assert not silence.wants_sign(100.0 + SILENT_S)
    assert silence.wants_sign(100.0 + 2 * SILENT_S)


def test_each_that_does_not_come_back_doubles_the_wait_for_the_next() -> None:
    """The damage may be in the sign itself, and a shard that is stopped must not be flooded."""
    silence = Silence()
    said = [second for second in range(3600) if silence.wants_sign(float(second))]
    assert said == [SILENT_S * (2**count - 1) for count in range(1, 10)]
    silence.answered()
    assert not silence.wants_sign(said[-1] + SILENT_S - 1)
    assert silence.wants_sign(said[-1] + SILENT_S)


def test_it_ends_the_longest_record_that_there_can_be() -> None:
    kind, meta = encode(SIGN)
    assert len(meta) >= (1 << 14) + 256
    assert decode(kind, memoryview(meta)) == SIGN
