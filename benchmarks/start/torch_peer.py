"""The process of a program that uses PyTorch."""

from functools import partial

from benchmarks.start.process import work

prepare = partial(work, "torch_peer", "torch")
