"""What a program prints and ends with after a wrong call that it does not catch."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease
from paddle._complaint import Complaint
from paddle._launch.errors import ClusterError, DeliveryError
from paddle._pserver.errors import ShardUnreachable, SparsePortsMissing, TrainerCountMismatch, TrainerLost
from tests.ports import free_port
from tests.waiting import PATIENCE_S

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"
START = "import paddle.v2 as paddle\npaddle.init()\n"
WRONG = START + "paddle.init(trainer_id=2, num_gradient_servers=2)\n"
AN_EXIT_HANDLER = "import atexit, sys\natexit.register(print, 'exit handler ran')\n"


def run(folder: Path, program: str, *how: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``program`` as train.py, as the arguments ``how`` of Python say."""
    (folder / "train.py").write_text(program)
    return subprocess.run(
        [sys.executable, *(how or ("train.py",))],
        cwd=folder,
        env={"PYTHONPATH": str(RUNTIME)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize(
    "how",
    [
        ("train.py",),
        ("-m", "train"),
        ("-c", "import runpy; runpy.run_path('train.py', run_name='__main__')"),
        ("-c", "import train"),
    ],
    ids=["script", "module", "runpy", "import"],
)
def test_a_wrong_call_is_one_paragraph_with_its_line_and_status_2(tmp_path, how):
    done = run(tmp_path, AN_EXIT_HANDLER + WRONG, *how)
    assert done.returncode == 2
    assert done.stdout == "exit handler ran\n"
    assert done.stderr.startswith("train.py:5: trainer_id is 2, but num_gradient_servers says")
    assert done.stderr.count("\n") == 1


def test_so_is_a_pserver_that_has_lost_what_it_had_learned_with_status_1(tmp_path):
    program = START + (
        "from paddle._pserver.errors import state_lost\nraise state_lost('dense shard at 10.0.0.1:7164', 3)\n"
    )
    done = run(tmp_path, program)
    assert done.returncode == 1, "the call was right"
    assert done.stderr.startswith("train.py:4: dense shard at 10.0.0.1:7164 was started anew and has lost ")
    assert done.stderr.count("\n") == 1


def test_the_line_is_the_programs_last_on_the_way_to_the_error(tmp_path):
    program = START + (
        "def late():\n"
        "    yield paddle.attr.Extra(device=0)\n"
        "x = paddle.layer.data(name='x', type=paddle.data_type.dense_vector(2))\n"
        "cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=2), label=x)\n"
        "sgd = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())\n"
        "sgd.train(reader=late)\n"
    )
    done = run(tmp_path, program)
    assert (done.returncode, done.stderr.splitlines()[0][:56]) == (
        2,
        "train.py:4: device=0 is not in this release: it runs on ",
    )


def test_a_library_that_this_package_calls_itself_through_is_not_the_program(tmp_path):
    program = (
        "import numpy as np\n"
        "import paddle.fluid as fluid\n"
        "fluid.set_flags({'FLAGS_check_nan_inf': True})\n"
        "lost = fluid.layers.log(fluid.layers.data('x', [1]))\n"
        "lost = [lost, fluid.layers.mean(lost)]\n"
        "fluid.Executor().run(feed={'x': np.full((2, 1), -1, 'float32')}, fetch_list=lost)\n"
    )
    done = run(tmp_path, program)
    assert (done.returncode, done.stderr[:31]) == (2, "train.py:6: operator 'log' (wri")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("paddle.layer.fc(input=x, size='two')", "layer '__fc_layer_0__': its size is an integer"),
        (
            "paddle.infer(output_layer=line, parameters=made, input=[([1.0],)])",
            "row 0 of the batch, slot 'x' ",
        ),
    ],
    ids=["layer", "row"],
)
def test_what_a_layer_or_a_slot_cannot_take_is_one_paragraph(tmp_path, wrong, said):
    program = START + (
        "x = paddle.layer.data(name='x', type=paddle.data_type.dense_vector(2))\n"
        "line = paddle.layer.fc(name='line', input=x, size=1)\n"
        "made = paddle.parameters.create(line)\n"
    )
    done = run(tmp_path, f"{program}{wrong}\n")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"train.py:6: {said}")


def test_no_pserver_is_one_paragraph_that_says_where_it_was_looked_for_and_what_to_do(tmp_path):
    port = free_port(["127.0.0.1"])
    program = (
        "import paddle.v2 as paddle\n"
        f"paddle.init(port={port}, connect_timeout=2.0)\n"
        "x = paddle.layer.data(name='x', type=paddle.data_type.dense_vector(2))\n"
        "cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=2), label=x)\n"
        "parameters = paddle.parameters.create(cost)\n"
        "sgd = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(), is_local=False)\n"
        "sgd.train(reader=lambda: iter([[([1, 2],)]]))\n"
    )
    done = run(tmp_path, AN_EXIT_HANDLER + program)
    assert (done.returncode, done.stdout) == (1, "exit handler ran\n")
    (told,) = done.stderr.splitlines()
    assert re.match(rf"train\.py:9: no pserver answers at 127\.0\.0\.1:{port} after \d+ s \(", told)
    assert "refused" in told and "Is it running there" in told and "connect_timeout" in told


def test_a_program_that_catches_it_goes_on(tmp_path):
    program = f"{START}try:\n    paddle.init(port=0)\nexcept ValueError as error:\n    print(error)\n"
    done = run(tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert "paddle.init(port=...)" in done.stdout


def test_other_errors_keep_their_traceback_and_status(tmp_path):
    done = run(tmp_path, AN_EXIT_HANDLER + START + "open('nowhere')\n")
    assert (done.returncode, done.stdout) == (1, "exit handler ran\n")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.count("Traceback") == 1
    assert "FileNotFoundError" in done.stderr


def test_a_hook_of_the_programs_own_still_hears_of_other_errors(tmp_path):
    hook = "import sys\nsys.excepthook = lambda kind, error, trace: print('mine:', error)\n"
    assert run(tmp_path, f"{hook}{START}raise OSError('disk full')\n").stdout == "mine: disk full\n"
    wrong = run(tmp_path, hook + WRONG)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("train.py:5: trainer_id is 2")


def test_a_hook_that_is_put_before_it_later_is_not_called_in_circles(tmp_path):
    chained = (
        "import sys\n"
        "before = sys.excepthook\n"
        "def hook(kind, error, trace):\n"
        "    print('mine')\n"
        "    before(kind, error, trace)\n"
        "sys.excepthook = hook\n"
    )
    done = run(tmp_path, f"{START}{chained}paddle.init(port=1)\nraise OSError('disk full')\n")
    assert (done.returncode, done.stdout) == (1, "mine\n")
    assert done.stderr.endswith("OSError: disk full\n")


def test_a_thread_that_is_wrong_does_not_end_the_program(tmp_path):
    program = f"{START}import threading\nthread = threading.Thread(target=paddle.init, kwargs=dict(port=0))\n"
    done = run(tmp_path, f"{program}thread.start()\nthread.join()\nprint('went on')\n")
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "how",
    [("-i", "train.py"), ("-i", "-c", ""), ("-c", "import code; code.interact()")],
    ids=["after a script", "prompt", "console of a program's own"],
)
def test_an_interactive_session_goes_on_after_it(tmp_path, how):
    done = run(tmp_path, WRONG, *how, stdin=f"{WRONG}print('still', 'here')\n")
    assert "still here" in done.stdout
    assert "Traceback" in done.stderr
    assert "SystemExit" not in done.stderr


def test_python_in_development_mode_shows_the_whole_way(tmp_path):
    done = run(tmp_path, WRONG, "-X", "dev", "train.py")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "trainer_id is 2" in done.stderr.splitlines()[-1]


def test_without_a_standard_error_the_status_is_the_same(tmp_path):
    (tmp_path / "train.py").write_text(WRONG)
    shell = f"exec {sys.executable} train.py 2>&-"
    done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, env={"PYTHONPATH": str(RUNTIME)})
    assert done.returncode == 2


def test_what_a_user_can_mend_is_a_complaint_and_what_failed_is_none():
    kinds = (ClusterError, NotInThisRelease, SparsePortsMissing, TrainerCountMismatch)
    assert [(issubclass(kind, Complaint), kind.exit_status) for kind in kinds] == [(True, 2)] * len(kinds)
    assert not issubclass(DeliveryError, Complaint)


def test_who_follows_others_that_failed_says_so_in_a_paragraph_and_not_that_the_call_was_wrong():
    kinds = (TrainerLost, ShardUnreachable)
    assert [(issubclass(kind, Complaint), kind.exit_status) for kind in kinds] == [(True, 1)] * len(kinds)


def test_init_leaves_the_hook_of_this_very_process_a_chain(monkeypatch):
    from paddle import _complaint

    heard = []
    monkeypatch.setattr(sys, "excepthook", lambda *told: heard.append(told))
    _complaint.tell_uncaught.cache_clear()
    paddle.init()
    error = OSError("disk full")
    sys.excepthook(OSError, error, None)
    assert heard == [(OSError, error, None)]
