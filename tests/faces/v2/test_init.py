"""paddle.init, and what importing the face costs."""

import subprocess
import sys
from pathlib import Path

import pytest

import paddle.v2 as paddle
from paddle.v2 import _flags

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"


def test_arguments_win_over_the_environment_which_wins_over_defaults(monkeypatch):
    monkeypatch.setenv("PADDLE_INIT_PORT", "7170")
    monkeypatch.setenv("PADDLE_INIT_PORTS_NUM", "2")
    paddle.init(use_gpu="False", trainer_count=1, port=7180, pservers="127.0.0.1,127.0.0.2")
    flags = _flags.current()
    assert (flags.port, flags.ports_num, flags.ports_num_for_sparse) == (7180, 2, 0)
    assert flags.pservers == ("127.0.0.1", "127.0.0.2") and flags.use_gpu is False


def test_a_program_that_never_calls_init_gets_its_environment(monkeypatch):
    monkeypatch.setenv("PADDLE_INIT_SEED", "7")
    assert _flags.current().seed == 7


def test_a_flag_that_does_not_exist_names_the_nearest():
    with pytest.raises(Exception, match="trainer_count"):
        paddle.init(trainer_counts=1)


def test_flags_by_which_programs_tuned_the_original_are_taken(capsys):
    paddle.init(use_gpu=False, rnn_use_batch=True, trainer_count=2, log_clipping=True, use_mkldnn=True)
    assert _flags.current().trainer_count == 2
    assert "--rnn_use_batch=True has no effect in this release" in capsys.readouterr().err


def test_the_numbers_in_which_gradients_travel_are_settled(monkeypatch):
    monkeypatch.setenv("PADDLE_INIT_WIRE", "topk")
    paddle.init(wire_topk=0.25)
    assert (_flags.current().wire, _flags.current().wire_topk) == ("topk", 0.25)
    with pytest.raises(Exception, match="wire_topk: with a share of 0 no gradient would ever travel"):
        paddle.init(wire_topk=0)
    with pytest.raises(Exception, match="'half' is not float32, bfloat16, float16 or topk"):
        paddle.init(wire="half")


@pytest.mark.parametrize("environment", [{}, {"GLOG_logtostderr": "1"}, {"GLOG_log_dir": "log"}])
def test_a_gpu_is_asked_for_in_vain_and_the_user_is_told_once(tmp_path, environment):
    program = "import paddle.v2 as paddle; paddle.init(use_gpu=True)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(RUNTIME), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("use_gpu") == 1
    assert "trains on the CPU" in done.stderr
    logs = [path.read_text() for path in tmp_path.glob("log/*")]
    assert [log.count("use_gpu") for log in logs] == [1] * ("GLOG_log_dir" in environment)


def test_importing_and_writing_a_network_loads_neither_numba_nor_a_server():
    program = (
        "import sys; import paddle.v2 as paddle; paddle.init(use_gpu=False);"
        "x = paddle.layer.data(name='x', type=paddle.data_type.dense_vector(3));"
        "paddle.parameters.create(paddle.layer.fc(input=x, size=2));"
        "print([name for name in ('numba', 'aiohttp', 'fabric', 'matplotlib') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(RUNTIME)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "[]\n"
