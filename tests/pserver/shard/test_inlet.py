"""The inlet and the shard behind it stand whatever well-formed messages come, with whatever bodies
announced."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.errors import BadMessage, PserverError
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.framing import FrameReader, bytes_of, pieces
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    EndPass,
    Goodbye,
    Hello,
    Lies,
    Part,
    Pull,
    PullRows,
    Push,
    Remind,
    Request,
    Seed,
    Share,
    encode,
)
from paddle._pserver.shard.inlet import Inbound, Inlet

from ..talk import MODEL, Fails, Talk, update

NUMBER = st.one_of(st.integers(0, 6), st.integers(0, 1 << 62))
COUNTS = st.lists(NUMBER, max_size=3).map(tuple)
NAMES = st.sampled_from([None, "t", "w", "x"])
MESSAGES = st.one_of(
    st.builds(
        Hello, st.integers(0, 2), st.integers(-1, 3), st.integers(0, 3), st.sampled_from(["dense", "sparse"])
    ),
    st.builds(
        Declare, st.sampled_from([MODEL, MODEL[:1], ()]), st.just(update()), st.integers(0, 2), st.just(1)
    ),
    st.builds(Seed, NAMES),
    st.builds(Pull, NAMES),
    st.builds(PullRows, COUNTS),
    st.builds(Push, st.integers(1, 3), NUMBER, NUMBER, COUNTS),
    st.builds(Push, st.integers(1, 3), NUMBER, NUMBER, COUNTS, st.just(()), st.just(0), NUMBER),
    st.builds(Part, st.integers(1, 3), COUNTS),
    st.builds(EndPass, NUMBER),
    st.builds(Goodbye, st.sampled_from([None, "why"])),
    st.builds(Share, st.none() | st.builds(Lies, NUMBER, NUMBER, NUMBER), st.just({"w": 0}), st.booleans()),
)


def arrive(talk: Talk, inlets: dict[int, Inlet], trainer: int, message: Request, length: int) -> None:
    """What a session does with a frame."""
    inlet = inlets.setdefault(trainer, Inlet(talk.shard, trainer + 1))
    kind, meta = encode(message)
    try:
        inbound, buffers = inlet.place(kind, memoryview(meta), length)
    except PserverError as error:
        assert isinstance(error, BadMessage)
        return
    if sum(buffer.nbytes for buffer in buffers) != length:
        return  # which the reader refuses
    for buffer in buffers:
        buffer[:] = bytes(buffer.nbytes)
    talk.ask(trainer, inbound.message, inbound.gradient, ids=inbound.ids)


@given(
    st.booleans(),
    st.lists(
        st.tuples(st.integers(0, 1), MESSAGES, st.one_of(st.integers(0, 70), st.integers(0, 1 << 63))),
        max_size=12,
    ),
)
def test_no_course_of_messages_breaks_a_shard(ready: bool, course: list[tuple[int, Request, int]]) -> None:
    talk = Talk(2)
    if ready:
        talk.start()
    inlets: dict[int, Inlet] = {}
    for trainer, message, length in course:
        arrive(talk, inlets, trainer, message, length)
        talk.wait(1)


@pytest.mark.parametrize(
    ("message", "length"),
    [
        (Push(1, 0, 1, (1 << 40,)), 1 << 43),
        (Push(1, 0, 1, (0,)), 1 << 43),
        (Part(1, (1 << 40,)), 1 << 43),
        (PullRows((1 << 40,)), 1 << 43),
        (Goodbye(), 1 << 43),
    ],
)
def test_no_room_is_made_for_a_body_that_the_model_does_not_explain(message: Request, length: int) -> None:
    inlet = Inlet(Talk(1).start().shard, 1)
    kind, meta = encode(message)
    tracemalloc.start()
    try:
        with pytest.raises(BadMessage):
            inlet.place(kind, memoryview(meta), length)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # other threads of this process allocate, too
    finally:
        tracemalloc.stop()


def test_a_trainer_cannot_answer() -> None:
    kind, meta = encode(Answer(1))
    with pytest.raises(BadMessage, match="a trainer does not send Answer"):
        Inlet(Talk(1).shard, 1).place(kind, memoryview(meta), 0)


def test_gradients_are_received_into_the_same_memory_every_time() -> None:
    inlet = Inlet(Talk(1).start().shard, 1)
    kind, meta = encode(Push(1, 0, 1, (2,)))
    length = 4 * 4 + 2 * (8 + 2 * 4)
    first, second = (inlet.place(kind, memoryview(meta), length)[0] for _ in range(2))
    assert isinstance(first, Inbound)
    assert first.gradient.dense[0].ctypes.data == second.gradient.dense[0].ctypes.data
    assert [len(rows.ids) for rows in first.gradient.rows] == [2]
    assert {type(first.message)} <= set(get_args(Request))


def placed(inlet: Inlet, message: Request, length: int) -> tuple[Inbound, list[np.ndarray]]:
    """What ``place`` gives, the memory of the body as bytes."""
    kind, meta = encode(message)
    inbound, views = inlet.place(kind, memoryview(meta), length)
    return inbound, [np.frombuffer(view, np.uint8) for view in views]


def assert_same_memory(views: list[np.ndarray], *arrays: np.ndarray) -> None:
    """``views``, one after another, are the memory of ``arrays``, one after another."""
    assert sum(view.nbytes for view in views) == sum(array.nbytes for array in arrays)
    held = iter(array.reshape(-1).view(np.uint8) for array in arrays)
    rest = np.empty(0, np.uint8)
    for view in views:
        while view.nbytes:
            rest = rest if rest.nbytes else next(held)
            size = min(view.nbytes, rest.nbytes)
            assert view.ctypes.data == rest.ctypes.data
            view, rest = view[size:], rest[size:]


def test_initial_values_and_what_is_remembered_are_received_where_they_live() -> None:
    talk = Talk(1, UpdateSpec(rule=RuleSpec(name="adagrad"), schedule=ScheduleSpec()))
    talk.hello(0)
    talk.declare(0)
    inlet, tables = Inlet(talk.shard, 1), talk.shard.expecting(1).tables
    assert_same_memory(placed(inlet, Seed(), 16)[1], tables.values)
    assert_same_memory(placed(inlet, Seed("t"), 40)[1], tables.table("t").values)
    for parameter in ("w", "t"):
        slot = tables.slot(parameter, "square_sum")
        assert slot is not None
        remind = Remind(parameter=parameter, slot="square_sum")
        assert_same_memory(placed(inlet, remind, slot.nbytes)[1], slot)


@pytest.mark.parametrize("again", [Seed(), Seed("t"), Remind(4), Remind(parameter="w", slot="velocity")])
def test_no_initial_value_is_received_while_those_that_were_are_written(again: Request) -> None:
    """The snapshot may be read where it lies: with the second values it would be of neither."""
    spec = replace(update(), rule=RuleSpec(name="momentum", options={"momentum": 0.5}))
    talk = Talk(1, spec, snapshots=SnapshotOptions(folder="here"))
    talk.disk_is_slow = True
    talk.hello(0)
    talk.declare(0)
    talk.ask(0, Seed())
    assert talk.ask(0, Seed("t")) == [], "it does not last yet"
    length = 4 * 10 if again == Seed("t") else 4 * 4
    kind, meta = encode(again)
    with pytest.raises(BadMessage, match="from trainer 0 only, and once"):
        Inlet(talk.shard, talk.session(0)).place(kind, memoryview(meta), length)
    assert talk.ask(0, again) == [Fails("BadMessage", "and once")]
    talk.write()
    assert talk.shard.ready


def test_gradients_and_ids_are_received_where_they_are_applied_from() -> None:
    inlet = Inlet(Talk(1).start().shard, 1)
    inbound, views = placed(inlet, Push(1, 0, 1, (2,)), 16 + 2 * (8 + 8))
    (rows,) = inbound.gradient.rows
    assert_same_memory(views, *inbound.gradient.dense, rows.ids, rows.values)
    inbound, views = placed(inlet, PullRows((3,)), 24)
    assert_same_memory(views, *inbound.ids)


def test_parts_are_received_where_the_push_that_ends_them_is_applied_from() -> None:
    model = (ParameterSpec(name="w", shape=(4,)), ParameterSpec(name="v", shape=(3, 2)))
    talk = Talk(1)
    talk.hello(0)
    talk.ask(0, Declare(model, talk.spec, 0, 1))
    talk.ask(0, Seed())
    inlet = Inlet(talk.shard, 1)
    first, second = (4 * segment.size for segment in talk.shard.expecting(1).tables.layout.segments)
    _, part = placed(inlet, Part(1, (1,)), second)
    inbound, rest = placed(inlet, Push(1, 0, 1, parts=1), first)
    assert_same_memory([*rest, *part], *inbound.gradient.dense)


def test_a_frame_that_came_along_with_another_does_not_overwrite_its_gradient() -> None:
    talk = Talk(1).start()
    frames = b"".join(
        b"".join(group)
        for step, value in ((1, 1), (2, 100))
        for group in pieces(*encode(Push(step, 0, 1, (0,))), [bytes_of(np.full(4, value, np.float32))])
    )
    reader = FrameReader(Inlet(talk.shard, 1).place)
    staging = reader.buffers()[0]
    staging[: len(frames)] = frames
    reader.received(len(frames))
    for inbound in iter(reader.message, None):
        talk.ask(0, inbound.message, inbound.gradient, ids=inbound.ids)
    assert talk.shard.clocks.version == 2
    assert talk.w == [-0.5 * 101] * 4
