"""Who stays awake for what, on a clock that is played."""

from __future__ import annotations

from paddle._pserver.protocol.vigil import MANY, ROUND_S, Vigil


class Course:
    """Whoever waits, works and waits again. Each look takes ``LOOK_S``."""

    LOOK_S = ROUND_S / 16

    def __init__(self) -> None:
        self.now = self.comes_at = 0.0
        self.looks = 0
        self.vigil = Vigil(self.look, lambda: self.now)

    def look(self) -> bool:
        self.looks += 1
        self.now += self.LOOK_S
        return self.now >= self.comes_at

    def wait(self, comes_after: float, work: float = 0.0) -> bool:
        """Work, and wait as those do who have a vigil; whether they slept."""
        self.now += work
        self.looks, self.comes_at = 0, self.now + comes_after
        found = self.vigil.keep()
        if not found:
            self.now = max(self.now, self.comes_at)
        return not found


SOON, LATE = ROUND_S / 4, ROUND_S * 20


def test_many_waits_are_slept_and_those_soon_after_are_not() -> None:
    course = Course()
    assert [course.wait(SOON, work=SOON) for _ in range(MANY + 4)] == [True] * MANY + [False] * 4


def test_after_a_long_wait_nobody_stays_awake_until_many_were_short() -> None:
    course = Course()
    assert [course.wait(after) for after in [SOON] * MANY + [SOON, LATE]] == [True] * MANY + [False, True]
    for _ in range(3):
        assert course.wait(LATE)
        assert course.looks == 0
    assert [course.wait(SOON) for _ in range(MANY + 2)] == [True] * MANY + [False] * 2


def test_who_works_between_its_waits_sleeps_however_short_they_are() -> None:
    course = Course()
    assert all(course.wait(SOON, work=ROUND_S) for _ in range(2 * MANY))
    assert course.looks == 0


def test_who_hears_a_message_in_pieces_now_and_then_sleeps() -> None:
    course = Course()
    for _ in range(4):
        assert all(course.wait(after) for after in [SOON] * (MANY - 1) + [LATE])
        assert course.looks == 0


def test_a_vigil_in_vain_ends_after_its_time() -> None:
    course = Course()
    for _ in range(MANY):
        course.wait(SOON)
    course.wait(LATE)
    assert course.looks == ROUND_S / course.LOOK_S
