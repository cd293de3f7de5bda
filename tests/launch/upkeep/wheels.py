"""Wheels of packages that have nothing in them, and pip's own, for tests without a network."""

from __future__ import annotations

import ensurepip
import shutil
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = f"cp{sys.version_info[0]}{sys.version_info[1]}"


def make(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    requires: Sequence[str] = (),
    tags: str = "py3-none-any",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a wheel; a module of its name is in it, unless other ``files`` are given."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
    texts = {
        **({f"{module}.py": f"version = {version!r}\n"} if files is None else files),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tags}\n",
    }
    path = folder / f"{module}-{version}-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in texts.items():
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\n" for file in (*texts, f"{info}/RECORD")))
    return path


_UNPACKER = """
import pathlib, sys, sysconfig, zipfile
links = next(word.partition("=")[2] for word in sys.argv if word.startswith("--find-links="))
for wanted in (word for word in sys.argv if "==" in word):
    name, _, version = wanted.partition("==")
    found = list(pathlib.Path(links).glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    if not found:
        sys.exit(f"ERROR: No matching distribution found for {wanted}")
    try:
        zipfile.ZipFile(found[0]).extractall(sysconfig.get_path("purelib"))
    except OSError as error:
        sys.exit(f"ERROR: {error}")
"""


def unpacker(folder: Path) -> Path:
    """What stands for pip where it is not pip that is tried: it unpacks, and starts ten times faster."""
    return make(folder, "pip", "0.0", files={"pip/__init__.py": "", "pip/__main__.py": _UNPACKER})


def pip(folder: Path) -> Path:
    """Put pip's own wheel there, which this Python has for its environments."""
    folder.mkdir(parents=True, exist_ok=True)
    bundled = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))
    return Path(shutil.copy(next(wheel for place in bundled for wheel in place.glob("pip-*.whl")), folder))
