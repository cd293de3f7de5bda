"""The process of a program that uses paddle.v2."""

from functools import partial

from benchmarks.start.process import work

prepare = partial(work, "face_v2", "paddle paddle.v2 paddle.fluid")
