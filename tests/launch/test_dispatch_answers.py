"""What a node says to a dispatch: heard while it works, told where it fails, and else never believed."""

import threading
from pathlib import Path

import pytest

from paddle._launch.agent import answers, staging
from paddle._launch.agent.answers import SIGN
from paddle._launch.errors import DeliveryError, NodeUnfit
from tests.launch.receiving import ThreadLine, dispatch_of, tree
from tests.waiting import PATIENCE_S


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "package" / "lib").mkdir(parents=True)
    (tmp_path / "package" / "train.py").write_text("train")
    return tmp_path / "package"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "ended before the workspace was in place"),
        (b"bash: python3: command not found\n", "said: bash: python3: command not found"),
        (b"welcome\n[1]\n", r"said: \[1\]"),
        (b'{"need": [[0, 0]]}\n', r"said: \{.need"),
        (SIGN + b"[1]\n", "not understood"),
        (SIGN + b'{"need": 5}\n', "not understood"),
        (SIGN + b'{"need": [[9999, 0]]}\n', "does not have"),
        (SIGN + b'{"need": [[0, 0]]}\n', "does not have"),
        (SIGN + b'{"need": [[1, -1]]}\n', "not understood"),
        (SIGN + b'{"need": [["1", 0]]}\n', "not understood"),
        (SIGN + b'{"need": [[' + b"9" * 5000 + b", 0]]}\n", "not understood"),
        (SIGN + b'{"done": 1}\n', "not understood"),
        (SIGN + b'{"done": NaN}\n', "not understood"),
        (SIGN + b'{"failed": "no\\u001b[2J room", "refused": false}\n', "no"),
        (b"x" * (1 << 27), "says more of itself"),
        (b"welcome\n" * (1 << 18), "says more of itself"),
        (SIGN + b'{"need": [' + b"[0,0]," * (1 << 20) + b"[0,0]]}\n", "says more of itself"),
    ],
)
def test_a_node_that_says_anything_else_is_an_error_of_that_node(package, tmp_path, said, words) -> None:
    class Odd:
        def __init__(self) -> None:
            self.parts = [said[at : at + 1000000] for at in range(0, len(said), 1000000)]

        def send(self, data: memoryview) -> None:
            pass

        def receive(self, most: int) -> bytes:
            return self.parts.pop(0) if self.parts else b""

        def close(self) -> None:
            pass

    with pytest.raises((DeliveryError, NodeUnfit), match=words) as caught:
        dispatch_of(package, tmp_path / "root").deliver(Odd(), 0, tmp_path / "root" / "JOB1")
    assert "\x1b" not in str(caught.value)


def test_while_a_node_works_it_is_heard(package, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(answers, "BEAT_S", 0.01)
    heard = threading.Event()
    sync = staging.sync

    def slow(tree: Path) -> None:
        assert heard.wait(PATIENCE_S)
        sync(tree)

    class Listening(ThreadLine):
        def receive(self, most: int) -> bytes:
            said = super().receive(most)
            if b'{"beat": 1}' in said:
                heard.set()
            return said

    monkeypatch.setattr(staging, "sync", slow)
    root = tmp_path / "root"
    dispatch_of(package, root).deliver(line := Listening(), 0, root / "JOB1")
    line.close()
    assert tree(root / "JOB1") == tree(package)


def test_a_shells_greeting_is_passed_over(package, tmp_path) -> None:
    class Greeted(ThreadLine):
        greeting = b"Welcome to node 1!\nLast login: today\n"

        def receive(self, most: int) -> bytes:
            said, self.greeting = self.greeting, b""
            return said or super().receive(most)

    root = tmp_path / "root"
    dispatch_of(package, root).deliver(line := Greeted(), 0, root / "JOB1")
    line.close()
    assert tree(root / "JOB1") == tree(package)


def test_answers_that_come_together_are_two_where_a_node_lacks_nothing(package, tmp_path) -> None:
    class Late(ThreadLine):
        def receive(self, most: int) -> bytes:
            return b"".join(iter(super().receive, b""))  # all at once, and no more

    root = tmp_path / "root"
    dispatch_of(package, root).deliver(line := ThreadLine(), 0, root / "JOB1")
    line.close()
    sent = dispatch_of(package, root).deliver(line := Late(), 0, root / "JOB2")
    line.close()
    assert sent == 0
    assert tree(root / "JOB2") == tree(package)
