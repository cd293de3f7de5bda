"""A job under a real Slurm: a batch script that has srun start the ranks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.ranks import word2vec
from tests.cluster.ranks.slurm import PROGRAMS, Slurm
from tests.cluster.ranks.test_openmpi import TRAIN, install
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.waiting import PATIENCE_S, until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason="needs slurm-wlm of Debian"),
]

FOLDER = "/srv/tutorial"


@pytest.fixture
def slurm(cluster: Cluster, tmp_path: Path) -> Iterator[Slurm]:
    """Nodes with the job's folder at one place, and Slurm over them."""
    for node in cluster.nodes:
        place = cluster.path(node, FOLDER)
        place.mkdir(exist_ok=True)
        install(cluster, node)
        shutil.copy(ROOT / "cluster" / "openmpi" / "start_mpi_train.sh", place)
        (place / "train.py").write_text(TRAIN)
    with Slurm(cluster, tmp_path / "slurm") as made:
        yield made


def submitted(slurm: Slurm, *argv: str) -> str:
    """Submit the batch script, as from the folder that all nodes have; gives the job's number."""
    script = ROOT / "cluster" / "openmpi" / "train.sbatch"
    variables = f"ALL,PYTHON={sys.executable},PYTHONPATH={ROOT / 'runtime'}"
    flags = ["--parsable", "--nodes=3", f"--chdir={FOLDER}", f"--export={variables}"]
    return slurm.run("sbatch", *flags, script, *argv)


def over(slurm: Slurm, cluster: Cluster, job: str) -> str:
    """Wait for its end; gives what became of it."""
    state = until(
        lambda: (said := slurm.state(job)).split()[0] not in ("PENDING", "RUNNING", "COMPLETING") and said,
        "the end of the job",
        PATIENCE_S,
    )
    print((cluster.path("n1", FOLDER) / f"paddle-{job}.log").read_text())
    return state


def test_a_batch_script_trains_on_all_nodes_as_one_machine_does(
    slurm, cluster, tmp_path, of_all_workers
) -> None:
    package = word2vec.prepared(tmp_path / "package", of_all_workers)
    for node in cluster.nodes:
        shutil.copytree(package, cluster.path(node, FOLDER), dirs_exist_ok=True)
    job = submitted(slurm, "train.py", f"--num_passes={word2vec.PASSES}")
    assert over(slurm, cluster, job) == "COMPLETED 0:0"
    logs = [cluster.path(node, FOLDER) / "logs" / node / "train.log" for node in cluster.nodes]
    alone = word2vec.locally(of_all_workers)
    assert [word2vec.learned(log.read_text()) for log in logs] == [alone] * word2vec.NODES


@pytest.mark.thorough
def test_the_status_of_a_rank_that_fails_is_that_of_the_job(slurm, cluster) -> None:
    assert over(slurm, cluster, submitted(slurm, "train.py", "1")) == "FAILED 7:0"
    names = ("pserver", "train.py")
    left = [each for node in cluster.nodes for each in cluster.processes(node) if set(names) & set(each.argv)]
    assert not left


def test_scancel_leaves_nothing(slurm, cluster) -> None:
    job = submitted(slurm, "train.py", "hang")
    logs = [cluster.path(node, FOLDER) / "logs" / node / "train.log" for node in cluster.nodes]
    hangs = until(
        lambda: all(log.exists() and "hangs" in log.read_text() for log in logs), "it to hang", PATIENCE_S
    )
    assert hangs
    slurm.run("scancel", job)
    assert over(slurm, cluster, job).startswith("CANCELLED")
    words = ("pserver", "train.py")
    until(
        lambda: (
            not [one for node in cluster.nodes for one in cluster.processes(node) if {*words} & {*one.argv}]
        ),
        "the end of its processes",
    )
