"""Settings for examples of hypothesis, beside those of all tests (conftest.py)."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

one_fixture_for_all = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
"""All examples of a test have the same fixtures, which stand it. (This list replaces that of all tests.)"""
