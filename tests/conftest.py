"""What holds for all tests. No example of hypothesis fails for the time that it took: no test asserts speed,
and a machine that does something else for a fifth of a second is no defect. And clusters for tests: whoever
asks for one is marked `lab`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.lab import ground
from tests.lab.cluster import Cluster
from tests.lab.lab import Lab

FIXTURES = {"cluster", "make_lab"}

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("lab")


def _need_ground() -> None:
    if not (lacking := ground.missing()):
        return
    said = f"no cluster can be made here: {'; '.join(lacking)}"
    if os.environ.get("CI"):
        pytest.fail(said)  # there it is known to be possible: a test left out is a test that failed
    pytest.skip(said)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three nodes for all tests of a module. Whoever breaks them mends them."""
    _need_ground()
    with Lab(3) as made:
        yield made


@pytest.fixture
def make_lab() -> Iterator[Callable[..., Lab]]:
    """Labs of a test's own: ``make_lab(4)``, with what else `Lab` takes."""
    _need_ground()
    with contextlib.ExitStack() as stack:

        def make(count: int = 3, **how: Any) -> Lab:
            lab = Lab(count, **how)
            stack.callback(lab.close)
            return lab

        yield make
