"""The engine's steps under the profile of a job with the flag: it looks at as many as cost a hundredth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.models import engine
from benchmarks.worker import Work
from paddle._engine.profile import Profile, switch
from paddle._profiling import BUDGET


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    switch(Profile(budget=BUDGET))
    return engine.prepare(settings)
