"""Data generators write lines that datasets read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paddle._data.data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator


class Words(MultiSlotDataGenerator):
    def generate_sample(self, line: str | None) -> Callable[[], Iterator[Any]]:
        def samples() -> Iterator[Any]:
            if line is None:
                yield from ([("words", [n]), ("label", [0])] for n in range(3))
            elif line.strip():
                ids = [int(word) for word in line.split()]
                yield zip(("words", "score", "label"), (ids, [0.5], [len(ids) % 2]), strict=True)
            yield None

        return samples


class InPairs(Words):
    def generate_batch(self, samples: list[Any]) -> Callable[[], Iterator[Any]]:
        return lambda: iter(samples[::-1])


class Texts(MultiSlotStringDataGenerator):
    def generate_sample(self, line: str | None) -> Iterator[Any]:
        assert line is not None
        return iter([[("words", line.split()), ("label", ["1"])]])


def said(monkeypatch: pytest.MonkeyPatch, text: str, run: Callable[[], None]) -> str:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    monkeypatch.setattr("sys.stdout", out)
    run()
    monkeypatch.undo()
    return out.getvalue()


def test_a_line_comes_of_each_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "2 1926 8 1 0.5 1 0\n3 7 8 9 1 0.5 1 1\n"
    assert said(monkeypatch, "1926 8\n\n7 8 9\n", Words().run_from_stdin) == words
    assert said(monkeypatch, "", Words().run_from_memory) == "1 0 1 0\n1 1 1 0\n1 2 1 0\n"
    assert said(monkeypatch, "a b\n", Texts().run_from_stdin) == "2 a b 1 1\n"


def test_a_batch_is_so_many_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = InPairs()
    pairs.set_batch(2)
    lines = said(monkeypatch, "", pairs.run_from_memory).splitlines()
    assert [line.split()[1] for line in lines] == ["1", "0", "2"]


def test_a_text_in_place_of_a_list_is_its_characters() -> None:
    assert Texts()._gen_str([("words", ["17", "4"]), ("click", "1")]) == "2 17 4 1 1\n"
    with pytest.raises(ValueError, match="slot words cannot be empty"):
        Texts()._gen_str([("words", "")])
    with pytest.raises(ValueError, match="slot click must be a list, not a str"):
        Words()._gen_str([("click", "1")])


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        ("words", "must be a list or a tuple"),
        ([("words", [])], "slot words cannot be empty"),
        ([(1, [1])], "must be a str"),
        ([("words", 1)], "must be a list, not a int"),
        ([("words", ["1"])], "must be int or float"),
        ([("words", [1]), ("label", [1])], "the first sample had 1 slots, and this one has 2"),
        ([("label", [1])], "had slot words where this one has label"),
    ],
)
def test_what_is_wrong_with_a_sample_is_said(sample: Any, why: str) -> None:
    generator = Words()
    generator._gen_str([("words", [1])])
    with pytest.raises(ValueError, match=why):
        generator._gen_str(sample)
