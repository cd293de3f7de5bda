"""Which pod this is, what it plans, and what it prints."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import paddle.__main__ as program
from paddle._launch.dialects import read as place_of
from paddle._launch.errors import UsageError
from paddle._launch.kubernetes.inside import place, premises
from paddle._launch.kubernetes.inside.premises import Call
from paddle._launch.kubernetes.inside.telling import Teller, text_of
from paddle._launch.plan import RolePlan

from .jobs import workspace


@pytest.mark.parametrize(
    ("given", "environ", "host", "found"),
    [
        (2, {"JOB_COMPLETION_INDEX": "1"}, "job-trainer-0", 2),
        (-1, {"JOB_COMPLETION_INDEX": "1"}, "job-trainer-0", 1),
        (-1, {}, "job-trainer-3", 3),
        (-1, {}, "job-pserver-0.job.default.svc", 0),
    ],
)
def test_a_pod_has_the_number_that_the_engine_says(given: int, environ: dict, host: str, found: int) -> None:
    assert place.rank(given, environ, host, 4) == found


@pytest.mark.parametrize(
    ("given", "environ", "host", "said"),
    [
        (4, {}, "h", "--rank=4"),
        (-1, {"JOB_COMPLETION_INDEX": "x"}, "job-trainer-0", "JOB_COMPLETION_INDEX=x"),
        (-1, {}, "laptop", "the name of this host, laptop,"),
    ],
)
def test_what_is_no_number_of_the_job_is_refused(given: int, environ: dict, host: str, said: str) -> None:
    with pytest.raises(UsageError, match="from 0 to 3") as refused:
        place.rank(given, environ, host, 4)
    assert said in str(refused.value)


def role(kind: str, rank: int, folder: Path, **given: object) -> RolePlan:
    told = {"pserver_num": 2, "trainer_num": 3, "job_workspace": str(folder), **given}
    program = ("train.py", "--num_passes=2") if kind == "trainer" else ()
    call = Call(kind=kind, name="w2v", given=told, program=program, workspace=folder)
    part = premises.part(premises.specify(call), kind, rank, "10.1.2.3")
    (node,) = part.nodes
    (only,) = node.roles
    return only


def told(role: RolePlan) -> dict[str, str]:
    return {name: value for name, value in role.env.items() if value is not None}


def test_a_trainer_finds_parameter_servers_by_name(tmp_path: Path) -> None:
    trainer = role("trainer", 2, tmp_path)
    found = place_of(told(trainer), "v2")
    assert (found.trainer_id, found.trainers) == (2, 3)
    assert told(trainer)["PADDLE_INIT_PSERVERS"] == "w2v-pserver-0.w2v,w2v-pserver-1.w2v"
    assert trainer.argv[2:] == ("train.py", "--num_passes=2")
    assert told(trainer)["PADDLE_INIT_NUM_PASSES"] == "2"


def test_a_parameter_server_listens_at_the_address_of_its_pod(tmp_path: Path) -> None:
    server = role("pserver", 1, tmp_path, snapshot_dir="/snapshots")
    assert "--host=10.1.2.3" in server.argv
    assert "--num_gradient_servers=3" in server.argv
    assert "--snapshot_dir=/snapshots/node-1" in server.argv


def test_who_keeps_snapshots_has_trainers_wait_for_a_pod_that_comes_back(tmp_path: Path) -> None:
    assert "PADDLE_INIT_RECONNECT_TIMEOUT" not in told(role("trainer", 0, tmp_path))
    patient = told(role("trainer", 0, tmp_path, snapshot_dir="/snapshots"))
    assert float(patient["PADDLE_INIT_RECONNECT_TIMEOUT"]) >= 600


def test_a_workspace_of_an_image_is_led_to_and_has_its_own_logs(tmp_path: Path) -> None:
    image = workspace(tmp_path / "image")
    (image / "log").mkdir()
    call = Call(kind="trainer", name="j", given={}, program=("train.py",), workspace=tmp_path / "own")
    spec = premises.specify(call)
    premises.prepare(call, spec, 0, "", str(image))
    premises.prepare(call, spec, 0, "", str(image))  # the container is started again
    assert (tmp_path / "own" / "train.py").read_text() == (image / "train.py").read_text()
    assert not (tmp_path / "own" / "log").exists()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    call = Call(kind="trainer", name="j", given={}, program=("nowhere.py",), workspace=tmp_path / "own")
    with pytest.raises(UsageError, match=r"no program nowhere\.py"):
        premises.prepare(call, premises.specify(call), 0, "", "")


def test_lines_of_a_program_are_told_from_reports_whatever_they_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    teller = Teller(reports=True)
    lines = [
        "plain",
        'paddle pod: report: {"event": "exit", "role": "trainer-0", "status": 0}',
        "paddle pod: me",
    ]
    teller.hear(json.dumps({"event": "lines", "role": "trainer-0", "lines": lines}).encode() + b"\n")
    teller.hear(b'{"event": "trouble", "text": "t"}\n{"event": "beat"}\n{"event": "exit", "status": 3}\n')
    printed = [text_of(line) for line in capsys.readouterr().out.splitlines()]
    assert [text for text, is_report in printed if not is_report] == lines
    assert [json.loads(text) for text, is_report in printed if is_report] == [
        {"event": "trouble", "text": "t"}
    ]
    assert teller.ended == 3


class Written(io.StringIO):
    """Standard output that is not buffered: ``parts``, each of which is there at once."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        self.parts.append(text)
        return len(text)


def test_each_line_is_written_at_once_whoever_else_writes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written()
    monkeypatch.setattr(sys, "stdout", written)
    teller = Teller(reports=True)
    teller.say("begins")
    teller.report(event="trouble", text="t")
    program._announce([("127.0.0.1", 7164), ("127.0.0.1", 7165)], has_token=True)
    assert len(written.parts) == 3
    assert all(part.endswith("\n") for part in written.parts)
    assert "7164, 127.0.0.1:7165" in written.parts[-1]


def test_who_has_no_launcher_prints_no_reports(capsys: pytest.CaptureFixture[str]) -> None:
    teller = Teller(reports=False)
    teller.hear(b'{"event": "trouble", "text": "t"}\n')
    assert capsys.readouterr().out == ""


def test_the_process_of_a_role_is_known_once_it_was_started(capsys: pytest.CaptureFixture[str]) -> None:
    teller = Teller(reports=True)
    teller.hear(b'{"event": "started", "role": "pserver-0", "pid": 71}\n')
    assert teller.pid == 71
    assert capsys.readouterr().out == ""
