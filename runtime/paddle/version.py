"""Whose interface is here: ``paddle.version``. It must never name another one than ``paddle.__version__``.

Programs ask for the number to learn which names there are, so it is the newest whose names are here, 2.6.2;
this project's own is ``release``. Guarantee: what is asked of libraries and devices is answered as it is.
"""

from __future__ import annotations

from paddle import __git_commit__, __version__

__all__ = [
    "cinn",
    "cuda",
    "cudnn",
    "full_version",
    "major",
    "minor",
    "mkl",
    "patch",
    "rc",
    "show",
    "xpu",
    "xpu_xccl",
]

release = "0.1.0"
full_version = __version__
major, minor, patch = full_version.split(".")
rc = "0"
commit = __git_commit__
istaged = True
with_mkl = "OFF"
cuda_version = cudnn_version = xpu_version = xpu_xccl_version = cinn_version = "False"


def show() -> None:
    """Print the version and its parts."""
    numbers = {"full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc}
    devices = {each.__name__: each() for each in (cuda, cudnn, xpu, xpu_xccl, cinn)}
    for name, value in {**numbers, **devices}.items():
        print(f"{name}: {value}")


def mkl() -> str:
    """Whether Intel's MKL is in it: "OFF", as matrices are multiplied by numpy's BLAS."""
    return with_mkl


def cuda() -> str:
    """Which CUDA is in it: "False", none."""
    return cuda_version


def cudnn() -> str:
    """Which cuDNN is in it: "False", none."""
    return cudnn_version


def xpu() -> str:
    """Which XPU is in it: "False", none."""
    return xpu_version


def xpu_xccl() -> str:
    """Which library between XPUs is in it: "False", none."""
    return xpu_xccl_version


def cinn() -> str:
    """Which CINN is in it: "False", none."""
    return cinn_version
