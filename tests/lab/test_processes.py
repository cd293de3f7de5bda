"""What a kernel tells of a process in the moments in which it begins and ends."""

from __future__ import annotations

import subprocess

from tests.lab.processes import look


def test_what_begins_or_ends_just_then_is_seen_with_its_words_or_not_at_all() -> None:
    for _ in range(50):
        with subprocess.Popen(["/bin/true"]) as started:
            while seen := [*look([started.pid])]:
                assert seen[0].argv != ("",)
