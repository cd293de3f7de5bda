"""Files of this machine, as fleet's file systems are asked for them.

It must never know another machine. Guarantee: what is asked for and is not there is said by its path.
"""

from __future__ import annotations

import shutil
from pathlib import Path


class LocalFS:
    """The file system of this machine."""

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Names of the folders and of the files in a folder."""
        if not self.is_exist(fs_path):
            return [], []
        found = sorted(Path(fs_path).iterdir())
        return [each.name for each in found if each.is_dir()], [e.name for e in found if not e.is_dir()]

    def list_dirs(self, fs_path: str) -> list[str]:
        """Names of the folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, and those above it."""
        Path(fs_path).mkdir(parents=True, exist_ok=True)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give it another name."""
        Path(fs_src_path).rename(fs_dst_path)

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Move it; something that is there is an error, or with ``overwrite`` replaced."""
        if not self.is_exist(src_path):
            raise FileNotFoundError(src_path)
        if self.is_exist(dst_path):
            if not overwrite:
                raise FileExistsError(dst_path)
            self.delete(dst_path)
        self.rename(src_path, dst_path)

    def delete(self, fs_path: str) -> None:
        """Remove a file, or a folder with all in it."""
        path = Path(fs_path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file."""
        Path(fs_path).touch(exist_ok=exist_ok)

    def cat(self, fs_path: str) -> str:
        """What is in a file."""
        return Path(fs_path).read_text(encoding="utf-8")

    def is_file(self, fs_path: str) -> bool:
        """Whether it is a file."""
        return Path(fs_path).is_file()

    def is_dir(self, fs_path: str) -> bool:
        """Whether it is a folder."""
        return Path(fs_path).is_dir()

    def is_exist(self, fs_path: str) -> bool:
        """Whether it is there."""
        return Path(fs_path).exists()

    def need_upload_download(self) -> bool:
        """It is on this machine."""
        return False
