"""Said: what pservers have said in their logs, of pushes that they lost and of snapshots.

A line that tells of lost pushes comes before the one that says whose they are: who came, and from which
address; every process that has links has addresses of its own. Of those that have none nobody knows which it
was.

It must never know a process, nor what was pushed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FIRST_NET = 10  # processes of slot n reach the pservers from 127.0.(10 + n).1 and .2
NEAR = -FIRST_NET
"""The slot of those that have no links, and come from 127.0.0.1."""

_LOST = re.compile(r"steps (\d+) to (\d+) of trainer (\d+) are lost")
_CAME = re.compile(r"trainer (\d+) (?:joined|came back) from 127\.0\.(\d+)\.")
_PASSED_OVER = re.compile(r"passes over snapshot (\d+ \((?!it was cut short while it was written\)).*)")


class Said:
    """See the module's text. ``logs``: the lines of each pserver."""

    def __init__(self, logs: Sequence[Sequence[str]]) -> None:
        self.torn: list[str] = []  # snapshots that were not only cut short, and that a shard met
        self.let_go: set[str] = set()  # shards that let a trainer go though what it told did not last
        self.full_disks = sum("[Errno 27]" in line for lines in logs for line in lines)  # File too large
        self._lost: dict[tuple[str, int], set[int]] = {}
        self._has_restarted: dict[tuple[str, int], bool] = {}  # after somebody was last heard
        for n, lines in enumerate(logs):
            for role in ("dense", "sparse"):
                self._read(f"{role} {n}", [line for line in lines if f"{role} shard" in line])

    def _read(self, shard: str, lines: Sequence[str]) -> None:
        pending: dict[str, range] = {}
        for line in lines:
            if lost := _LOST.search(line):
                pending[lost[3]] = range(int(lost[1]), int(lost[2]) + 1)
            elif came := _CAME.search(line):
                key = (shard, int(came[2]) - FIRST_NET)
                self._lost.setdefault(key, set()).update(pending.pop(came[1], ()))
                self._has_restarted[key] = False
            elif "goes on from version" in line:
                self._has_restarted |= {key: True for key in self._has_restarted if key[0] == shard}
            elif "though no snapshot could be written" in line:
                self.let_go.add(shard)
            elif torn := _PASSED_OVER.search(line):
                self.torn.append(f"{shard} has a snapshot that is damaged: {torn[1]}")

    def lost(self, shard: str, slot: int) -> set[int]:
        """The numbers of pushes that a shard has said to be lost."""
        return self._lost.get((shard, slot), set())

    def has_restarted(self, shard: str, slot: int) -> bool:
        """Whether it has, after ``slot`` was last heard, so that nobody told it what it had forgotten."""
        return self._has_restarted.get((shard, slot), False)
