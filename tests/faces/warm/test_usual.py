"""What is compiled before there is a job: all that is called, by processes that end with who waits."""

from __future__ import annotations

import fcntl
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.registry import CPUDispatcher

from paddle._engine import kernels
from paddle._warm.__main__ import compiled
from paddle._warm.sharing import alone
from paddle._warm.usual import FLOAT, USUAL, VECTOR

from ...waiting import PATIENCE_S

COMPILING = """
from paddle._engine.kernels import largest, timeline
from paddle._warm import __main__ as warm
from paddle._warm.usual import USUAL

few = {timeline.lay_out, largest.put}
warm.USUAL = [line for line in USUAL if line[0] in few]
print(warm.main())
print(*(sum(kernel.stats.cache_hits.values()) for kernel in few), sep="")
"""
WAITING = """
import os, signal
from paddle._warm.sharing import share

def waits(number):
    os.write(1, b"%d\\n" % number)
    signal.pause()

share(9, 2, waits)
"""
SHARING = """
import os
from paddle._warm.sharing import share

def fails_once(number):
    os.write(1, b"%d\\n" % number)
    if not number:
        raise MemoryError

share(9, 2, fails_once)
print("whole")
"""


def all_kernels() -> Iterator[Any]:
    for module in pkgutil.walk_packages(kernels.__path__, "paddle._engine.kernels."):
        found = import_module(module.name)
        yield from (
            each
            for each in vars(found).values()
            if isinstance(each, CPUDispatcher) and each.py_func.__module__ == module.name
        )


def called_by(kernel: Any) -> Iterator[Any]:
    """What of our own a kernel may call: what its code names."""
    names = kernel.py_func.__code__.co_names
    for name in names:
        found = kernel.py_func.__globals__.get(name)
        yield from (
            (getattr(found, name, None) for name in names) if isinstance(found, ModuleType) else [found]
        )


def test_every_kernel_that_no_other_calls_is_listed_and_none_twice() -> None:
    listed = {kernel for kernel, _ in USUAL}
    inner = {
        found for kernel in all_kernels() for found in called_by(kernel) if isinstance(found, CPUDispatcher)
    }
    lacking = [each.py_func for each in all_kernels() if each not in listed | inner]
    assert not lacking, "paddle/_warm/usual.py lacks them, or nothing calls them"
    assert len(USUAL) == len(set(USUAL))


def test_what_cannot_be_compiled_is_said_after_all_else_was() -> None:
    from paddle._engine.kernels.largest import put
    from paddle._engine.kernels.normal import gelus

    said: list[str] = []
    assert not compiled([(put, (FLOAT,)), (gelus, (VECTOR,))], said.append)
    assert gelus.signatures == [(VECTOR,)]
    (text,) = said
    assert text.startswith("paddle._engine.kernels.largest.put(float32,) cannot be compiled: ")


def python(text: str, **environ: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout


def test_it_is_kept_for_later_processes(tmp_path: Path) -> None:
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(COMPILING, **place).splitlines()[0] == "0"
    assert python(COMPILING, **place) == "0\n11\n"


def test_where_numba_is_switched_off_there_is_nothing_to_do() -> None:
    assert python("import paddle._warm.__main__ as w; print(w.main())", NUMBA_DISABLE_JIT="1") == "0\n"


def is_locked(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def test_who_has_the_same_to_do_waits(tmp_path: Path) -> None:
    with alone(tmp_path / "kept"):
        assert is_locked(tmp_path / "kept")
    assert not is_locked(tmp_path / "kept")


def test_where_there_can_be_no_folder_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with alone(tmp_path / "kept" / "kernels"):
        pass


def test_each_part_is_done_once_and_one_that_fails_leaves_the_others() -> None:
    *numbers, last = python(SHARING).splitlines()
    assert sorted(numbers) == [str(number) for number in range(9)]
    assert last == "whole"


def test_processes_end_with_the_one_that_waits_for_them() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        begun = {parent.stdout.readline() for _ in range(2)}
        parent.kill()
        assert begun == {b"0\n", b"1\n"}
        assert not parent.stdout.read(), "all who have it open have ended"
