"""Messages of programs, as programs name them. It must never know a Program of ours."""

from paddle.fluid.proto import framework_pb2 as framework_pb2

__all__ = ["framework_pb2"]
