"""A copy of the project as a fresh clone is one, for tests of its scripts. It shares the project's .venv, and
what was compiled of its kernels: compiling them in each copy takes as long as what is tested there."""

import shutil
import subprocess
from pathlib import Path

from numba.core.caching import _CacheLocator as CacheLocator

from paddle._engine.kernels.kernel import SOURCES, digest

ROOT = Path(__file__).resolve().parents[1]


def copy_to(place: Path) -> Path:
    """Copy every file that belongs to the project, .venv aside."""
    for name in _files():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name)
    return place


def share_venv(copy: Path) -> Path:
    """Give a copy the project's .venv, and its compiled kernels."""
    (copy / ".venv").symlink_to(ROOT / ".venv")
    for init in SOURCES.rglob("__init__.py"):
        room = init.parent.relative_to(SOURCES)
        there, here = _kept(copy / SOURCES.relative_to(ROOT), room), _kept(SOURCES, room)
        here.mkdir(parents=True, exist_ok=True)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(here)
    return copy


def _kept(sources: Path, room: Path) -> Path:
    """Where numba keeps code of these: by the place at which they lie."""
    place = CacheLocator.get_suitable_cache_subpath(str(sources / room / "kernel.py"))
    return sources / "__pycache__" / digest(sources) / place


def venv_is_current() -> bool:
    """Whether run.sh in a copy will find nothing to install: it would point the shared .venv at the copy."""
    stamp = subprocess.run(
        ["cksum"], stdin=(ROOT / "pyproject.toml").open("rb"), capture_output=True, text=True
    ).stdout.strip()
    installed = ROOT / ".venv" / "installed"
    return installed.exists() and f"plot {stamp}" in installed.read_text().splitlines()


def _files() -> list[str]:
    try:
        listing = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        tracked = listing.stdout.splitlines() if listing.returncode == 0 else []
    except FileNotFoundError:  # a machine without git
        tracked = []
    if tracked:
        return [name for name in tracked if (ROOT / name).is_file()]
    skipped = {".venv", ".git", "jobs", "log", "output", "__pycache__"}
    files = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(path) for path in files if not skipped & set(path.parts)]
