"""Help pages."""

import re

import pytest

from paddle._launch.flag import User
from paddle._launch.flags import flags_of
from paddle._launch.manual import flags_not_of, page


@pytest.mark.parametrize("user", ["launcher", "pserver", "trainer", "master"])
def test_a_page_shows_every_flag_once_and_fits_a_terminal(user: User) -> None:
    drawn = page("Usage: it", [("Flags:", flags_of(user))])
    rows = re.findall(r"^  (?:-\w, )?--(\w+)", drawn, re.MULTILINE)
    listed = [
        name
        for line in re.findall(r"^  (\w.*)$", drawn, re.MULTILINE)
        for name in line.strip(",").split(", ")
    ]
    assert sorted(rows + listed) == sorted(flag.name for flag in flags_of(user))
    assert max(map(len, drawn.splitlines())) <= 100


def test_a_row_tells_letter_default_and_conf_name() -> None:
    drawn = page("", [("Flags:", flags_of("launcher"))])
    assert "-p, --job_dispatch_package=TEXT" in drawn
    assert "default 7164" in drawn
    assert "PADDLE_PORTS_NUM_FOR_SPARSE" in drawn


def test_head_and_tail_frame_the_sections() -> None:
    drawn = page("\nHead\n", [("One:", flags_of("pserver")), ("None:", ())], "\nTail\n")
    assert drawn.startswith("Head\n\nOne:\n")
    assert drawn.endswith("\n\nTail\n")
    assert "None:" not in drawn


def test_two_users_split_the_flags_between_them() -> None:
    both = {*flags_of("launcher"), *flags_not_of("launcher", "trainer")}
    assert both == set(flags_of("launcher", "trainer"))
    assert not set(flags_of("launcher")) & set(flags_not_of("launcher", "trainer"))
