"""BLAS and threads in one place: what a process is told before it loads numpy, and what is done later."""

import subprocess
import sys
from pathlib import Path

import pytest

from paddle import _blas

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"


def said(program: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(RUNTIME), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_pins_are_dropped_and_threads_are_one_where_nobody_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blas, "_loaded", lambda: None)
    environ = {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_L2_SIZE": "512", "OMP_NUM_THREADS": "8"}
    assert _blas.settle(environ) is None
    assert environ == {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


REPORT = "; from paddle import _blas; import numpy; print(_blas.loaded().threads)"


@pytest.mark.parametrize(("before", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
@pytest.mark.parametrize("imported", ["", "import numpy; "], ids=["numpy later", "numpy before"])
def test_blas_has_one_thread_whenever_numpy_was_loaded_unless_somebody_chose(
    imported: str, before: dict[str, str], threads: str
) -> None:
    program = f"{imported}import paddle.v2 as paddle; paddle.init(trainer_count=2){REPORT}"
    assert said(program, **before) == f"{threads}\n"


def test_a_pin_that_came_too_early_is_told_with_the_kernel_that_it_chose() -> None:
    program = (
        "import os, numpy; from paddle import _blas; notice = _blas.settle(os.environ); "
        "print(_blas.loaded().kernel in notice, 'OPENBLAS_CORETYPE=' in notice, 'unset it' in notice)"
    )
    kernel = _blas.loaded()
    assert kernel is not None and str(kernel).startswith(f"OpenBLAS {kernel.kernel}, ")
    assert said(program, OPENBLAS_CORETYPE=kernel.kernel) == "True True True\n"


def test_of_v2_it_is_told_by_paddle_init_which_may_come_before_numpy() -> None:
    kernel = _blas.loaded()
    assert kernel is not None
    for imports, lines in (("import numpy; ", 1), ("", 0)):
        program = f"{imports}import paddle.v2 as paddle; paddle.init(); paddle.init()"
        told = said(f"import sys; sys.stderr = sys.stdout; {program}", OPENBLAS_CORETYPE=kernel.kernel)
        assert told.count("\n") == told.count("or call paddle.init before numpy is imported") == lines


def test_to_ask_loads_nothing() -> None:
    program = "import sys; from paddle import _blas; print(_blas.loaded(), 'numpy' in sys.modules)"
    assert said(program) == "None False\n"
