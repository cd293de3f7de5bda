"""With CI set a test that cannot run fails, but for what is listed."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.leaving_out import MAY_LACK

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {
    "by_itself": "import pytest\ndef test_one(): pytest.skip('no namespaces')\n",
    "by_a_mark": "import pytest\n@pytest.mark.skipif(True, reason='no namespaces')\ndef test_one(): pass\n",
    "by_its_file": "import pytest\npytest.skip('no namespaces', allow_module_level=True)\n",
    "as_it_may": f"import pytest\ndef test_one(): pytest.skip({MAY_LACK[0]!r})\n",
}


def outcomes(folder: Path, **environ: str) -> dict[str, int]:
    """How many tests, or files of tests, ended in which way."""
    clean = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.leaving_out", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--continue-on-collection-errors", f"--rootdir={folder}", "-c", os.devnull, folder],
        cwd=ROOT,
        env=clean | environ,
        capture_output=True,
        text=True,
    )
    assert bool(done.returncode) == ("failed" in done.stdout), done.stdout + done.stderr
    return {how: int(many) for many, how in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}


def test_what_is_left_out_is_a_failure_where_all_is_known_to_be_possible(tmp_path: Path) -> None:
    for name, text in LEFT_OUT.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    assert outcomes(tmp_path)["skipped"] == 4
    found = outcomes(tmp_path, CI="yes")
    assert (found["failed"], found["errors"], found["skipped"]) == (1, 2, 1), "two before they begin"
