"""The study of memory: what it says of figures, and that it has a pserver fill a table."""

from __future__ import annotations

import json

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


def test_a_pserver_fills_a_table():
    figure = study.measure(SMALL)
    assert figure.data == 2 * 64 * 60_000
    assert 0 < figure.peak <= figure.allowed
