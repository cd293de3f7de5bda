"""How much something is, in words."""

import pytest

from paddle._launch.screens import sizes


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (512, "512 bytes"),
        (1000, "1 kB"),
        (999_400, "999 kB"),
        (1_500_000, "1.5 MB"),
        (2e9, "2.0 GB"),
        (1.25e12, "1.2 TB"),
        (4e15, "4,000.0 TB"),
    ],
)
def test_a_size_is_said_by_thousands(size: float, words: str) -> None:
    assert sizes.of(size) == words
