"""The process of a program that uses the engine."""

from functools import partial

from benchmarks.start.process import work

prepare = partial(work, "engine", "paddle._engine.builder paddle._engine.executor")
