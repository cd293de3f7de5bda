"""The study of memory: what it says of figures, and that it has a pserver fill a table."""

from __future__ import annotations

import json

import pytest

from benchmarks.memory import study
from benchmarks.memory.study import Case, Figure, Size

SMALL = Case("adagrad", 2, 60_000)


def test_a_figure_is_held_against_values_and_slots(monkeypatch, capsys, tmp_path):
    data = 2 * 64 * 60_000
    allowed = int(1.15 * data) + (64 << 20)
    for peak, met in ((allowed, True), (allowed + 1, False)):
        monkeypatch.setattr(study, "measure", lambda case, peak=peak: Figure(case, data, peak))
        assert study.study(Size((SMALL,)), {"cores": 2}, tmp_path / "told.json", None) is met
        assert ("met" if met else "MISSED") in capsys.readouterr().out
        assert json.loads((tmp_path / "told.json").read_text())["figures"][0]["peak"] == peak


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case("sgd", 1, 1_000_000, trainers=4), "each trainer's gradient is there"),
        (Case("sgd", 1, 1_000_000, trainers=4, waiting="0"), ""),
        (Case("sgd", 1, 1_000_000, trainers=4, waiting="64"), "each trainer's gradient is there"),
        (Case("adam", 3, 1_000_000, trainers=1, snapshots=True), "a snapshot is a copy"),
        (Case("adam", 3, 1_000_000, trainers=1), ""),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_is_known_to_miss_the_goal_says_so_and_fails_no_run(case, why):
    data = 64 * case.arrays * case.rows
    allowed = int(1.15 * data) + (64 << 20)
    missed = Figure(case, data, allowed + 1).verdict
    assert missed == (f"MISSED, as is known: {why}" if why else "MISSED")
    assert Figure(case, data, allowed).verdict == "met"
    assert Figure(case, data, 3 * allowed + 3 * data).verdict == "MISSED"


def test_a_pserver_fills_a_table():
    figure = study.measure(SMALL)
    assert figure.data == 2 * 64 * 60_000
    assert 0 < figure.peak <= figure.allowed
