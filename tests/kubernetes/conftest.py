"""A Kubernetes of one node for all tests of this folder, and a namespace of its own for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes.machines import Machines
from tests.kubernetes.training import Training
from tests.lab import ground
from tests.lab.kubernetes.one_node import OneNode

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "one_node" in getattr(item, "fixturenames", ()):
            item.add_marker("kubernetes")


@pytest.fixture(scope="session")
def one_node(request: pytest.FixtureRequest) -> Iterator[OneNode]:
    programs: Path | None = request.config.getoption("--kubernetes")
    if programs is None:
        pytest.skip("a Kubernetes is brought up by: sh cluster/kubernetes/test.sh")
    ground.require(of_containers=True)
    with OneNode(programs.resolve()) as made:
        yield made


@pytest.fixture
def space(one_node: OneNode) -> Iterator[str]:
    """A namespace that is empty before the test, and removed with all in it after that."""
    name = f"training-{next(_numbers)}"
    one_node.enter(name)
    yield name
    one_node.leave(name)


@pytest.fixture
def training(one_node: OneNode, space: str, tmp_path: Path) -> Iterator[Training]:
    """Launches into that namespace, by somebody who may do what is documented and nothing else."""
    made = Training(one_node, space, tmp_path)
    yield made
    made.close()


@pytest.fixture
def machines(one_node: OneNode, space: str, tmp_path: Path) -> Iterator[Machines]:
    """Machines in that namespace, once they are created."""
    made = Machines(one_node, space, tmp_path)
    yield made
    made.close()
