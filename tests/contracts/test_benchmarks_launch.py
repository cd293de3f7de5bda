"""The study of launches: what it makes of what a launch told, and how it judges waiting."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from benchmarks.launch import study, timeline
from benchmarks.launch.field import Launched
from benchmarks.launch.study import DELAY_MS, Size
from benchmarks.launch.timeline import PHASES, Untold

TOLD = [
    (1.0, {"event": "plan"}),
    (3.0, {"event": "phase", "phase": "deliver"}),
    (4.0, {"event": "phase", "phase": "open"}),
    (4.5, {"event": "phase", "phase": "serve"}),
    (6.0, {"event": "phase", "phase": "train"}),
    (6.1, {"event": "told", "source": "trainer-0", "text": "mark: runs"}),
    (6.3, {"event": "told", "source": "trainer-1", "text": "mark: runs"}),
    (7.0, {"event": "told", "source": "trainer-0", "text": "mark: imported"}),
    (7.5, {"event": "told", "source": "trainer-1", "text": "mark: imported"}),
    (9.0, {"event": "progress", "role": "trainer-1"}),
    (9.5, {"event": "progress", "role": "trainer-0"}),
]


def told(without: str = "") -> Iterable[dict[str, object]]:
    return [{"time": time, **news} for time, news in TOLD if news["event"] != without]


def test_phases_follow_each_other_from_the_command_to_the_first_step() -> None:
    phases = timeline.cut(0.0, told())
    assert list(phases.values()) == pytest.approx([1.0, 2.0, 1.0, 0.5, 1.5, 0.3, 1.2, 1.5])
    assert sum(phases.values()) == pytest.approx(9.0)


def test_a_launch_that_came_to_no_step_gives_no_number() -> None:
    with pytest.raises(Untold, match="step"):
        timeline.cut(0.0, told(without="progress"))


def launched(head_s: float = 1.0, **phases: float) -> Launched:
    return Launched({phase: phases.get(phase, 0.1) for phase in PHASES}, 1.0, head_s)


def test_what_waits_longer_for_more_nodes_is_a_missed_goal(monkeypatch, capsys, tmp_path) -> None:
    size = Size((1, 2, 8), 1)
    runs = {(nodes, delay): [launched()] for nodes in size.nodes for delay in (0.0, DELAY_MS)}
    monkeypatch.setattr(study, "measure", lambda _: runs)
    assert study.study(size, {"cores": 2}, tmp_path / "told.json", None)
    for nodes in size.nodes:
        runs[nodes, DELAY_MS] = [launched(reach=1.1), launched(reach=5.0)]
    assert study.study(size, {}, None, None), "as long for eight as for one, but for what else went on"
    runs[8, DELAY_MS] = [launched(reach=8.1, open=0.5)]
    assert not study.study(size, {}, tmp_path / "told.json", None)
    assert "MISSED" in capsys.readouterr().out
    verdicts = {one["phase"]: one for one in json.loads((tmp_path / "told.json").read_text())["verdicts"]}
    assert verdicts["reach"]["most_s"] == pytest.approx(8.0)
    assert verdicts["step"]["few"] == 2


def test_what_a_further_node_costs_the_launching_side_is_judged_in_both_halves() -> None:
    size = Size((1, 2, 4, 8), 1)

    def share(*heads_s: float) -> study.Share:
        pairs = zip(size.nodes, heads_s, strict=True)
        return study.share_of_a_node(size, {(nodes, 0.0): [launched(head_s)] for nodes, head_s in pairs})

    assert share(1.0, 1.1, 1.3, 1.7).met
    assert not share(1.0, 1.1, 1.3, 2.3).met, "each of the last four costs more than each of the first"
    assert not share(1.0, 1.3, 1.9, 1.9).met
    assert share(1.0, 1.1, 1.3, 1.7).ratio == pytest.approx(0.1)
