"""Servers that a program runs keep snapshots, where the environment says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paddle._launch.environ import snapshots
from paddle._launch.errors import FlagError
from tests.fleet.processes import ended, free_place, server, worker
from tests.waiting import PATIENCE_S

_SHOWN = "train(); w = exe.run(feed=X, fetch_list=['fc_0.w_0'])[0]; print(w.tolist(), flush=True); "


def test_what_lasts_of_one_job_is_what_the_next_one_goes_on_from(tmp_path: Path) -> None:
    weights, where = [], free_place()
    for startup in ("", "fluid.default_startup_program().random_seed = 7; "):
        serving = server(where, PADDLE_SNAPSHOT_DIR=str(tmp_path / "kept"))
        weights.append(worker(where, f"{startup}{_SHOWN}").communicate(timeout=PATIENCE_S)[0])
        assert ended(serving) == 0
    first, second = map(json.loads, weights)
    # Each of the second one's steps moves both by -0.1.
    assert [row[0] for row in second] == pytest.approx([row[0] - 0.2 for row in first], abs=1e-5)


def test_a_server_that_is_killed_goes_on_where_it_is_started_again(tmp_path: Path) -> None:
    where, kept = free_place(), {"PADDLE_SNAPSHOT_DIR": str(tmp_path), "PADDLE_SNAPSHOT_PERIOD": "1"}
    serving = server(where, **kept)
    works = worker(where, f"{_SHOWN}sys.stdin.readline(); exe.run(feed=X); fleet.stop_worker()")
    assert works.stdout is not None and works.stdout.readline()
    serving.kill()
    serving.communicate()
    again = server(where, **kept)
    assert works.communicate("\n", timeout=PATIENCE_S) and works.returncode == 0
    assert ended(again) == 0
    (own,) = tmp_path.iterdir()
    assert own.name == where.replace(":", "-")


def test_without_a_folder_there_are_none_and_what_is_no_number_is_named() -> None:
    assert snapshots({"PADDLE_SNAPSHOT_PERIOD": "3"}) == {}
    told = snapshots({"PADDLE_SNAPSHOT_DIR": "kept", "PADDLE_SNAPSHOT_PERIOD": "3"})
    assert (told["snapshot_dir"], told["snapshot_period"], told["snapshot_keep"]) == ("kept", 3, 3)
    with pytest.raises(FlagError, match="PADDLE_SNAPSHOT_PERIOD"):
        snapshots({"PADDLE_SNAPSHOT_DIR": "kept", "PADDLE_SNAPSHOT_PERIOD": "often"})
