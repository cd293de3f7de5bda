"""An Executor computes with one thread of BLAS, unless somebody has chosen another number."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = (
    "import numpy, paddle.fluid as fluid\nfrom paddle import _blas\n"
    "fluid.Executor(fluid.CPUPlace())\nprint(_blas.loaded().threads)"
)


@pytest.mark.parametrize(("chosen", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")])
def test_blas_has_one_thread_unless_somebody_chose(chosen: dict[str, str], threads: str) -> None:
    environ = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    if chosen and (os.cpu_count() or 1) < 2:
        pytest.skip("BLAS takes no more threads than there are cores")
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ | chosen, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == threads
