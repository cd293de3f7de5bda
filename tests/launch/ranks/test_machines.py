"""The file of machines, in all the forms in which mpirun takes it."""

import re

import pytest

from paddle._launch.errors import UsageError
from paddle._launch.ranks.machines import read


def test_a_machine_is_the_first_word_of_its_line(tmp_path) -> None:
    path = tmp_path / "machines"
    path.write_text(
        "# the rack\n10.0.0.2 slots=4\n\n tutorial@n3:22  max_slots=2 # slow\n10.0.0.2\nn4:8\n^n5\n",
        encoding="utf-8-sig",
    )
    assert read(path, is_needed=True) == ("10.0.0.2", "n3", "n4")


@pytest.mark.parametrize("word", ["+n0", "+e:2", "fd00::1"])
def test_what_ranks_cannot_look_for_is_refused_by_name(tmp_path, word) -> None:
    path = tmp_path / "machines"
    path.write_text(f"10.0.0.1\n{word} slots=1\n")
    with pytest.raises(UsageError, match=f"'{re.escape(word)}' is not a name of a machine"):
        read(path, is_needed=True)


def test_without_a_file_it_is_this_machine_unless_one_is_needed(tmp_path) -> None:
    assert read(tmp_path / "machines", is_needed=False) == ("127.0.0.1",)
    with pytest.raises(UsageError, match=r"No such file.*-hostfile.*--machine_names="):
        read(tmp_path / "machines", is_needed=True)


@pytest.mark.parametrize(("content", "words"), [(b"# none\n", "names no machine"), (b"\xff\xfe", "decode")])
def test_a_file_that_names_none_is_refused(tmp_path, content, words) -> None:
    path = tmp_path / "machines"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read(path, is_needed=False)


def test_a_folder_is_no_file(tmp_path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        read(tmp_path, is_needed=False)
