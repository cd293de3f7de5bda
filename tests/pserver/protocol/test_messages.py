"""Messages: what goes out comes in, and nothing else does."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol import messages
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    Failure,
    Hello,
    Push,
    Seed,
    Welcome,
    decode,
    encode,
)

EXAMPLES = [
    Hello(1, 2, 3, "sparse"),
    Declare(
        (ParameterSpec(name="w", shape=(2, 3), l2_rate=0.5), ParameterSpec(name="é", shape=(9,))),
        UpdateSpec(rule=RuleSpec(name="adam", options={"beta1": 0.9}), schedule=ScheduleSpec(args="1:2")),
        0,
        2,
    ),
    Seed(),
    Seed("w"),
    Push(step=1, pass_id=0, samples=7, counts=(1, 2)),
    Welcome(600.0),
    Answer(3, dropped=True),
    Failure("TrainerLost", "why"),
]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_as_it_went(message: messages.Request) -> None:
    kind, meta = encode(message)
    assert decode(kind, memoryview(meta)) == message


@given(st.sampled_from([*messages.KINDS, 0, 9, 255]), st.binary(max_size=200))
def test_random_bytes_are_messages_or_bad_messages(kind: int, meta: bytes) -> None:
    try:
        message = decode(kind, memoryview(meta))
    except BadMessage:
        return
    assert type(message) is messages.KINDS[kind]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(), st.lists
    )
)
def test_any_msgpack_value_is_a_message_or_a_bad_message(value: object) -> None:
    meta = msgspec.msgpack.encode(value)
    for kind in messages.KINDS:
        try:
            decode(kind, memoryview(meta))
        except BadMessage:
            continue


@pytest.mark.parametrize("step", [0, -1, 1 << 63])
def test_numbers_out_of_range_are_refused(step: int) -> None:
    meta = msgspec.msgpack.encode([step, 0, 1, []])
    with pytest.raises(BadMessage, match="Push message does not decode"):
        decode(6, memoryview(meta))


def test_deep_nesting_is_a_bad_message() -> None:
    with pytest.raises(BadMessage):
        decode(2, memoryview(b"\x91" * 100_000))
