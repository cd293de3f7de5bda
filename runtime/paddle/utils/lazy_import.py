"""Imports of what need not be installed: ``paddle.utils.try_import``.

It must never install anything. Guarantee: the module, or an ImportError that says what to install.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["try_import"]

_PACKAGES = {"cv2": "opencv-python"}


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module of that name. ``err_msg``: what to say where it is not there."""
    try:
        return import_module(module_name)
    except ImportError as error:
        package = _PACKAGES.get(module_name, module_name.partition(".")[0])
        said = f"{module_name} is not installed ({error}), and the program needs it: pip install {package}"
        raise ImportError(err_msg or said, name=module_name) from None
