"""Every row of `benchmarks models` is judged by what was set for its model, on one thread and on two."""

import pytest

from benchmarks.models import BENCHMARK
from benchmarks.models.aims import ENGINE, MISSES, PEERS

FACTORS = {"word2vec": (2, 5), "ctr": (2, 5), "regression": (5, 10)}
ROWS = [case for case in BENCHMARK.cases if case.settings["rule"] == "sgd"]


def test_each_model_has_a_row_on_one_thread_and_one_on_two():
    rows = [(case.settings["model"], case.volume, case.threads) for case in ROWS]
    assert {(model, batch) for model, batch, _ in rows} == {
        *(("word2vec", batch) for batch in (32, 128, 1024)),
        *(("ctr", 512), ("mlp", 128), ("lenet", 128), ("lstm", 64), ("regression", 20)),
    }
    assert sorted(rows) == sorted((m, b, t) for m, b in {row[:2] for row in rows} for t in (1, 2))


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_a_row_is_judged_by_processor_time_by_the_clock_and_by_memory_beside_both_peers(case):
    expected = {(peer, "memory"): 1.0 for peer in PEERS}
    for peer, factor in zip(PEERS, FACTORS.get(case.settings["model"], (1, 1)), strict=True):
        expected |= {(peer, quantity): 1 / factor for quantity in ("cpu", "wall")}
    aims = [goal for goal in case.goals if goal.contender == ENGINE and goal.against in PEERS]
    judged = {(goal.against, goal.quantity): goal.at_most for goal in reversed(aims)}  # the first counts
    assert judged == pytest.approx(expected)


def test_each_known_miss_is_of_an_aim_of_a_row_which_holds_what_was_measured_to_a_tenth():
    told = {
        (case.settings["model"], case.threads, goal.contender, goal.against, goal.quantity): goal
        for case in ROWS
        for goal in case.goals
        if goal.lacks
    }
    assert told.keys() == MISSES.keys()
    for key, goal in told.items():
        assert MISSES[key].measured * goal.at_most < 1
        assert goal.reached == pytest.approx(1.1 / MISSES[key].measured)
