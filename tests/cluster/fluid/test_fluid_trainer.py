"""The quick start of fluid's documents: one program, four commands, roles given by the environment.

``programs/fluid_dist.txt`` is the document's program, word for word. Its four hosts are addresses of this
machine, and each command is typed as it is printed there but for these.
"""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import HOSTS, RUNTIME, environment, free_port
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "fluid_dist.txt"
HOUSES, RATE = 500, 0.001
LINE = re.compile(r"step 10, loss: \[(\d+\.\d+)\]\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with the program, and nearly as many houses as the original file has: a fifth of them are five
    whole batches of tests. Their prices follow from their features, but for most of them."""
    shutil.copy(PROGRAM, tmp_path / "fluid_dist.py")
    random = np.random.default_rng(0)
    features = random.uniform(0, 100, (HOUSES, 13))
    rows = np.column_stack([features, features @ random.uniform(-0.2, 0.2, 13) + 222])
    path = tmp_path / "uci_housing" / "housing.data"
    path.parent.mkdir()
    np.savetxt(path, rows, fmt="%8.3f")
    return tmp_path


def loss_after(home: Path, steps: int) -> float:
    """About that of the tests after so many steps. At this rate a model learns little but a common price."""
    prices = np.loadtxt(home / "uci_housing" / "housing.data")[:, -1]
    trained, held = prices[: -HOUSES // 5], prices[-HOUSES // 5 :]
    common = trained.mean() * (1 - (1 - 2 * RATE) ** steps)
    return float(((held - common) ** 2).mean())


def begin(home: Path, **told: str) -> subprocess.Popen[str]:
    more = {"PADDLE_DATASET_HOME": str(home), "PADDLE_DATASET_LOCAL": "1", **told}
    return subprocess.Popen(
        [sys.executable, "fluid_dist.py"],
        cwd=home,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def cluster() -> dict[str, str]:
    return {
        "PADDLE_PSERVER_IPS": ",".join(HOSTS),
        "PADDLE_TRAINERS": "2",
        "PADDLE_PSERVER_PORT": str(free_port(HOSTS, 1)),
    }


def begin_servers(home: Path, shared: dict[str, str]) -> list[subprocess.Popen[str]]:
    return [begin(home, PADDLE_TRAINING_ROLE="PSERVER", PADDLE_CURRENT_IP=host, **shared) for host in HOSTS]


def assert_learned_together(home: Path, printed: list[str]) -> None:
    """Both printed the documents' line. They test with the same parameters, which eleven steps have moved,
    each by the mean of both trainers' gradients."""
    first, second = (float(line[1]) for line in map(LINE.fullmatch, printed) if line)
    assert first == pytest.approx(second, rel=1e-5)
    assert first == pytest.approx(loss_after(home, 11), rel=0.01)
    assert abs(loss_after(home, 11) / loss_after(home, 22) - 1) > 0.03  # as their sum would have


def test_the_documents_line_is_on_both_trainers_and_every_process_ends_by_itself(home: Path) -> None:
    shared = cluster()
    servers = begin_servers(home, shared)
    trainers = [
        begin(home, PADDLE_TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=str(id), **shared) for id in range(2)
    ]
    said = [process.communicate(timeout=PATIENCE_S) for process in (*trainers, *servers)]
    assert [process.returncode for process in (*trainers, *servers)] == [0] * 4, said
    assert_learned_together(home, [out for out, _ in said[:2]])
    for (_, errors), host in zip(said[2:], HOSTS, strict=True):
        assert f"the parameter server listens on {host}:" in errors


def test_servers_that_are_told_to_end_do_so_in_order(home: Path) -> None:
    servers = begin_servers(home, cluster())
    for process in servers:
        assert process.stderr is not None
        assert "listens on" in process.stderr.readline()
    servers[0].send_signal(signal.SIGTERM)
    servers[1].send_signal(signal.SIGINT)
    assert [process.wait(PATIENCE_S) for process in servers] == [0, 0]


def test_the_same_program_is_dispatched_like_any_other_and_finds_the_ports_of_its_pservers(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    package, jobs = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("jobs")
    shutil.copy(PROGRAM, package / "train.py")
    done = subprocess.run(
        [
            *(sys.executable, str(RUNTIME.parent / "paddle.py"), f"--job_dispatch_package={package}"),
            *("--hosts=local,local", f"--root_dir={jobs}", f"--port={free_port(HOSTS)}"),
        ],
        env=environment(PADDLE_DATASET_HOME=str(home), PADDLE_DATASET_LOCAL="1"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [path.read_text() for path in package.glob("log/node-*/train.log")]
    assert len(logs) == 2
    assert_learned_together(home, logs)
