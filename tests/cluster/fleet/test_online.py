"""Online learning by a user's own program: day by day, with an entry policy, saved, swept, begun again."""

import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.cluster, pytest.mark.thorough]

PROGRAM = Path(__file__).parents[1] / "programs" / "online.py"


def days(folder: Path, count: int) -> list[Counter[int]]:
    """Files of samples, and how often each word is there: some are of one day alone, some are there once."""
    chance, seen = random.Random(3), []
    for day in range(count):
        words: Counter[int] = Counter()
        for part in range(4):
            lines = []
            for number in range(100):
                own = [chance.randrange(30) for _ in range(3)]
                own.append(100 * day + 100 + (number % 20 if number % 3 else 20 + 4 * number + part) % 99)
                words.update(own)
                lines.append(f"4 {' '.join(map(str, own))} 1 {sum(own) % 2}\n")
            (folder / f"day-{day}.{part}").write_text("".join(lines))
        seen.append(words)
    return seen


def launched(folder: Path, servers: int, *words: str) -> str:
    launch = [sys.executable, "-m", "paddle.distributed.launch", f"--server_num={servers}", "--worker_num=2"]
    done = subprocess.run(
        [*launch, "train.py", *words],
        cwd=folder,
        env=environment(PADDLE_WITH_GLOO="1"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    logs = "".join(path.read_text() for path in (folder / "log").glob("*log.*"))
    assert done.returncode == 0, done.stderr + logs
    return logs


def rows(folder: Path) -> dict[int, str]:
    """The lines of a saved table, by word."""
    texts = [path.read_text() for path in (folder / "words_table_txt").glob("*.txt")]
    return {int(line.split("\t")[0]): line for line in "".join(texts).splitlines()}


@pytest.mark.parametrize("kind", ["count", "chance"])
def test_words_come_in_by_their_entry_leave_when_nobody_sees_them_and_are_there_again(
    tmp_path: Path, kind: str
) -> None:
    shutil.copy(PROGRAM, tmp_path / "train.py")
    seen = days(tmp_path, 3)
    said = launched(tmp_path, 1, kind, "", "0,1")
    first, second = rows(tmp_path / "saved-0"), rows(tmp_path / "saved-1")
    assert set(range(30)) <= first.keys() <= seen[0].keys()
    assert set(range(30)) <= second.keys() <= seen[0].keys() | seen[1].keys()
    if kind == "count":
        assert {word for word, times in seen[0].items() if times > 20} <= first.keys()
        assert not {word for word, times in seen[0].items() if times < 3} & first.keys()
    assert "Traceback" not in said and "loss: [" in said

    for servers in (2, 3):
        shutil.rmtree(tmp_path / "again", ignore_errors=True)
        launched(tmp_path, servers, kind, "saved-1", "")
        assert rows(tmp_path / "again") == second
        assert len(list((tmp_path / "again" / "words_table_txt").glob("*.txt"))) == servers

    launched(tmp_path, 2, kind, "saved-1", "2")
    third = rows(tmp_path / "saved-2")
    assert third.keys() & seen[2].keys() - second.keys()
    assert not third.keys() & (seen[0].keys() - seen[1].keys() - seen[2].keys())
