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


def test_no_other_is_said_before_it_came_back() -> None:
    silence = Silence()
    silence.wants_sign(0.0)
    assert silence.wants_sign(SILENT_S)
    silence.heard()
    assert not silence.wants_sign(100.0) and not silence.wants_sign(200.0)
    silence.answered()
    assert silence.wants_sign(200.0)


def test_it_ends_the_longest_record_that_there_can_be() -> None:
    kind, meta = encode(SIGN)
    assert len(meta) >= (1 << 14) + 256
    assert decode(kind, memoryview(meta)) == SIGN
