"""A real Slurm on a lab: slurmctld at the head, a slurmd on each node, and nobody is asked who it is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import IO, Self

from tests.lab.cluster import Cluster
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
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={own}/spool
SlurmdPidFile={own}/slurmd.pid
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
_CGROUPS = "CgroupPlugin=cgroup/v1\n"  # which it then does without; of v2 it wants to have its own


class Slurm:
    """It, until it is closed. ``environ``: by which its commands find it at the head."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        (folder / "state").mkdir(parents=True)
        conf = _CONF.format(
            host=cluster.run("hostname").stdout.strip(),
            address=cluster.addresses["head"],
            folder=folder,
            own=FOLDER,
            nodes="\n".join(f"NodeName={n.name} NodeAddr={n.address} CPUs=1" for n in cluster.nodes.values()),
        )
        (folder / "slurm.conf").write_text(conf)
        self.environ = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._logs: list[IO[bytes]] = []
        self._daemons = [self._start("head", "slurmctld", "-D", "-f", folder / "slurm.conf")]
        for node in cluster.nodes:
            place = cluster.path(node, FOLDER)
            shutil.rmtree(place, ignore_errors=True)
            (place / "spool").mkdir(parents=True)
            (place / "slurm.conf").write_text(conf)
            (place / "cgroup.conf").write_text(_CGROUPS)
            self._daemons.append(self._start(node, "slurmd", "-D", "-N", node, "-f", f"{FOLDER}/slurm.conf"))

    def __enter__(self) -> Self:
        until(
            lambda: self.run("sinfo", "-h", "-o", "%T %D") == f"idle {len(self._daemons) - 1}", "idle nodes"
        )
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in self._daemons:
            daemon.terminate()
        for daemon, log in zip(self._daemons, self._logs, strict=True):
            daemon.wait()
            log.close()

    def run(self, *argv: str | Path, cwd: str | Path = "/") -> str:
        """Run one of its commands at the head; gives what that prints."""
        done = self._cluster.run(*argv, environ=self.environ, cwd=cwd, check=False)
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
