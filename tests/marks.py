"""Marks of tests, where they are of single parameters."""

from __future__ import annotations

from functools import partial

import pytest

on_demand = partial(pytest.param, marks=pytest.mark.thorough)
"""A set of parameters that asks once more what another one asks: `sh test.sh -m thorough` asks it."""
