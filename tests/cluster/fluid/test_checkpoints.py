"""A job of fluid that writes checkpoints is killed, is begun again, and ends as if nothing had happened."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import HOSTS, environment, free_port
from tests.cluster.programs.checkpointed import EPOCHS, RATE, ROWS, STEPS, batch_of
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "checkpointed.py"
Process = subprocess.Popen[str]


def learned() -> np.ndarray:
    """The line that one process learns of the batches of both trainers, put together."""
    line = np.zeros(3)
    for step in list(range(STEPS)) * EPOCHS:
        rows = np.concatenate([batch_of(trainer, step) for trainer in range(2)]).astype(float)
        line -= RATE * 2 * (rows[:, :3] @ line - rows[:, 3]) @ rows[:, :3] / (2 * ROWS)
    return line


@contextmanager
def job(folder: Path, *more: str) -> Iterator[list[Process]]:
    """A server and two trainers; none outlives the block."""
    shared = {
        "PADDLE_PSERVER_IPS": HOSTS[0],
        "PADDLE_TRAINERS": "2",
        "PADDLE_PSERVER_PORT": str(free_port(HOSTS, 1)),
    }
    own = [
        {"PADDLE_TRAINING_ROLE": "PSERVER", "PADDLE_CURRENT_IP": HOSTS[0]},
        *({"PADDLE_TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": str(id)} for id in range(2)),
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), *more],
            env=environment(**shared, **each),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in own
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def wait_for(process: Process, line: str) -> None:
    assert process.stdout is not None
    assert any(said.strip() == line for said in process.stdout), process.communicate()[1]


def test_a_job_that_was_killed_goes_on_in_all_trainers_behind_one_checkpoint(tmp_path: Path) -> None:
    with job(tmp_path, "and hang") as processes:
        for trainer in processes[1:]:
            wait_for(trainer, "step 0 3")  # checkpoint 1 is of step 2
    (tmp_path / "checkpoint_1" / "trainer_1" / "step_id").write_text("5\n")  # of one that broke off
    with job(tmp_path) as processes:
        said = [process.communicate(timeout=PATIENCE_S) for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0], said
    steps = [[line for line in out.splitlines() if line.startswith("step")] for out, _ in said[1:]]
    assert steps[0] == steps[1]
    assert steps[0][0] == "step 0 3"
    for out, _ in said[1:]:
        line = np.array(out.splitlines()[-1].split()[1:], float)
        np.testing.assert_allclose(line, learned(), rtol=1e-5)
    assert list(tmp_path.iterdir()) == []
