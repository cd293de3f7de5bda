"""How a worker ends, and what its servers make of it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from paddle._pserver.errors import JobFailed
from tests.fleet.processes import ended, free_place, server, worker
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints
from tests.waiting import PATIENCE_S


def end(endpoints: Endpoints, does: str, id: int = 0) -> int:
    """The status of a worker."""
    return ended(worker(",".join(endpoints.names), does, id, endpoints.trainers))


@pytest.mark.parametrize(
    "how",
    [
        "leave(7)",
        "leave('no more data')",
        "raise SystemExit(7)",
        "exit(7)",
        "raise ValueError('no')",
    ],
)
def test_an_end_with_an_error_between_two_runs_is_no_orderly_one(how: str) -> None:
    endpoints = Endpoints(1)
    assert end(endpoints, f"train(); {how}") != 0
    with pytest.raises(JobFailed, match=r"trainer 0 at .* failed: \w+: (7|no more data|no)$"):
        endpoints.outcomes()


@pytest.mark.parametrize(
    "how",
    [
        "leave(0)",
        "leave(None)",
        "raise SystemExit(0)",
        "raise SystemExit",
        "\ntry:\n    raise SystemExit(7)\nexcept SystemExit as error:\n    assert error.code == 7",
        "\ntry:\n    leave(7)\nexcept SystemExit:\n    pass",
        "\ntry:\n    leave(7)\nexcept SystemExit as error:\n    kept = error",
    ],
)
def test_an_exit_that_is_none_or_was_caught_is_an_orderly_end(how: str) -> None:
    endpoints = Endpoints(1)
    assert end(endpoints, f"train(); {how}") == 0
    assert endpoints.outcomes() == [True]


@pytest.mark.parametrize("does", ["fleet.init_worker(); fleet.stop_worker()", "fleet.init_worker()"])
def test_a_worker_that_holds_no_values_is_not_waited_for(does: str) -> None:
    endpoints = Endpoints(2, 2)
    assert [end(endpoints, "train()"), end(endpoints, does, 1)] == [0, 0]
    began = time.monotonic()
    assert endpoints.outcomes() == [True, True]
    assert time.monotonic() - began < TIMEOUT_S


@pytest.mark.parametrize("how", ["leave(7)", "raise SystemExit(7)", "raise ValueError('no')"])
def test_of_a_worker_that_ends_with_an_error_before_its_first_step_servers_say_why_and_wait(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    endpoints = Endpoints(1, 2)
    assert end(endpoints, f"fleet.init_worker(); {how}", 1) != 0
    assert re.search(r"trainer 1 at .* could not start: \w+: (7|no)$", caplog.text, re.MULTILINE)
    assert [end(endpoints, "train()"), end(endpoints, "fleet.init_worker()", 1)] == [0, 0]
    assert endpoints.outcomes() == [True]


def test_a_worker_0_that_holds_no_values_ends_the_job_and_is_named() -> None:
    endpoints = Endpoints(1, 2)
    assert end(endpoints, "fleet.stop_worker()") == 0
    with pytest.raises(JobFailed, match="trainer 0 left before it had given the initial values"):
        endpoints.outcomes()


def test_a_server_says_once_why_its_job_failed(tmp_path: Path) -> None:
    where = free_place()
    serving = server(where, GLOG_log_dir=str(tmp_path))
    assert ended(worker(where, "train(); leave(7)")) == 7
    said = serving.communicate(timeout=PATIENCE_S)[1]
    assert serving.returncode == 1
    assert said.count("trainer 0 at 127.0.0.1 (same machine) failed: SystemExit: 7") == 1


def test_of_a_worker_that_fails_the_others_say_who_and_why_in_one_line_and_end_with_status_1() -> None:
    endpoints = Endpoints(1, 2)
    told = ",".join(endpoints.names)
    waits = "train()\nwhile True: exe.run(feed=X)"
    good = worker(told, waits, 0, 2)
    assert ended(worker(told, "train(); raise KeyError('no such file')", 1, 2)) == 1
    (said,) = good.communicate(timeout=PATIENCE_S)[1].splitlines()
    assert re.fullmatch(
        r"<string>:\d+: \w+ shard at [\d.:]+: trainer 1 at .* failed: KeyError: 'no such file'", said
    )
    assert good.returncode == 1
    with pytest.raises(JobFailed, match="trainer 1 at"):
        endpoints.outcomes()
