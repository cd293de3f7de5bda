"""HDFS, as programs that may run elsewhere name it.

It must never reach another machine. Guarantee: a client is made as upstream's is, which asks for nothing
either; what is asked of one is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paddle._absent import absent

_ASKED = frozenset(
    """
    cat delete download is_dir is_exist is_file list_dirs list_files_info ls ls_dir lsr make_local_dirs
    makedirs mkdirs mv need_upload_download rename split_files touch upload upload_dir
    """.split()  # noqa: SIM905  read in columns
)
"""Methods from 1.0 to 2.6."""


class HDFSClient:
    """A client of a Hadoop in ``hadoop_home``. Every method is refused: files are of this machine."""

    def __init__(
        self, hadoop_home: str, configs: Mapping[str, str] | None, *others: Any, **named: Any
    ) -> None:
        self.configs = configs

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _ASKED:
            raise AttributeError(f"HDFSClient has no {name!r}; it has {', '.join(sorted(_ASKED))}")
        why = "files are on this machine: mount what is elsewhere, and use LocalFS"
        return absent(f"HDFSClient.{name}", why)
