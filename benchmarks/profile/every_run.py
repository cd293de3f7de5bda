"""The engine's steps under a profile that looks at each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.models import engine
from benchmarks.worker import Work
from paddle._engine.profile import Profile, switch


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    switch(Profile())
    return engine.prepare(settings)
