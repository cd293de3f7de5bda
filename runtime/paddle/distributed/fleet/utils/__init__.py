"""What goes with fleet: files, and inference in a job."""

from typing import Any

from paddle._public_names import missing
from paddle.distributed.fleet.utils.fs import HDFSClient, LocalFS
from paddle.distributed.fleet.utils.ps_util import DistributedInfer

__all__ = ["DistributedInfer", "HDFSClient", "LocalFS"]

_LATER = {
    "recompute": "programs are static here, and keep what gradients need",
    "KVServer": "processes meet at the parameter servers",
    "KVHandler": "processes meet at the parameter servers",
    "KVHTTPServer": "processes meet at the parameter servers",
}


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, _LATER.get(name, ""))
