"""Plans whose trainers are programs of fleet, which meet."""

from __future__ import annotations

from pathlib import Path

from paddle._fleet.meeting import _standing, meeting_of
from paddle._fleet.place import Place
from tests.launch.test_plan import folder, planned

__all__ = ["folder"]


def test_trainers_that_are_programs_of_fleet_are_told_where_they_meet(folder: Path) -> None:
    told = planned(folder, "--port=8000", "--ports_num=2").roles("trainer")
    assert [role.env["PADDLE_GLOO_HTTP_ENDPOINT"] for role in told] == ["127.0.0.1:8003"] * 2
    assert {role.env["PADDLE_WITH_GLOO"] for role in told} == {"1"}
    meetings = [
        meeting_of(Place(id=n, workers=2, servers=("127.0.0.1:8000",)), _set(told[n].env)) for n in (0, 1)
    ]
    assert None not in meetings
    sizes = [_standing(meeting._place, "all") for meeting in meetings if meeting is not None]
    assert sizes == [(0, 2), (1, 2)]  # pservers are commands here, and meet nobody
    for meeting in reversed(meetings):
        assert meeting is not None
        meeting.close()


def test_who_has_no_port_left_or_no_other_meets_nobody(folder: Path) -> None:
    assert planned(folder, "--port=65534").roles("trainer")[0].env["PADDLE_WITH_GLOO"] is None
    (folder / "conf.py").write_text("HOSTS = ['local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    assert planned(folder).roles("trainer")[0].env["PADDLE_WITH_GLOO"] is None


def _set(env: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in env.items() if value is not None}
