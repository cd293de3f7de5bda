"""A job under a real Slurm: a batch script that has srun start the ranks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import assert_same
from tests.cluster.ranks.slurm import PROGRAMS, Slurm
from tests.cluster.ranks.test_openmpi import TRAIN, install, locally
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason="needs slurm-wlm of Debian"),
]

FOLDER = "/srv/tutorial"
PATIENCE_S = 90.0


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


def test_a_batch_script_trains_on_all_nodes_as_one_machine_does(slurm, cluster, tmp_path) -> None:
    assert over(slurm, cluster, submitted(slurm)) == "COMPLETED 0:0"
    alone = locally(tmp_path / "here")
    for rank, node in enumerate(cluster.nodes):
        place = cluster.path(node, FOLDER)
        assert (place / "logs" / node / "train.log").read_text().startswith("[")
        assert_same(alone, dict(np.load(place / f"after-{rank}.npz")))


def test_the_status_of_a_rank_that_fails_is_that_of_the_job(slurm, cluster) -> None:
    assert over(slurm, cluster, submitted(slurm, "train.py", "1")) == "FAILED 7:0"
    names = ("pserver", "train.py")
    left = [each for node in cluster.nodes for each in cluster.processes(node) if set(names) & set(each.argv)]
    assert not left
