"""Which release this is: ``paddle.version``. It must never name another one than ``paddle.__version__``.

Guarantee: what is asked of libraries and devices is answered as it is.
"""

from __future__ import annotations

from paddle import __version__

__all__ = ["cuda", "cudnn", "full_version", "major", "minor", "mkl", "patch", "rc", "show"]

full_version = __version__
major, minor, patch = full_version.split(".")
rc = "0"
commit = "Unknown"
istaged = True
with_mkl = "OFF"


def show() -> None:
    """Print the version and its parts."""
    parts = {"full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc}
    for name, value in parts.items():
        print(f"{name}: {value}")


def mkl() -> str:
    """Whether Intel's MKL is in it: "OFF", as matrices are multiplied by numpy's BLAS."""
    return with_mkl


def cuda() -> str:
    """Which CUDA is in it: "False", none."""
    return "False"


def cudnn() -> str:
    """Which cuDNN is in it: "False", none."""
    return "False"
