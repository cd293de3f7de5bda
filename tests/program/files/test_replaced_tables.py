"""A table's folder that several workers of one machine write at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paddle._program.files import tables


def test_each_replaces_the_others_and_the_last_one_stays_whole(tmp_path: Path) -> None:
    own, together = tmp_path / "emb_txt", threading.Barrier(4)

    def put(worker: int) -> None:
        for turn in range(100):
            aside = tmp_path / f"{worker}-{turn}"
            made = aside / own.name
            made.mkdir(parents=True)
            (made / "emb.block0.txt").write_text(str(worker))
            together.wait(30)
            tables.replace(made, own, aside)

    with ThreadPoolExecutor(4) as pool:
        for told in [pool.submit(put, worker) for worker in range(4)]:
            told.result(60)
    assert [each.name for each in own.iterdir()] == ["emb.block0.txt"]
    assert (own / "emb.block0.txt").read_text() in "0123"
