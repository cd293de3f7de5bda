"""What a trainer hands over is what it has at hand, whether it lies where the last step's did or not."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._pserver.memory.gradient_room import room_for
from paddle._pserver.protocol.encoding import Coded, Encoder, Slices
from paddle._pserver.protocol.placement import Slice
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.trainer.handed import SMALL_BYTES, Handed

MODEL = [ParameterSpec(name="w", shape=(2, 3)), ParameterSpec(name="b", shape=(3,))]
WHOLE = {p.name: Slices(p.name, [Slice(p.name, 0, p.size)]) for p in MODEL}


def gradients(seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {p.name: random.standard_normal(p.shape, np.float32) for p in MODEL}


def handed(wire: WireSpec | None = None) -> Handed:
    return Handed(MODEL, Encoder(wire or WireSpec(), ModeSpec()))


def told(coded: Mapping[str, Coded]) -> dict[str, bytes]:
    return {name: b"".join(one.part(WHOLE[name])[0]) for name, one in coded.items()}


def bytes_of(given: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in given.items()}


def test_the_same_arrays_are_looked_at_once_and_told_as_they_are_now() -> None:
    hands, given = handed(), gradients()
    first = hands.coded(given)
    given["w"] += 1
    assert hands.coded(dict(given)) is first
    assert told(first) == bytes_of(given)


def test_another_array_is_told_and_looked_at() -> None:
    hands, given = handed(), gradients()
    hands.coded(given)
    other = given | {"b": gradients(1)["b"]}
    assert told(hands.coded(other)) == bytes_of(other)
    for wrong in (np.zeros(4, np.float32), np.zeros(3), None):
        with pytest.raises(ExchangeError, match="'b'"):
            hands.coded(given | {"b": wrong})  # type: ignore[dict-item]
    with pytest.raises(ExchangeError, match="'b'"):
        hands.coded({"w": given["w"]})
    assert told(hands.coded(given)) == bytes_of(given)


def test_an_array_that_has_to_be_copied_is_copied_every_time() -> None:
    hands, given = handed(), gradients()
    given["w"] = np.asfortranarray(given["w"])
    hands.coded(given)
    given["w"] += 1
    assert told(hands.coded(given)) == bytes_of(given)


def test_what_is_encoded_is_encoded_with_every_step() -> None:
    hands, given = handed(WireSpec(name="bfloat16")), {p.name: np.full(p.shape, 1 + 2**-9) for p in MODEL}
    given = {name: array.astype(np.float32) for name, array in given.items()}
    steps = {told(hands.coded(given))["w"] for _ in range(4)}
    assert len(steps) == 2  # what was cut off is told later


def test_large_arrays_are_not_held_on_to() -> None:
    large = ParameterSpec(name="w", shape=(SMALL_BYTES // 4 + 1,))
    hands, array = Handed([large], Encoder(WireSpec(), ModeSpec())), np.zeros(large.shape, np.float32)
    gone = weakref.ref(array)
    hands.coded({"w": array})
    del array
    assert gone() is None


def test_what_lies_elsewhere_is_brought_into_the_room_every_time() -> None:
    room = room_for(MODEL)
    if room is None:
        pytest.skip("this machine lets nobody make memory that others see")
    hands, given = Handed(MODEL, Encoder(WireSpec(), ModeSpec()), room), gradients()
    for _ in range(2):
        given["w"] += 1
        hands.coded(given)
        assert bytes_of(room.arrays) == bytes_of(given)
    room.arrays["w"][:] = 5
    mine = {**given, "w": room.arrays["w"]}
    hands.coded(mine)
    given["b"] += 1
    assert told(hands.coded(mine)) == bytes_of(mine)
    assert bytes_of(room.arrays) == bytes_of(mine)
