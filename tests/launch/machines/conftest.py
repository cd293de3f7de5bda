"""A launch on simulated machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle._launch import workspace
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.remote import Remote
from paddle._launch.settings import Host
from tests.launch.machines.simulated import NODES, Net

ROOT = Path("/srv")


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Net:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("paddle._launch.launch._TICK_S", 0.01)
    made = Net(tmp_path / "disks")
    made.install(monkeypatch)
    return made


@pytest.fixture
def plan(tmp_path: Path) -> LaunchPlan:
    """A pserver and a trainer on each."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "train.py").write_text("print('trains')\n")
    (package / "words").write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "runtime" / "paddle").mkdir(parents=True)
    (tmp_path / "runtime" / "paddle" / "__init__.py").write_text("")

    def role(kind: str, node: int) -> RolePlan:
        name = f"{kind}-{node}"
        return RolePlan(name=name, kind=kind, node=node, argv=(), env={}, prepend={}, log="log")  # type: ignore[arg-type]

    return LaunchPlan(
        name="JOB1",
        nodes=tuple(
            NodePlan(
                node=node,
                host=Host(f"n{node}", "root"),
                address=f"n{node}",
                workspace=ROOT / "JOB1",
                roles=(role("pserver", node), role("trainer", node)),
            )
            for node in range(NODES)
        ),
        prepare=(),
        package=workspace.listing(package),
        home=package,
        snapshots=None,
        ports=(7164, 1, 0),
        origins=(),
        ready_timeout_s=60.0,
        remote=Remote(
            root=ROOT,
            pythons=("python3",),
            runtime=ROOT / ".paddle" / "runtime-0123456789abcdef",
            contents=workspace.contents(tmp_path / "runtime"),
            nics=("eth0",),
            host_keys="known",
        ),
    )
