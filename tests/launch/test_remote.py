"""What is sent to machines beside the workspace, and where it comes to lie there."""

from pathlib import Path

import pytest

from paddle._launch.remote import Remote, needs
from paddle._launch.settings import settle


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    package = tmp_path / "runtime" / "paddle"
    (package / "_core" / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "_core" / "one.py").write_text("1")
    (package / "_core" / "__pycache__" / "one.pyc").write_text("2")
    (tmp_path / "runtime" / "paddle.egg-info").mkdir()
    (tmp_path / "runtime" / "other.py").write_text("4")
    return tmp_path / "runtime"


def needed(runtime: Path, conf: str = "") -> Remote:
    (runtime.parent / "conf.py").write_text(
        f"HOSTS = ['root@a']\nROOT_DIR = '/srv'\nPADDLE_NIC = 'eth0'\n{conf}"
    )
    return needs(settle(runtime.parent / "conf.py", {}, {}), runtime)


def test_the_package_is_sent_and_nothing_beside_it(runtime) -> None:
    sent = needed(runtime).contents
    names = ["paddle", "paddle/__init__.py", "paddle/_core", "paddle/_core/one.py"]
    assert [entry.path for entry in sent] == names
    assert sent[-1].source == runtime / "paddle" / "_core" / "one.py"


def test_the_module_by_which_programs_read_records_goes_with_it(runtime) -> None:
    before = needed(runtime)
    (runtime / "recordio.py").write_text("5")
    after = needed(runtime)
    assert [entry.path for entry in after.contents if entry not in before.contents] == ["recordio.py"]
    assert after.runtime != before.runtime


def test_its_folder_is_named_by_what_is_in_it(runtime) -> None:
    before = needed(runtime).runtime
    assert before.parent == Path("/srv/.paddle")
    assert needed(runtime).runtime == before
    (runtime / "paddle" / "_core" / "one.py").write_text("3")
    assert needed(runtime).runtime != before


def test_the_python_is_that_of_root_dir_or_any_or_the_one_that_was_named(runtime) -> None:
    assert needed(runtime).pythons == ("/srv/.paddle/venv/bin/python", "python3")
    assert needed(runtime, "NODE_PYTHON = '/opt/python'").pythons == ("/opt/python",)
