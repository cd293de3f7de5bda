"""The arena: where it begins, and what becomes of memory that it has outgrown."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.arena import LEAST, Arena, zeros
from paddle._engine.memory import ALIGNMENT
from paddle._engine.plans.room import Room

from .jobs import embedded

LARGE = 1 << 25


def test_it_begins_where_the_widest_register_likes_it() -> None:
    arena = Arena()
    for size in (1, LEAST + 1, LARGE):
        room = arena.room(size)
        assert room.ctypes.data % ALIGNMENT == 0 and room.nbytes == size
        room.fill(7)


@pytest.mark.parametrize("shape", [(3,), (1000, 300), (1 << 22,)])
def test_so_does_what_plans_compute_with(shape: tuple[int, ...]) -> None:
    found = zeros(shape)
    assert (found.shape, found.dtype, found.any()) == (shape, np.float32, False)
    assert found.ctypes.data % ALIGNMENT == 0 and found.flags.c_contiguous and found.flags.writeable


def test_plans_that_follow_each_other_work_in_the_same_memory() -> None:
    arena = Arena()
    first = arena.room(2 * LEAST)
    first[:] = 7
    assert (arena.room(LEAST) == 7).all()
    assert np.shares_memory(first, arena.room(2 * LEAST))


def test_a_little_more_than_there_was_makes_room_for_the_next_ones_as_well() -> None:
    arena = Arena()
    arena.room(4 * LEAST)
    arena.room(4 * LEAST + 1)
    memory = arena.memory
    arena.room(5 * LEAST)
    assert arena.memory is memory


def test_what_it_has_outgrown_takes_no_memory_though_somebody_holds_arrays_there() -> None:
    arena, whole = Arena(), Room()
    held = arena.room(LARGE)
    held.fill(7)
    with whole.growing(lambda: 0):
        arena.room(2 * LARGE).fill(7)
    assert LARGE // 2 < whole.grown < 3 * LARGE // 2, "twice as much is there, and half of that was before"
    assert not held.any(), "it can still be read"


def test_rows_that_an_exchange_keeps_of_a_smaller_batch_take_no_memory() -> None:
    """As the exchange of one process does, which looks at gradients once and then only whether they are the
    same ones: two arenas stood beside each other for one step, the most memory that such a job ever had."""
    job = embedded()
    for count in (20_000, 40_000):
        job.run({name: np.arange(count).reshape(-1, 1) % 10 for name in ("left", "right")})
    smaller, larger = (given["table"].values for given in job.exchange.given)
    assert larger.any() and not smaller.any()


def test_more_than_a_machine_has_is_no_memory() -> None:
    with pytest.raises(MemoryError, match=f"no memory for {1 << 60} bytes in which a program computes"):
        Arena().room(1 << 60)
