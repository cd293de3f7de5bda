"""Which release this is, and what programs ask of it, is answered as it is."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
import paddle.version
from paddle.fluid import layers


def test_a_version_has_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    version = paddle.version
    assert version.full_version == paddle.__version__ == f"{version.major}.{version.minor}.{version.patch}"
    assert paddle.__version__ >= "2.0.0" and version.major == "2", "programs ask by it what they may call"
    version.show()
    said = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    assert said["full_version"] == version.full_version
    numbers = ["full_version", "major", "minor", "patch", "rc"]
    assert [*said] == [*numbers, "cuda", "cudnn", "xpu", "xpu_xccl", "cinn"]
    assert (version.mkl(), version.cuda(), version.cudnn()) == ("OFF", "False", "False")
    assert len(paddle.__git_commit__[:8]) > 0


def test_devices_are_answered_for() -> None:
    assert not fluid.core.is_compiled_with_cuda() and not fluid.is_compiled_with_cuda()
    assert fluid.core.get_cuda_device_count() == 0


@pytest.mark.parametrize("versions", [("1.6",), ("0",), ("1.6", "1.7"), ("1.8.5",), ("2.0.0",)])
def test_programs_of_a_release_whose_interface_is_here_go_on(versions: tuple[str, ...]) -> None:
    fluid.require_version(*versions)


@pytest.mark.parametrize("versions", [("3.0",), ("0.1", "0.10"), ("1.8", "1.6")])
def test_programs_of_another_release_are_refused(versions: tuple[str, ...]) -> None:
    with pytest.raises(Exception, match="VersionError: the program is for"):
        fluid.require_version(*versions)


def test_what_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="min_version of require_version is one to four numbers"):
        fluid.require_version("newest")
    with pytest.raises(TypeError, match="max_version of require_version is a text"):
        fluid.require_version("1.6", 1.7)  # type: ignore[arg-type]


def test_a_refused_run_is_caught_by_the_original_s_name() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        out = layers.fc(layers.data("x", [2]), 3)
        with pytest.raises(fluid.core.EnforceNotMet, match="startup program"):
            fluid.Executor().run(feed={"x": np.zeros((1, 2), "float32")}, fetch_list=[out])
