"""``paddle.distributed.fleet``."""
