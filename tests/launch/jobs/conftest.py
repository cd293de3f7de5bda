"""Records of jobs that never ran, in an index of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from paddle._launch.board import rows_of
from paddle._launch.jobs.index import Index, Job
from paddle._launch.jobs.launcher import Launcher, this_one
from paddle._launch.jobs.record import Record, State, write_record, write_state
from paddle._launch.plan import JOB_VARIABLE, LaunchPlan, NodePlan, RolePlan
from paddle._launch.settings import Host


def plan(home: Path, name: str = "JOB1", token: str = "aa") -> LaunchPlan:
    """Two local nodes, each with a pserver and a trainer."""

    def role(kind: str, node: int) -> RolePlan:
        log = {"pserver": "log/server.log", "trainer": "log/train.log"}[kind]
        env: dict[str, str | None] = {JOB_VARIABLE: f"{name}-{token}", "PADDLE_*": None}
        return RolePlan(name=f"{kind}-{node}", kind=kind, node=node, argv=(), env=env, prepend={}, log=log)

    nodes = tuple(
        NodePlan(
            node=node,
            host=Host("local"),
            address=f"127.0.0.{node + 1}",
            workspace=home / "jobs" / name / f"node-{node}",
            roles=(role("pserver", node), role("trainer", node)),
        )
        for node in (0, 1)
    )
    return LaunchPlan(
        name=name,
        nodes=nodes,
        prepare=(),
        package=None,
        home=home,
        snapshots=Path("kept"),
        ports=(7164, 1, 0),
        origins=("conf.py",),
        ready_timeout_s=60.0,
    )


def record(home: Path, name: str = "JOB1", **changes: object) -> Record:
    made = plan(home, name)
    return Record(
        id=made.id,
        name=name,
        plan=made,
        conf=home / "conf.py",
        flags={"port": "7164", "hosts": "local,local"},
        arguments=("--steps=3",),
        began=1000.0,
        launcher=changes.get("launcher", this_one()),  # type: ignore[arg-type]
    )


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index({"XDG_STATE_HOME": str(tmp_path / "state")})


@pytest.fixture
def keep(index: Index, tmp_path: Path) -> Callable[..., Job]:
    """Keep a job: ``keep("JOB1", conf="conf.py", exit_status=None, launcher=...)``."""

    def kept(
        name: str = "JOB1",
        *,
        conf: str = "conf.py",
        exit_status: int | None = None,
        launcher: Launcher | None = None,
        began: float = 1000.0,
    ) -> Job:
        made = record(tmp_path, name, launcher=launcher or this_one())
        made = msgspec.structs.replace(made, conf=tmp_path / conf, began=began)
        folder = index.add(made.id)
        write_record(folder, made)
        state = State(phase="train", since=1.0, rows=rows_of(made.plan), exit_status=exit_status)
        write_state(folder, state)
        return Job(folder, made)

    return kept


@pytest.fixture
def gone() -> Launcher:
    """A launcher that had this process's number and began before it."""
    return msgspec.structs.replace(this_one(), start=this_one().start - 1)
