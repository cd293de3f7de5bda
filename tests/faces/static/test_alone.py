"""What programs ask of devices and of collective training, where one process is on a CPU, as of 2.6.2."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
import paddle.distributed as dist
from paddle._absent import NotInThisRelease
from paddle.distributed.collective import ReduceOp


def test_devices_are_asked_for_as_of_a_wheel_for_cpus() -> None:
    device = paddle.device
    kinds = (device.get_all_device_type, device.get_available_device, device.get_available_custom_device)
    assert [each() for each in kinds] == [[], [], []]
    assert (device.is_compiled_with_cinn(), device.is_compiled_with_ipu()) == (False, False)
    assert paddle.is_compiled_with_distribute() and paddle.distributed.is_available()


def test_the_cpu_is_set_in_letters_of_any_size() -> None:
    assert paddle.set_device("CPU") == paddle.set_device("cpu") == paddle.CPUPlace()
    with pytest.raises(NotInThisRelease, match="GPU"):
        paddle.set_device("GPU:0")


def test_one_process_begins_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_TRAINERS_NUM", raising=False)
    with pytest.warns(UserWarning, match="there is one worker"):
        paddle.distributed.init_parallel_env()
    assert not paddle.distributed.is_initialized()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(NotInThisRelease, match="of 2 trainers"):
        paddle.distributed.init_parallel_env()


def test_one_process_is_all_that_there_are(alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_TRAINERS_NUM", raising=False)
    x = paddle.static.data("x", [2])
    doubled, other = x * 2, paddle.zeros([2])
    dist.all_reduce(doubled, op=ReduceOp.MAX)
    dist.broadcast(doubled, src=0)
    dist.reduce(doubled, 0)
    gathered, said, sent, given = [], [], [], []
    dist.all_gather(gathered, doubled)
    dist.alltoall([doubled], sent)
    dist.all_gather_object(said, {"a": 1})
    dist.scatter_object_list(given, ["b"])
    dist.scatter(other, [doubled], src=0)
    dist.barrier()
    assert (gathered, sent, said, given) == ([doubled], [doubled], [{"a": 1}], ["b"])
    found = paddle.static.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[doubled, other])
    assert [each.tolist() for each in found] == [[2.0, 2.0]] * 2
    assert (dist.ReduceOp.PROD, dist.ParallelMode.DATA_PARALLEL, dist.get_group()) == (3, 0, None)


def test_functions_of_matrices_have_two_names() -> None:
    assert paddle.inverse is paddle.linalg.inv and paddle.cholesky is paddle.linalg.cholesky
