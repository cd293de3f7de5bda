"""A distributed file system, as fluid had it under ``contrib``. It must never hold code of its own."""

from paddle._absent import absent
from paddle.fluid.incubate.fleet.utils.fs import HDFSClient

__all__ = ["HDFSClient", "multi_download", "multi_upload"]

_NEEDS = "files are on this machine; have hadoop fs copy them there"
multi_download = absent("paddle.fluid.contrib.utils.multi_download", _NEEDS)
multi_upload = absent("paddle.fluid.contrib.utils.multi_upload", _NEEDS)
