"""What the journals of one trainer may keep together, and which of them has its shard cut."""

from __future__ import annotations

from paddle._pserver.protocol.messages import PullRows, Push
from paddle._pserver.trainer.account import Account
from paddle._pserver.trainer.journal import kept_bytes

UNIT = 1 << 12
"""Bytes; besides a body, little is kept of a question then."""


class Trainer:
    """Lines that carry ``sizes`` with every push, and shards that write at once when they are asked."""

    def __init__(self, limit: int, *sizes: int) -> None:
        self.account, self.step = Account(limit * UNIT), 0
        self.bodies = [[memoryview(bytearray(size * UNIT))] for size in sizes]
        self.journals = [self.account.open() for _ in sizes]
        self.cuts: list[list[int]] = [[] for _ in sizes]
        self.most = 0

    def push(self) -> None:
        self.step += 1
        for index, (journal, body) in enumerate(zip(self.journals, self.bodies, strict=True)):
            size = kept_bytes(body)
            if not self.account.has_room(journal, size):
                journal.prune(journal.told)
                self.cuts[index].append(self.step)
            assert self.account.has_room(journal, size)
            journal.add(Push(self.step, 0, 1), body)
            self.most = max(self.most, self.account.used_bytes)


def test_what_one_line_does_not_need_another_has() -> None:
    """Equal parts of 300 each held three pushes of the first line."""
    trainer = Trainer(900, 100, 1, 1)
    for _ in range(7):
        trainer.push()
    assert trainer.cuts == [[], [], []]
    trainer.push()
    assert trainer.cuts == [[8], [], []]


def test_lines_that_carry_little_ask_seldom() -> None:
    trainer = Trainer(1000, 90, 3, 70, 1)
    for _ in range(500):
        trainer.push()
    heavy, light, nearly, lightest = map(len, trainer.cuts)
    assert 0 < lightest < light < heavy / 4
    assert nearly <= heavy < 100, "in equal parts of 250 it would be 250"
    assert trainer.most <= 1000 * UNIT


def test_lines_that_carry_the_same_have_their_shards_cut_one_after_another() -> None:
    """All at once every shard would be cut every 8 to 10 steps."""
    trainer = Trainer(1000, *[25] * 4)
    for _ in range(400):
        trainer.push()
    steps = [step for cuts in trainer.cuts for step in cuts]
    assert len(set(steps)) == len(steps)
    assert all(400 / len(cuts) > 12 for cuts in trainer.cuts)
    assert trainer.most <= 1000 * UNIT


def test_each_journal_takes_one_push_however_large_it_is_and_however_many_reads_it_has() -> None:
    trainer = Trainer(10, 500, 300)
    trainer.journals[0].add(PullRows((1,)), [memoryview(bytearray(64))])
    for _ in range(5):
        trainer.push()
    assert trainer.cuts == [[2, 3, 4, 5], [2, 3, 4, 5]]
    assert trainer.account.used_bytes == sum(map(kept_bytes, trainer.bodies))


def test_one_line_has_all_of_it() -> None:
    trainer = Trainer(105, 10)
    for _ in range(11):
        trainer.push()
    assert trainer.cuts == [[11]]
