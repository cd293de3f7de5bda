"""What holds for all tests. No example of hypothesis fails for the time that it took: no test asserts speed,
and a machine that does something else for a fifth of a second is no defect. And clusters for tests: whoever
asks for one is marked `lab`. Launches keep their records in a folder of the test run."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from paddle import _blas
from tests.lab import debian, ground
from tests.lab.cluster import Cluster
from tests.lab.compose import Compose
from tests.lab.lab import Lab

pytest_plugins = ["tests.called", "tests.leaving_out", "tests.plain.watch"]
settings.register_profile(
    "unhurried",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # there a verdict is of the commit alone; new examples are sought by hand
)
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cluster",
        choices=("namespaces", "compose"),
        default="namespaces",
        help="of what `cluster` is made; compose: of containers, and only tests that use them are run",
    )
    parser.addoption(
        "--kubernetes",
        type=Path,
        metavar="FOLDER",
        help="where tests/lab/kubernetes/build.sh has built one; tests that need it are left out without",
    )


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fixtures = {item: set(getattr(item, "fixturenames", ())) for item in items}
    for item in items:
        if "need_lab" in fixtures[item]:
            item.add_marker("lab")
    if config.getoption("--cluster") == "compose":
        items[:] = [item for item in items if fixtures[item] & {"standing_cluster", "shipped_cluster"}]
    else:
        items[:] = [item for item in items if "shipped_cluster" not in fixtures[item]]


@pytest.fixture(scope="session", autouse=True)
def signals_are_heard() -> None:
    """By what tests start. Behind nohup, or in the background of a shell, a test run ignores them, which is
    inherited; a handler is not."""
    for number, handler in ((signal.SIGHUP, lambda *_: None), (signal.SIGINT, signal.default_int_handler)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def no_kernel_of_blas_is_pinned() -> None:
    """In what tests start, and where they make an Executor, both of which say so on standard error."""
    for name in _blas.PINS:
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def need_lab(request: pytest.FixtureRequest) -> None:
    """For tests that make a lab in their own way."""
    ground.require(of_containers=request.config.getoption("--cluster") == "compose")


@pytest.fixture(scope="session")
def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of a test run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def kernels(of_all_workers: Path) -> Path:
    """Where nodes of all labs of a test run keep compiled kernels."""
    folder = of_all_workers / "kernels"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def standing_cluster(need_lab: None, request: pytest.FixtureRequest, kernels: Path) -> Iterator[Cluster]:
    """Three nodes for all tests of a module."""
    of_containers = request.config.getoption("--cluster") == "compose"
    with Compose() if of_containers else Lab(3, kernels=kernels) as made:
        yield made


@pytest.fixture
def shipped_cluster(need_lab: None) -> Iterator[Compose]:
    """Nodes as a user has them of cluster/compose; only for --cluster=compose, since it takes a while."""
    if not debian.ADMIN.is_dir():
        pytest.skip("the base of an image is made of this machine's packages, and this is no Debian")
    with Compose(shipped=True) as made:
        yield made


@pytest.fixture
def cluster(standing_cluster: Cluster) -> Iterator[Cluster]:
    """Those nodes for a test, whose faults are mended when it ends; what it ran and wrote stays."""
    yield standing_cluster
    standing_cluster.mend()


@pytest.fixture
def make_lab(need_lab: None, kernels: Path) -> Iterator[Callable[..., Lab]]:
    """Labs of a test's own: ``make_lab(4)``, with what else `Lab` takes."""
    with contextlib.ExitStack() as stack:

        def make(count: int = 3, **how: Any) -> Lab:
            lab = Lab(count, **{"kernels": kernels, **how})
            stack.callback(lab.close)
            return lab

        yield make


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that ``XDG_STATE_HOME`` names for every process that tests start."""
    before = os.environ.get("XDG_STATE_HOME")
    folder = tmp_path_factory.mktemp("state")
    os.environ["XDG_STATE_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before
