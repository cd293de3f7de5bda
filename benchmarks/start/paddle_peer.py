"""The process of a program that uses PaddlePaddle 2.6."""

from functools import partial

from benchmarks.start.process import work

prepare = partial(work, "paddle_peer", "paddle")
