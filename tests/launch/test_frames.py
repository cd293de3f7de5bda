"""What agents say and hear: frames cut anywhere, nonsense, and the leash."""

import json
import math
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.backends.frames import LONGEST, FrameReader
from paddle._launch.backends.leash import Leash
from paddle._launch.events import (
    Answered,
    Heard,
    JobBroke,
    NodeFailed,
    RoleExited,
    RoleJoined,
    RoleMeets,
    RoleReady,
)
from paddle._launch.news import Printed, Progress, Told, Waiting
from paddle._launch.phases import Phase

ROLES = {"pserver-1", "trainer-1", "t", "p"}
WAITS = {"report": "waiting", "trainers": [0, 1], "seconds": 5}
MEETS = {"report": "meets", "finds_nobody": True}
BROKEN = {"report": "broken", "reason": "why", "trainers": [1], "is_own": False, "other": ""}
ANOTHER = {**BROKEN, "trainers": [], "other": "pserver-9"}
PROGRESS = {"report": "progress", "pass_id": 1, "batch_id": 2, "cost": 3, "samples_per_s": 4.5}
FRAMES = [
    ({"event": "up"}, Answered(1, Phase.OPEN)),
    (
        {"event": "report", "role": "pserver-1", "report": {"report": "ready", "ports": []}},
        RoleReady("pserver-1"),
    ),
    ({"event": "report", "role": "trainer-1", "report": PROGRESS}, Progress("trainer-1", 1, 2, 3, 4.5)),
    ({"event": "report", "role": "t", "report": {"report": "message", "text": "äöü"}}, Told("t", "äöü")),
    ({"event": "report", "role": "pserver-1", "report": {"report": "joined"}}, RoleJoined("pserver-1")),
    ({"event": "report", "role": "t", "report": MEETS}, RoleMeets("t", True)),
    ({"event": "report", "role": "p", "report": WAITS}, Waiting(("trainer-0", "trainer-1"), 5)),
    ({"event": "report", "role": "p", "report": BROKEN}, JobBroke("p", ("trainer-1",), "why")),
    ({"event": "report", "role": "p", "report": {**BROKEN, "is_own": True}}, JobBroke("p", ("p",), "why")),
    ({"event": "report", "role": "p", "report": ANOTHER}, JobBroke("p", ("pserver-9",), "why")),
    ({"event": "lines", "role": "trainer-1", "lines": ["a", "b"]}, Printed("trainer-1", ("a", "b"))),
    ({"event": "exit", "role": "trainer-1", "status": -9}, RoleExited("trainer-1", -9)),
    ({"event": "trouble", "text": "disk"}, Told("node 1", "disk")),
    ({"event": "failed", "text": "in use"}, NodeFailed(1, "in use")),
    ({"event": "beat"}, None),
    ({"event": "started", "role": "trainer-1", "pid": 5}, None),
]
STREAM = b"".join(json.dumps(frame).encode() + b"\n" for frame, _ in FRAMES)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_frames_are_understood_wherever_they_are_cut(cuts) -> None:
    reader = FrameReader(1, ROLES)
    edges = [0, *sorted(cuts), len(STREAM)]
    heard = [message for start, end in pairwise(edges) for message in reader.feed(STREAM[start:end])]
    assert heard.count(Heard(1)) == len(FRAMES)
    assert [message for message in heard if message != Heard(1)] == [said for _, said in FRAMES if said]


@given(st.binary(max_size=80))
def test_nonsense_is_told_and_does_no_harm(data) -> None:
    reader = FrameReader(0, ROLES)
    messages = list(reader.feed(data + b'\n{"event": "up"}\n'))
    assert messages[-1] == Answered(0, Phase.OPEN)
    assert all(isinstance(message, Heard | Told) for message in messages[:-1])


@pytest.mark.parametrize("role", ["trainer-2", "", None, ["t"], {"t": 1}, 1])
@pytest.mark.parametrize("event", ["report", "lines", "exit", "started"])
def test_a_node_does_not_speak_for_roles_of_others(role, event) -> None:
    frame = {"event": event, "role": role, "report": {"report": "ready"}, "lines": ["x"], "status": 7}
    (_, told) = FrameReader(1, ROLES).feed(json.dumps(frame).encode() + b"\n")
    assert isinstance(told, Told)
    assert told.text.startswith("its agent sent a malformed message: ")


def test_a_line_without_an_end_is_not_kept_for_ever() -> None:
    reader = FrameReader(1, ROLES)
    heard = [message for _ in range(100) for message in reader.feed(b"x" * (1 << 16))]
    assert sum(isinstance(message, Told) for message in heard) == (100 << 16) // (LONGEST + (1 << 16))
    assert len(reader._spool) <= LONGEST
    assert list(reader.feed(b'\n{"event": "up"}\n'))[-1] == Answered(1, Phase.OPEN)


def test_a_cost_that_is_not_a_number_arrives_as_such() -> None:
    frame = {"event": "report", "role": "t", "report": {**PROGRESS, "cost": math.nan}}
    (_, progress) = FrameReader(0, ROLES).feed(json.dumps(frame).encode() + b"\n")
    assert isinstance(progress, Progress)
    assert math.isnan(progress.cost)


def test_a_cost_that_no_float_can_hold_is_told_and_does_no_harm() -> None:
    frame = {"event": "report", "role": "t", "report": {**PROGRESS, "cost": 10**400}}
    assert list(FrameReader(0, ROLES).feed(json.dumps(frame).encode() + b"\n")) == [
        Heard(0),
        Told("t", "reported a number that cannot be"),
    ]


def test_last_words_are_kept() -> None:
    reader = FrameReader(0, ROLES)
    assert list(reader.feed(b'{"event": "ended", "why": "stopped: leash"}\n')) == [Heard(0)]
    assert reader.last_words == "stopped: leash"


def test_a_leash_gives_orders_whole_then_beats_then_the_end() -> None:
    leash = Leash(beat_s=0.001)
    leash.say({"do": "start", "role": "trainer-0"})
    assert json.loads(leash.read(1)) == {"do": "start", "role": "trainer-0"}
    assert json.loads(leash.read(1)) == {"do": "beat"}
    leash.say({"do": "stop", "grace_s": 1.0})
    leash.close()
    assert json.loads(leash.read(1))["do"] == "stop"
    assert [leash.read(1), leash.read(1)] == ["", ""]


def test_orders_that_wait_are_given_together_and_the_end_after_them() -> None:
    leash = Leash(beat_s=60.0)
    orders = [{"do": "start", "role": f"trainer-{number}"} for number in range(3)]
    for order in orders:
        leash.say(order)
    leash.close()
    assert [json.loads(line) for line in leash.read(1).splitlines()] == orders
    assert leash.read(1) == ""


def test_an_order_does_not_wait_for_the_next_beat() -> None:
    leash = Leash(beat_s=60.0)
    threading.Thread(target=leash.say, args=({"do": "beat"},)).start()
    assert json.loads(leash.read(1)) == {"do": "beat"}
