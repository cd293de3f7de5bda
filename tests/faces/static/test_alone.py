"""What programs ask of devices and of collective training, where one process is on a CPU, as of 2.6.2."""

from __future__ import annotations

import pytest

import paddle
from paddle._absent import NotInThisRelease


def test_devices_are_asked_for_as_of_a_wheel_for_cpus() -> None:
    device = paddle.device
    kinds = (device.get_all_device_type, device.get_available_device, device.get_available_custom_device)
    assert [each() for each in kinds] == [[], [], []]
    assert (device.is_compiled_with_cinn(), device.is_compiled_with_ipu()) == (False, False)
    assert paddle.is_compiled_with_distribute() and paddle.distributed.is_available()


def test_one_process_begins_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_TRAINERS_NUM", raising=False)
    with pytest.warns(UserWarning, match="there is one worker"):
        paddle.distributed.init_parallel_env()
    assert not paddle.distributed.is_initialized()
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(NotInThisRelease, match="of 2 trainers"):
        paddle.distributed.init_parallel_env()


def test_functions_of_matrices_have_two_names() -> None:
    assert paddle.inverse is paddle.linalg.inv and paddle.cholesky is paddle.linalg.cholesky
