"""Whose file is which, by the documents' rule: the number at the end of its name, modulo the nodes."""

from pathlib import Path

import pytest

from paddle._launch.machines.shards import owner, share
from paddle._launch.workspace import Entry


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("train.txt-00000", 0),
        ("train.txt-00001", 1),
        ("train.txt-00002", 2),
        ("train.txt-00003", 0),
        ("train.txt-00007.gz", 1),
        ("part-00004.csv.gz", 1),
        ("part-r-00005", 2),
        ("train.txt", None),
        ("all-words", None),
        ("all-words.2", None),
        ("2-words", None),
        ("v-1.2", None),
        ("", None),
    ],
)
def test_the_number_of_a_file_modulo_three_nodes(name, node) -> None:
    assert owner(name, 3) == node


def entries(*paths: str) -> tuple[Entry, ...]:
    return tuple(Entry(path, "file", Path(path), 1) for path in paths)


def test_every_numbered_file_is_exactly_one_nodes_and_all_else_is_everybodys() -> None:
    package = entries("train.py", "d/words", *(f"d/e/x-{number:05}" for number in range(10)), "other/x-00001")
    shares = [share(package, "d", node, range(4)) for node in range(4)]
    numbered = [entry.path for of in shares for entry in of if entry.path.startswith("d/e/")]
    assert sorted(numbered) == sorted(f"d/e/x-{number:05}" for number in range(10))
    assert all({"train.py", "d/words", "other/x-00001"} <= {entry.path for entry in of} for of in shares)


def test_without_a_folder_all_is_everybodys() -> None:
    package = entries("train.py", "d/x-00000")
    assert share(package, "", 1, range(2)) == package


def test_files_go_by_the_ranks_of_trainers_and_to_a_node_without_one_go_none() -> None:
    package = entries("train.py", *(f"d/x-{number:05}" for number in range(4)))
    sent = [[entry.path for entry in share(package, "d", node, (2, 0))] for node in range(3)]
    assert sent == [
        ["train.py", "d/x-00001", "d/x-00003"],
        ["train.py"],
        ["train.py", "d/x-00000", "d/x-00002"],
    ]
