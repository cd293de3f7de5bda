"""``paddle.v2.minibatch.batch`` is ``paddle.batch``."""

from paddle.batch import batch

__all__ = ["batch"]
