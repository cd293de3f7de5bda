"""What a cluster stands on: a folder, a control group for each of its places, and the keeper that ends it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.lab.group import FRAME, Group, groups

HERE = Path(__file__).resolve().parent


class Premises:
    """Those of one cluster."""

    def __init__(self, places: Iterable[str]) -> None:
        top = groups()
        assert top, "no control groups"
        self.folder = Path(tempfile.mkdtemp(prefix="lab-"))
        self.group = Group(top / self.folder.name)
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", HERE / "keeper.py", self.group.path, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # what kills the group of the tests' process does not kill this
        )
        self.groups = {place: Group(self.group.path / place) for place in (*places, FRAME)}

    @property
    def frame(self) -> Group:
        """Of what is the cluster's own and no place's."""
        return self.groups[FRAME]

    def wait(self) -> None:
        """Until the keeper watches."""
        assert self._keeper.stdout and self._keeper.stdout.readline() == b"here\n"

    def close(self) -> None:
        """Let the keeper end it all."""
        assert self._keeper.stdin and self._keeper.stdout
        self._keeper.stdin.close()
        status = self._keeper.wait()
        self._keeper.stdout.close()
        if status:
            raise RuntimeError(f"the cluster in {self.folder} did not end, see above")
