"""Wrong input, as a user gives it: one paragraph that says what to do, its status, nothing left behind."""

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.results.tenancy import MARK
from tests.waiting import PATIENCE_S

from .by_hand import free_port, naming

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
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


def launch(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return run(str(ROOT / "paddle.py"), f"--conf={folder / 'conf.py'}", *flags, cwd=folder)


def by_hand(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """A pserver that is expected not to start."""
    return run("-P", "-m", "paddle", "pserver", *flags, cwd=folder, PYTHONPATH=str(ROOT / "runtime"))


def trainer(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The package's program, started by hand."""
    return run("train.py", cwd=folder / "package", PYTHONPATH=str(ROOT / "runtime"), **env)


@contextlib.contextmanager
def holder(address: str) -> Iterator[int]:
    """A port of this process on ``address``; nobody has its neighbours, or the three elsewhere."""
    port = free_port(["127.0.0.1", "127.0.0.2"], 3) + 1
    with socket.socket() as listener:
        listener.bind((address, port))
        listener.listen()
        yield port


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


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_taken_port_names_its_holder_before_anything_trains(folder: Path, kind: str) -> None:
    with holder("127.0.0.2") as taken:
        first = taken if kind == "dense" else taken - 1
        done = launch(folder, "--job_dispatch_package=package", f"--port={first}")
    assert done.returncode == PORT_IN_USE
    error = one_paragraph(done.stderr)
    assert f"port {taken} of 127.0.0.2 is in use by process {os.getpid()} (" in error
    assert not naming(str(folder))


def test_what_a_start_that_failed_leaves_is_the_log_that_its_error_names(folder: Path) -> None:
    with holder("127.0.0.2") as taken:
        done = launch(folder, "--job_dispatch_package=package", f"--port={taken}")
    (named,) = re.findall(r"^Its full output: (.*)$", done.stderr, re.M)
    assert Path(named) == folder / "package/log/node-1/server.log"
    assert f"port {taken}" in Path(named).read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["conf.py", "package"]
    assert sorted(path.name for path in (folder / "package").iterdir()) == ["log", "train.py"]
    assert sorted(path.name for path in (folder / "package" / "log").iterdir()) == [MARK, "node-0", "node-1"]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_taken_port_of_a_pserver_by_hand_is_one_line(tmp_path: Path, kind: str) -> None:
    with holder("127.0.0.1") as taken:
        first = taken if kind == "dense" else taken - 1
        done = by_hand(tmp_path, f"--port={first}", "--ports_num_for_sparse=1")
    assert (done.returncode, done.stdout) == (PORT_IN_USE, "")
    assert done.stderr.startswith(
        f"paddle pserver: port {taken} of 127.0.0.1 is in use by process {os.getpid()}"
    )
    assert done.stderr.count("\n") == 1


def test_a_sparse_parameter_without_sparse_ports_names_parameter_and_flag(folder: Path) -> None:
    port = f"--port={free_port(['127.0.0.1', '127.0.0.2'])}"
    done = launch(folder, "--job_dispatch_package=package", "--ports_num_for_sparse=0", port)
    assert done.returncode == USAGE
    error = one_paragraph(done.stderr)
    assert error.count("train.py:12: parameter '_table' is updated sparsely") == 1
    assert "--ports_num_for_sparse=1" in error
    assert "--ports_num_for_sparse=1" not in done.stdout  # the beginning may be there: what was printed last
    assert not naming(str(folder))


def test_a_sparse_parameter_without_sparse_ports_is_refused_by_hand_too(folder: Path) -> None:
    done = trainer(folder, PADDLE_INIT_PORTS_NUM_FOR_SPARSE="0")
    assert done.returncode == USAGE
    assert done.stderr.startswith("train.py:12: parameter '_table' is updated sparsely")
    assert "PADDLE_INIT_PORTS_NUM_FOR_SPARSE" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_wrong_device_name_lists_those_that_exist(tmp_path: Path) -> None:
    done = by_hand(tmp_path, "--nics=nic9")
    assert done.returncode == USAGE
    error = one_paragraph(done.stderr)
    assert "nic9" in error
    assert "lo" in error.replace("nic9", "")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            {"trainer_id": "2", "num_gradient_servers": "2"},
            ["trainer_id is 2", "num_gradient_servers", "0 to 1"],
        ),
        ({"trainer_id": "-1"}, ["trainer_id", "'-1' is not a whole number from 0"]),
        ({"trainer_id": "abc"}, ["trainer_id", "'abc' is not a whole number from 0"]),
        ({"num_gradient_servers": "0"}, ["num_gradient_servers", "'0' is not a whole number from 1"]),
        ({"trainer_ids": "1"}, ["has no flag 'trainer_ids'", "Did you mean trainer_id"]),
        ({"port": "70000"}, ["port", "'70000' is not a whole number from 1 to 65535"]),
        ({"use_gpu": "perhaps"}, ["use_gpu", "'perhaps' is not true or false"]),
        ({"start_pserver": "True"}, ["start_pserver", "not in this release"]),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else None,
)
@pytest.mark.parametrize("way", ["environment", "arguments"])
def test_a_flag_of_a_trainer_that_cannot_be_is_refused_at_once(
    folder: Path, flags: dict[str, str], words: list[str], way: str
) -> None:
    if way == "environment":
        done = trainer(folder, **{f"PADDLE_INIT_{name.upper()}": value for name, value in flags.items()})
    else:
        script = folder / "package" / "train.py"
        script.write_text(script.read_text().replace("paddle.init()", f"paddle.init(**{flags!r})"))
        done = trainer(folder)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr.startswith("train.py:3: ")
    assert done.stderr.count("\n") == 1
    assert all(word.lower() in done.stderr.lower() for word in words)
    assert [path.name for path in (folder / "package").iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("place", "why"), [("/proc/x", "No such file"), ("taken", "a file of that name")], ids=["none", "file"]
)
def test_a_folder_that_can_have_no_snapshots_is_refused_before_anything_starts(
    tmp_path: Path, place: str, why: str
) -> None:
    (tmp_path / "taken").touch()
    done = by_hand(tmp_path, f"--port={free_port(['127.0.0.1'])}", f"--snapshot_dir={place}")
    assert (done.returncode, done.stdout) == (USAGE, "")
    error = one_paragraph(done.stderr)
    assert error.startswith(f"paddle pserver: --snapshot_dir={place}: ")
    assert why in error
    assert "Name a folder" in error


def test_so_is_one_in_which_a_shard_can_have_no_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "dense-1").touch()
    done = by_hand(
        tmp_path, f"--port={free_port(['127.0.0.1'])}", "--ports_num=2", f"--snapshot_dir={tmp_path}/kept"
    )
    assert (done.returncode, done.stdout) == (USAGE, "")
    error = one_paragraph(done.stderr)
    assert error.startswith(f"paddle pserver: --snapshot_dir={tmp_path}/kept: ")
    assert f"{tmp_path}/kept/dense-1: there is a file of that name" in error


def test_more_trainers_to_go_on_with_than_there_are_is_refused(tmp_path: Path) -> None:
    done = by_hand(tmp_path, "--min_trainers=3", "--num_gradient_servers=2")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "--min_trainers=3 is more than the 2" in one_paragraph(done.stderr)


def test_more_memory_for_snapshots_than_there_is_for_all_is_refused(tmp_path: Path) -> None:
    done = by_hand(tmp_path, "--memory_limit=100", "--snapshot_memory=100", f"--snapshot_dir={tmp_path}/kept")
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "--snapshot_memory=100 leaves nothing for parameters" in one_paragraph(done.stderr)


def test_an_unknown_flag_of_pserver_names_near_misses(tmp_path: Path) -> None:
    done = by_hand(tmp_path, "--ports_nun=1")
    assert done.returncode == USAGE
    assert "ports_num" in one_paragraph(done.stderr)


def test_dry_run_prints_the_plan_and_touches_nothing(folder: Path) -> None:
    done = launch(folder, "--job_dispatch_package=package", "--dry_run")
    assert done.returncode == 0
    assert 0 < len(done.stdout.strip().splitlines()) <= 10
    assert "17964" in done.stdout
    assert not (folder / "jobs").exists()
