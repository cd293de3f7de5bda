"""What fluid's contributions reached files with. It must never hold code of its own."""

from paddle.fluid._listed import lacking
from paddle.fluid.contrib.utils import hdfs_utils as hdfs_utils
from paddle.fluid.contrib.utils.hdfs_utils import HDFSClient, multi_download, multi_upload

__all__ = ["HDFSClient", "multi_download", "multi_upload"]

__getattr__ = lacking(__name__)
