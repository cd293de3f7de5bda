"""Wrong input, as a user gives it: one paragraph that says what to do, its status, nothing left behind."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
USAGE = 2
PORT_IN_USE = 98

TRAIN = """
import paddle.v2 as paddle
paddle.init()
word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(50))
vector = paddle.layer.embedding(
    input=word, size=8, param_attr=paddle.attr.Param(name="_table", sparse_update=True))
label = paddle.layer.data(name="label", type=paddle.data_type.dense_vector(1))
predicted = paddle.layer.fc(input=vector, size=1, act=paddle.activation.Linear())
cost = paddle.layer.square_error_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3), is_local=False)
trainer.train(paddle.batch(lambda: iter([(1, [0.5]), (2, [0.25])]), 2), num_passes=1)
"""


def clean_environment(**more: str) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PADDLE_", "OMPI_", "GLOG_"))
    }
    return {**kept, **more}


def run(*argv: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *argv],
        cwd=cwd,
        env=clean_environment(**env),
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def launch(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return run(str(ROOT / "paddle.py"), f"--conf={folder / 'conf.py'}", *flags, cwd=folder)


def one_paragraph(text: str) -> str:
    """The error, which must be one paragraph and no traceback."""
    assert "Traceback" not in text
    assert text.strip()
    assert "\n\n" not in text.strip()
    return text


def write_conf(folder: Path, **changes: object) -> None:
    names = {
        "HOSTS": ["local", "local"],
        "ROOT_DIR": str(folder / "jobs"),
        "PADDLE_NIC": "lo",
        "PADDLE_PORT": 17964,
        "PADDLE_PORTS_NUM": 1,
        "PADDLE_PORTS_NUM_FOR_SPARSE": 1,
        **changes,
    }
    (folder / "conf.py").write_text("".join(f"{name} = {value!r}\n" for name, value in names.items()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder: conf.py and a package that would train."""
    write_conf(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(TRAIN)
    return tmp_path


def processes_naming(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environ = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in environ:
                found.append(entry.name)
    return found


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], ["job_dispatch_package", "job_workspace"]),
        (
            ["--job_dispatch_package=package", "--job_workspace=package"],
            ["job_dispatch_package", "job_workspace"],
        ),
        (["--job_dispatch_package=nowhere"], ["nowhere"]),
        (["--job_workspace=nowhere"], ["nowhere"]),
        (["--job_dispatch_package=empty"], ["empty", "train.py"]),
    ],
    ids=["neither", "both", "missing package", "missing workspace", "no train.py"],
)
def test_a_wrong_package_is_a_usage_error(folder: Path, flags: list[str], words: list[str]) -> None:
    (folder / "empty").mkdir()
    done = launch(folder, *flags)
    assert done.returncode == USAGE
    error = one_paragraph(done.stderr)
    assert all(word in error for word in words)
    assert not (folder / "jobs").exists()


@pytest.mark.parametrize("host", ["node one", "root@", "root@host:port", "root@host:99999", ""])
def test_an_unknown_form_of_host_is_a_usage_error(folder: Path, host: str) -> None:
    write_conf(folder, HOSTS=["local", host])
    done = launch(folder, "--job_dispatch_package=package")
    assert done.returncode == USAGE
    assert "HOSTS" in one_paragraph(done.stderr)
    assert not (folder / "jobs").exists()


def test_a_taken_port_names_its_holder_before_anything_trains(folder: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.2", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = launch(folder, "--job_dispatch_package=package", f"--port={port}")
    assert done.returncode == PORT_IN_USE
    assert f"port {port} of 127.0.0.2" in done.stderr
    assert str(os.getpid()) in done.stderr
    assert not processes_naming(str(folder))
    assert not (folder / "package" / "output").exists()


def test_a_sparse_parameter_without_sparse_ports_names_parameter_and_flag(folder: Path) -> None:
    done = launch(folder, "--job_dispatch_package=package", "--ports_num_for_sparse=0")
    assert done.returncode not in (0, None)
    assert "_table" in done.stderr + done.stdout
    assert "ports_num_for_sparse" in done.stderr + done.stdout
    assert not processes_naming(str(folder))


def test_a_wrong_device_name_lists_those_that_exist(tmp_path: Path) -> None:
    done = run("-P", "-m", "paddle", "pserver", "--nics=nic9", cwd=tmp_path, PYTHONPATH=str(ROOT / "runtime"))
    assert done.returncode == USAGE
    error = one_paragraph(done.stderr)
    assert "nic9" in error
    assert "lo" in error.replace("nic9", "")


def test_a_trainer_id_beyond_the_number_of_trainers_is_refused_at_once(folder: Path) -> None:
    done = run(
        "train.py",
        cwd=folder / "package",
        PYTHONPATH=str(ROOT / "runtime"),
        PADDLE_INIT_TRAINER_ID="2",
        PADDLE_INIT_NUM_GRADIENT_SERVERS="2",
    )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert "trainer_id" in last
    assert "num_gradient_servers" in last


def test_an_unknown_flag_of_pserver_names_near_misses(tmp_path: Path) -> None:
    done = run(
        "-P", "-m", "paddle", "pserver", "--ports_nun=1", cwd=tmp_path, PYTHONPATH=str(ROOT / "runtime")
    )
    assert done.returncode == USAGE
    assert "ports_num" in one_paragraph(done.stderr)


def test_dry_run_prints_the_plan_and_touches_nothing(folder: Path) -> None:
    done = launch(folder, "--job_dispatch_package=package", "--dry_run")
    assert done.returncode == 0
    assert 0 < len(done.stdout.strip().splitlines()) <= 10
    assert "17964" in done.stdout
    assert not (folder / "jobs").exists()
