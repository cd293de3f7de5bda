"""Compiled code that is kept must be that of the sources that are there."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba import config

from paddle._engine.kernels import kernel
from paddle._engine.kernels.kernel import digest

INNER = """
from kernel import kernel

@kernel
def inner(x):
    return x + {more}
"""
OUTER = """
from inner import inner
from kernel import kernel

@kernel
def outer(x):
    return inner(x)

if __name__ == "__main__":
    print(outer(1), sum(outer.stats.cache_hits.values()))
"""

FORKING = """
import os, signal
from threading import Thread
from inner import inner
from numba.core.compiler_lock import global_compiler_lock
from outer import outer

compiles = Thread(target=outer, args=[1])
compiles.start()
while compiles.is_alive() and global_compiler_lock._lock.acquire(blocking=False):
    global_compiler_lock._lock.release()
child = os.fork()
if not child:
    signal.alarm(200)  # one that waits for ever ends by it
    print(inner(1.5), end=" ", flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""

MULTIPLYING = """
import sys
import numpy as np
from numba import njit
from outer import outer

outer(1)
print("scipy.linalg" in sys.modules, njit(lambda x: np.dot(x, x))(np.arange(4.0)))
"""

FILLING = """
import sys
import numpy as np
from kernel import kernel

@kernel
def filled(count):
    if count < 0:
        raise ValueError("none")
    values = np.empty(count)
    values[:] = 2
    return values

try:
    filled(-1)
except ValueError as error:
    print(error)
print(filled(3).sum(), sum(filled.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
print(filled(np.int8(3)).sum(), "numba.np.linalg" in sys.modules)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Kernels of which one is compiled into another, from another file."""
    (tmp_path / "kernel.py").write_bytes(Path(kernel.__file__).read_bytes())
    (tmp_path / "inner.py").write_text(INNER.format(more=1))
    (tmp_path / "outer.py").write_text(OUTER)
    return tmp_path


def run(folder: Path, program: str = "outer.py", **environment: str) -> list[str]:
    """What ``outer(1)`` is in a new process, and how many kernels it found compiled; or what else is run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_kernel_is_compiled_once_for_all_processes(folder: Path) -> None:
    assert run(folder) == ["2", "0"]
    assert run(folder) == ["2", "1"]


def test_a_kernel_is_compiled_again_when_another_file_has_changed(folder: Path) -> None:
    run(folder)
    (folder / "inner.py").write_text(INNER.format(more=2))
    assert run(folder) == ["3", "0"]


def test_the_folder_that_the_user_names_is_taken(folder: Path, tmp_path: Path) -> None:
    run(folder, NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    assert list((tmp_path / "kept" / digest(folder)).rglob("*.nbi"))
    assert not list((folder / "__pycache__").glob("kernels-*"))


def test_other_peoples_functions_are_kept_where_they_always_were() -> None:
    before = config.CACHE_DIR
    kernel.kernel(lambda x: x)
    assert before == config.CACHE_DIR


def test_the_digest_tells_names_and_contents_apart(tmp_path: Path) -> None:
    contents = [
        *({"a.py": "x"}, {"a.py": "y"}, {"b.py": "x"}, {"a.py": "", "b.py": "x"}, {"a.py": "xb.py"}),
        *({"a/b.py": "x"}, {"a/b.py": "y"}),
    ]
    seen = set()
    for number, files in enumerate(contents):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        seen.add(digest(folder))
    assert len(seen) == len(contents)


def test_a_kernel_runs_where_its_code_cannot_be_kept(folder: Path) -> None:
    """No file may grow beyond some bytes, as on a full disk."""
    begin = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
    (folder / "outer.py").write_text(begin + OUTER)
    assert run(folder) == ["2", "0"]
    assert run(folder) == ["2", "0"]


def test_a_kernel_runs_where_what_is_kept_cannot_be_read(folder: Path) -> None:
    """Its index is damaged, or names a class that this process has not."""
    assert run(folder) == ["2", "0"]
    for index in folder.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(numba.__version__) + b"cnowhere\nNothing\n.")
    assert run(folder) == ["2", "0"]
    assert run(folder) == ["2", "1"]


def test_a_process_that_is_forked_while_a_thread_compiles_compiles_too(folder: Path) -> None:
    (folder / "forking.py").write_text(FORKING)
    assert run(folder, "forking.py") == ["2.5", "0"]


def test_a_kernel_that_is_kept_loads_no_scipy_and_products_of_others_find_it(folder: Path) -> None:
    (folder / "multiplying.py").write_text(MULTIPLYING)
    run(folder)
    assert run(folder, "multiplying.py") == ["False", "14.0"]


def test_a_kernel_that_is_kept_makes_arrays_and_raises_without_what_compiles_which_another_kind_loads(
    folder: Path,
) -> None:
    (folder / "filling.py").write_text(FILLING)
    assert run(folder, "filling.py") == ["none", "6.0", "0", "True", "6.0", "True"]
    for kept in folder.rglob("filling.filled*.2.nbc"):
        kept.unlink()
    assert run(folder, "filling.py") == ["none", "6.0", "1", "False", "6.0", "True"]
