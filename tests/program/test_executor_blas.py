"""An Executor computes with one thread of BLAS, unless somebody has chosen another number; of a kernel that
somebody has chosen it says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import paddle
from paddle import _blas, fluid

PROGRAM = (
    "import numpy, paddle.fluid as fluid\nfrom paddle import _blas\n"
    "fluid.Executor(fluid.CPUPlace())\nprint(_blas.loaded().threads)"
)
CHILD = "import paddle.fluid as fluid; fluid.Executor()"
FACES = {
    "fluid": "import paddle.fluid as fluid\nfor _ in range(2): fluid.Executor(fluid.CPUPlace())\n",
    "static": "import paddle\npaddle.enable_static()\nfor _ in range(2): paddle.static.Executor()\n",
    "then v2": "import paddle.fluid as fluid\nfluid.Executor()\nimport paddle.v2 as paddle\npaddle.init()\n",
}


def unset() -> dict[str, str]:
    """This environment, in which nobody chose anything."""
    chosen = {*_blas.PINS, *_blas.THREADS}
    return {name: text for name, text in os.environ.items() if name not in chosen}


def ran(program: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=unset() | environ, capture_output=True, text=True, check=True)


@pytest.mark.parametrize(("chosen", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")])
def test_blas_has_one_thread_unless_somebody_chose(chosen: dict[str, str], threads: str) -> None:
    if chosen and (os.cpu_count() or 1) < 2:
        pytest.skip("BLAS takes no more threads than there are cores")
    assert ran(PROGRAM, **chosen).stdout.strip() == threads


@pytest.mark.parametrize("face", FACES)
def test_a_kernel_that_was_pinned_is_told_once_and_what_is_started_later_says_nothing(face: str) -> None:
    kernel = _blas.loaded()
    assert kernel is not None
    starts = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {CHILD!r}], check=True)"
    said = ran(FACES[face] + starts, OPENBLAS_CORETYPE=kernel.kernel).stderr
    assert said.count("\n") == 1
    assert said.startswith(
        f"paddle: numpy was loaded with OPENBLAS_CORETYPE={kernel.kernel}, so products of "
    )
    assert f"take the kernel {kernel.kernel}" in said and "unset it before Python starts" in said


@pytest.mark.parametrize("face", FACES)
def test_nothing_is_said_where_nobody_pinned_a_kernel(face: str) -> None:
    assert ran(FACES[face]).stderr == ""


def test_an_installation_says_which_kernel_it_computes_with(capsys: pytest.CaptureFixture[str]) -> None:
    for check in (fluid.install_check.run_check, paddle.utils.run_check):
        check()
        assert f"\nMatrices are multiplied by {_blas.loaded()}.\n" in f"\n{capsys.readouterr().out}"
