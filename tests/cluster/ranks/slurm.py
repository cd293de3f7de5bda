"""A real Slurm on a lab: slurmctld at one place, a slurmd on each other node, and nobody is asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import IO, Self

from tests.lab.cluster import HEAD, Cluster
from tests.waiting import until

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch")
FOLDER = "/srv/slurm"
_CONF = """
ClusterName=lab
SlurmctldHost={host}({address})
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmUser=root
SlurmdUser=root
StateSaveLocation={state}
SlurmctldPidFile={state}/slurmctld.pid
SlurmdSpoolDir={own}/spool
SlurmdPidFile={own}/slurmd.pid
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
AccountingStorageType=accounting_storage/none
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
_CGROUPS = "CgroupPlugin=cgroup/v1\n"  # which it then does without; of v2 it wants to have its own


class Slurm:
    """It, until it is closed. ``at``: where slurmctld runs, which must know users by name. ``environ``: by
    which its commands find it there."""

    def __init__(self, cluster: Cluster, folder: Path, at: str = HEAD) -> None:
        self._cluster, self._at = cluster, at
        self._nodes = [node for node in cluster.nodes.values() if node.name != at]
        self._folder = folder
        home = folder if at == HEAD else Path(FOLDER)
        self.environ = {"SLURM_CONF": str(home / "slurm.conf")}
        conf = _CONF.format(
            host=cluster.run("hostname", at=at).stdout.strip(),
            address=cluster.addresses[at],
            state=home / "state",
            own=FOLDER,
            nodes="\n".join(f"NodeName={n.name} NodeAddr={n.address} CPUs=1" for n in self._nodes),
        )
        folder.mkdir()
        (folder / "slurm.conf").write_text(conf)
        for node in cluster.nodes:
            place = cluster.path(node, FOLDER)
            shutil.rmtree(place, ignore_errors=True)
            (place / "spool").mkdir(parents=True)
            (place / "slurm.conf").write_text(conf)
            (place / "cgroup.conf").write_text(_CGROUPS)
        cluster.run("mkdir", home / "state", at=at)
        self._logs: list[IO[bytes]] = []
        self._daemons = [self._start(at, "slurmctld", "-D", "-f", home / "slurm.conf")]
        for each in self._nodes:
            daemon = self._start(each.name, "slurmd", "-D", "-N", each.name, "-f", f"{FOLDER}/slurm.conf")
            self._daemons.append(daemon)

    def __enter__(self) -> Self:
        until(lambda: self.run("sinfo", "-h", "-o", "%T %D") == f"idle {len(self._nodes)}", "idle nodes")
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in self._daemons:
            daemon.terminate()
        for daemon, log in zip(self._daemons, self._logs, strict=True):
            daemon.wait()
            log.close()

    def run(self, *argv: str | Path, cwd: str | Path = "/") -> str:
        """Run one of its commands there; gives what that prints."""
        done = self._cluster.run(*argv, at=self._at, environ=self.environ, cwd=cwd, check=False)
        return done.stdout.strip() or done.stderr.strip()

    def state(self, job: str) -> str:
        """What became of a job, and its exit status: ``COMPLETED 0:0``."""
        said = self.run("scontrol", "-o", "show", "job", job)
        words = dict(word.partition("=")[::2] for word in said.split())
        return f"{words.get('JobState')} {words.get('ExitCode')}"

    def _start(self, at: str, *argv: str | Path) -> subprocess.Popen[bytes]:
        log = (self._folder / f"{argv[0]}-{at}.log").open("wb")
        self._logs.append(log)
        return self._cluster.start(*argv, at=at, stdout=log, stderr=log)
