"""Modes that differ in who waits and who computes, over real connections to several shards: all that trainers
see is what the references of test_modes.py foresee, which know of no shard."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from ..conftest import Start
from .sockets import CourseOverSockets

FEW = settings(max_examples=4, stateful_step_count=20, phases=[Phase.generate])


@pytest.mark.parametrize("mode", ["sync, mean", "async", "geo"])
def test_trainers_see_the_same_over_sockets_and_of_several_shards(start_pservers: Start, mode: str) -> None:
    machine = partial(CourseOverSockets, mode, "adam", start_pservers)
    seed(mode)(machine)
    run_state_machine_as_test(machine, settings=FEW)
