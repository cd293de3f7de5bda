"""Jobs on Kubernetes as the launcher plans them, for tests."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from paddle._launch import job
from paddle._launch.arguments import parse_arguments
from paddle._launch.plan import LaunchPlan, plan
from paddle._launch.settings import settle

NOON = datetime(2026, 11, 22, 12)
NEEDED = ("--platform=kubernetes", "--image=paddle-fabric:1")


def workspace(folder: Path) -> Path:
    """A folder with a training program, a program that may be run, and a link."""
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text("print('trains')\n")
    (folder / "data").mkdir()
    for number in range(4):
        (folder / "data" / f"part-{number:05d}").write_text(f"{number}\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "again").symlink_to("data/part-00001")
    return folder


def planned(folder: Path, *flags: str, environ: dict[str, str] | None = None) -> LaunchPlan:
    """The plan of a job whose package is ``folder``."""
    conf = folder.parent / "conf.py"
    conf.write_text("PADDLE_NIC = 'lo'\nHOSTS = ['local']\n")
    own = (
        ()
        if any(flag.startswith("--job_workspace") for flag in flags)
        else (f"--job_dispatch_package={folder}",)
    )
    given = parse_arguments([*NEEDED, *own, *flags], "launcher", command="paddle.py", pass_on=True)
    settings = settle(conf, environ or {}, given.values)
    spec = job.describe(settings, given, NOON, folder)
    return plan(spec, python="python3", runtime=Path("/runtime"), token="abcd")
