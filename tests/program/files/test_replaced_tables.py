"""A table's folder that several workers of one machine write at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from paddle._program.files import tables
from paddle._program.files.exchange import exchange
from tests.waiting import PATIENCE_S


def test_each_replaces_the_others_and_the_last_one_stays_whole(tmp_path: Path) -> None:
    own, together = tmp_path / "emb_txt", threading.Barrier(4)

    def put(worker: int) -> None:
        for turn in range(100):
            aside = tmp_path / f"{worker}-{turn}"
            made = aside / own.name
            made.mkdir(parents=True)
            (made / "emb.block0.txt").write_text(str(worker))
            together.wait(PATIENCE_S)
            tables.replace(made, own, aside)

    with ThreadPoolExecutor(4) as pool:
        for told in [pool.submit(put, worker) for worker in range(4)]:
            told.result(2 * PATIENCE_S)
    assert [each.name for each in own.iterdir()] == ["emb.block0.txt"]
    assert (own / "emb.block0.txt").read_text() in "0123"


@pytest.mark.parametrize("moment", [1, 2])
def test_who_is_killed_at_any_moment_has_left_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    own, made = tmp_path / "emb_txt", tmp_path / "aside" / "emb_txt"
    for folder, text in ((own, "before"), (made, "after")):
        folder.mkdir(parents=True)
        (folder / "emb.block0.txt").write_text(text)
    moments = iter(range(moment - 1, -1, -1))

    def die_then(move: Callable[..., Any]) -> Callable[..., Any]:
        def moves(*given: Any) -> Any:
            if next(moments) == 0:
                raise SystemExit("killed")
            return move(*given)

        return moves

    monkeypatch.setattr(Path, "rename", die_then(Path.rename))
    monkeypatch.setattr(tables, "exchange", die_then(tables.exchange))
    with pytest.raises(SystemExit):
        tables.replace(made, own, tmp_path / "aside")
    assert (own / "emb.block0.txt").read_text() == "before"


def test_where_names_cannot_be_exchanged_it_is_replaced_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "exchange", lambda made, own: False)
    test_each_replaces_the_others_and_the_last_one_stays_whole(tmp_path)


def test_names_that_are_not_there_are_not_exchanged(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "other")
    assert [each.name for each in tmp_path.iterdir()] == ["one"]
