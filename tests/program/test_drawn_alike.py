"""What a seed says: programs that are written alike begin alike; without one each start differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh

L = fluid.layers
X = {"x": np.ones((4, 6), np.float32)}


def written(seed: int, **named: Any) -> tuple[Any, Any, list[Any]]:
    """A program of two layers, its start and what it fetches."""
    main, start = fluid.Program(), fluid.Program()
    main.random_seed = start.random_seed = seed
    with fluid.program_guard(main, start):
        inner = L.fc(L.data("x", [6]), 5, **named)
        return main, start, [L.fc(inner, 3), L.dropout(inner, 0.5), L.uniform_random([4])]


def begun(exe: fluid.Executor, made: tuple[Any, Any, list[Any]]) -> list[np.ndarray]:
    """The values of the first run behind a start of its own."""
    main, start, wanted = made
    with fluid.scope_guard(fluid.Scope()):
        exe.run(start)
        return [np.array(each) for each in exe.run(main, feed=X, fetch_list=wanted)]


@pytest.mark.parametrize("named", [{}, {"name": "another"}])
def test_programs_written_alike_begin_alike_whatever_they_call_things(named: dict[str, Any]) -> None:
    with fresh():
        first, second = begun(fluid.Executor(), written(9)), begun(fluid.Executor(), written(9, **named))
        other = begun(fluid.Executor(), written(10))
    for mine, yours, apart in zip(first, second, other, strict=True):
        np.testing.assert_array_equal(mine, yours)
        assert not np.array_equal(mine, apart)


def test_layers_of_one_shape_do_not_begin_alike() -> None:
    with fresh():
        main, start = fluid.Program(), fluid.Program()
        start.random_seed = 3
        with fluid.program_guard(main, start):
            x = L.data("x", [6])
            two = [L.fc(x, 6, bias_attr=False) for _ in range(2)]
        one, other = begun(fluid.Executor(), (main, start, two))
    assert not np.array_equal(one, other)


def test_without_a_seed_each_start_draws_anew() -> None:
    with fresh():
        exe, made = fluid.Executor(), written(0)
        assert not np.array_equal(begun(exe, made)[0], begun(exe, made)[0])


def test_a_seed_of_an_initializer_says_what_is_drawn_wherever_it_stands() -> None:
    with fresh():
        first = fluid.initializer.Uniform(-1.0, 1.0, seed=5)
        made = [L.create_parameter([4], "float32", default_initializer=first) for _ in range(2)]
        exe = fluid.Executor()
        for _ in range(2):
            exe.run(fluid.default_startup_program())
            one, other = exe.run(fetch_list=made)
            np.testing.assert_array_equal(one, other)
        assert len(set(one.tolist())) == 4
