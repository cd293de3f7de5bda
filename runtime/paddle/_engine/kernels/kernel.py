"""Kernel: how a Python function becomes a compiled one, the same way for all.

numba keeps compiled code for later processes and compiles again when the file has changed in which a function
stands. It does not see that another file has changed, whose functions were compiled into it: after an update
such a kernel would go on with the old ones, and with what they took memory to hold. So the code is kept under
a digest of all kernels' sources. It must never know what a kernel computes.

Guarantee: what runs is what the sources say, all of them; also where a full or failing disk keeps no code or
gives back something else, and in a process that is forked while another thread compiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from paddle._loading import undisturbed

with undisturbed():
    from numba import config, njit
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.runtime import rtsys

SOURCES = Path(__file__).parent

_decorating = Lock()

os.register_at_fork(  # a child would wait for ever for a lock that a thread holds which it does not have
    before=global_compiler_lock.acquire,
    after_in_parent=global_compiler_lock.release,
    after_in_child=global_compiler_lock.release,
)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` when it is first called; ``options`` are numba's, besides those of all kernels.

    numba's own way with a division by zero, to raise, keeps the compiler from vector instructions.
    """
    if function is None:
        return partial(kernel, **options)
    with _kept_by_sources():
        compiled = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    return _running_anyway(compiled)


def _running_anyway(compiled: Any) -> Any:
    """numba keeps code before it runs it, and fails where it cannot: here the next process compiles again. It
    fails, too, where it cannot read what is kept: here that is compiled anew, and nothing else is kept."""
    if (kept := getattr(compiled, "_cache", None)) is not None:  # there is none where numba is switched off
        save, load = kept.save_overload, kept.load_overload

        def try_to_save(*code: Any) -> None:
            with suppress(OSError):
                save(*code)

        def try_to_load(signature: Any, context: Any) -> Any:
            found = None
            try:
                with undisturbed(), _learning_nothing(context):
                    found = load(signature, context)
            except Exception:  # a damaged pickle raises whatever it happens to say
                with suppress(OSError):
                    kept.flush()
            if found is None:  # so it will be compiled
                _leave_scipy()
            return found

        kept.save_overload, kept.load_overload = try_to_save, try_to_load
    return compiled


@contextmanager
def _learning_nothing(context: Any) -> Iterator[None]:
    """Before numba looks for what is kept it loads all that it can compile, a quarter of a second of imports.
    Code that is kept needs numba's runtime, and no more; who compiles loads the rest all the same. The caller
    holds the compiler's lock, as whoever has numba look for code."""
    rtsys.initialize(context)
    context.refresh = _nothing
    try:
        yield
    finally:
        context.__dict__.pop("refresh", None)


def _nothing() -> None: ...


@cache
def _leave_scipy() -> None:
    """numba imports SciPy's linear algebra to know whether there is any: half of what a first step imports.
    It is enough that it can be found: what multiplies matrices imports it then."""
    from numba.np import linalg

    asked = linalg.ensure_blas

    def find_scipy() -> None:
        import scipy  # noqa: F401 (the package alone, which numba has imported)

    linalg.ensure_blas = find_scipy
    try:
        from numba.np import arraymath  # noqa: F401 (asks when it is imported)
    finally:
        linalg.ensure_blas = asked


@contextmanager
def _kept_by_sources() -> Iterator[None]:
    """What is decorated meanwhile is kept by the digest: below NUMBA_CACHE_DIR, otherwise beside the sources.

    Where that cannot be written, numba looks for a place of its own.
    """
    with _decorating:
        given = config.CACHE_DIR
        config.CACHE_DIR = str(Path(given or SOURCES / "__pycache__") / digest(SOURCES))
        try:
            yield
        finally:
            config.CACHE_DIR = given


@cache
def digest(folder: Path) -> str:
    """Tell the Python files of ``folder``, and of those in it, from all other ones."""
    text = sha256()
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        text.update(f"{path.relative_to(folder)} {len(source)}\n".encode() + source)
    return f"kernels-{text.hexdigest()[:16]}"
