"""How a worker ends, and what its servers make of it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from paddle._pserver.errors import JobFailed
from tests.fleet.processes import ended, free_place, server, worker
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints
from tests.waiting import PATIENCE_S, until


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
    said = re.compile(r"trainer 1 at .* could not start: \w+: (7|no)$", re.MULTILINE)
    until(lambda: said.search(caplog.text), "a word of the server", seen=lambda: caplog.text)
    assert [end(endpoints, "train()"), end(endpoints, "fleet.init_worker()", 1)] == [0, 0]
    assert endpoints.outcomes() == [True]


def test_where_all_workers_have_failed_before_their_first_step_servers_say_why_and_end() -> None:
    endpoints = Endpoints(1, 2)
    for id, how in ((1, "leave(7)"), (0, "raise ValueError('no')")):
        assert end(endpoints, f"fleet.init_worker(); {how}", id) != 0
    why = "trainer 1 at .* could not start: SystemExit: 7; trainer 0 at .* could not start: ValueError: no$"
    with pytest.raises(JobFailed, match=why):
        endpoints.outcomes()


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


def test_who_saves_after_stop_worker_saves_what_it_holds(tmp_path: Path) -> None:
    endpoints = Endpoints(1)
    saves = f"train(); fleet.stop_worker(); fleet.save_persistables(exe, {str(tmp_path)!r})"
    assert end(endpoints, saves) == 0
    assert endpoints.outcomes() == [True]
    assert {path.name for path in tmp_path.iterdir()} >= {"fc_0.w_0", "fc_0.b_0"}


_TABLES = """
import paddle
from pathlib import Path
paddle.enable_static()
fluid.framework.switch_main_program(fluid.Program())
fluid.framework.switch_startup_program(fluid.Program())
ids = fluid.data("ids", [None, 1], "int64")
told = fluid.ParamAttr(name="emb"), fluid.ParamAttr(name="open")
rows = fluid.layers.embedding(ids, [9, 2], is_sparse=True, param_attr=told[0])
more = fluid.contrib.layers.sparse_embedding(ids, [1, 2], param_attr=told[1])
loss = fluid.layers.mean(rows + more)
fleet = Fleet().init(UserDefinedRoleMaker(current_id=id, worker_num=workers, server_endpoints=names))
fleet.distributed_optimizer(fluid.optimizer.Adagrad(0.1), strategy).minimize(loss)
exe.run(fluid.default_startup_program())
fleet.init_worker()
for _ in range(3):
    exe.run(feed={"ids": np.array([[1], [7]], np.int64)})
"""


def test_who_saves_tables_after_stop_worker_saves_what_it_would_have_saved_before(tmp_path: Path) -> None:
    endpoints = Endpoints(2)
    saves = f"""{_TABLES}
folder = {str(tmp_path)!r}
fleet.save_persistables(exe, folder + "/before")
fleet.stop_worker()
fleet.save_persistables(exe, folder + "/after")
"""
    assert end(endpoints, saves) == 0
    assert endpoints.outcomes() == [True, True]
    before, after = (
        {path.relative_to(own): path.read_bytes() for path in own.rglob("*") if path.is_file()}
        for own in (tmp_path / "before", tmp_path / "after")
    )
    assert before == after
    assert len([path for path in after if path.suffix == ".txt"]) == 4


def test_tables_that_are_too_large_to_take_along_are_refused_by_name(tmp_path: Path) -> None:
    endpoints = Endpoints(1)
    saves = f"""{_TABLES}
from paddle._fleet import workers as _workers
_workers._KEPT = 100
fleet.stop_worker()
try:
    fleet.save_persistables(exe, {str(tmp_path)!r})
except RuntimeError as error:
    Path({str(tmp_path)!r}, "told").write_text(str(error))
"""
    assert end(endpoints, saves) == 0
    assert "table 'emb' is kept by servers" in (tmp_path / "told").read_text()
