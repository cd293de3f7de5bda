"""A reader of one of several trainers, and what both Pythons called otherwise."""

from __future__ import annotations

import pytest

import paddle.fluid as fluid
from paddle import compat


@pytest.mark.parametrize(("own", "expected"), [("0", [0, 3]), ("2", [2, 5])])
def test_a_trainer_has_one_batch_of_each_turn_and_none_of_the_last_that_is_short(
    own: str, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    monkeypatch.setenv("PADDLE_TRAINER_ID", own)
    reader = fluid.contrib.reader.distributed_batch_reader(lambda: iter(range(8)))
    assert list(reader()) == list(reader()) == expected


def test_a_trainer_alone_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_TRAINERS_NUM", raising=False)
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    assert list(fluid.contrib.distributed_batch_reader(lambda: iter(range(3)))()) == [0, 1, 2]
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    with pytest.raises(ValueError, match="PADDLE_TRAINER_ID is 1, and PADDLE_TRAINERS_NUM 1"):
        fluid.contrib.distributed_batch_reader(lambda: iter(range(3)))


def test_texts_and_bytes_are_made_of_each_other() -> None:
    words = [b"a", "b", 1, None]
    assert compat.to_text(words) == ["a", "b", 1, None] and words[0] == b"a"
    assert compat.to_text(words, inplace=True) is words and words[0] == "a"
    assert compat.to_bytes({"a"}) == {b"a"} and compat.to_text({b"k": b"v"}) == {"k": "v"}
    assert [compat.round(x) for x in (2.5, -2.5, 0.4, 0)] == [3.0, -3.0, 0.0, 0.0]
    assert compat.round(0.125, 2) == 0.13 and compat.floor_division(7, 2) == 3
    assert compat.get_exception_message(ValueError("no")) == "no"


def test_a_distributed_file_system_is_imported_and_says_what_there_is_when_it_is_used() -> None:
    from paddle.fluid.contrib.utils.hdfs_utils import HDFSClient

    client = HDFSClient("hadoop", {})
    with pytest.raises(
        NotImplementedError, match=r"HDFSClient\.upload is not in .*: files are on this machine"
    ):
        client.upload("/model", "model")
