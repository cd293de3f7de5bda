"""Who stays awake for what, on a clock that is played."""

from __future__ import annotations

from paddle._pserver.protocol.vigil import SHORT_S, Vigil


class Course:
    """What is waited for comes ``comes_after`` seconds after a wait began; each look takes ``LOOK_S``."""

    LOOK_S = SHORT_S / 8

    def __init__(self) -> None:
        self.now = 0.0
        self.comes_at = 0.0
        self.looks = 0
        self.vigil = Vigil(self.look, lambda: self.now)

    def look(self) -> bool:
        self.looks += 1
        self.now += self.LOOK_S
        return self.now >= self.comes_at

    def wait(self, comes_after: float) -> bool:
        """Wait as those do who have a vigil; whether they slept."""
        self.looks, self.comes_at = 0, self.now + comes_after
        found = self.vigil.begin()
        if not found:
            self.now = max(self.now, self.comes_at)
        self.vigil.end()
        return not found


SOON, LATE = SHORT_S / 2, SHORT_S * 20


def test_the_first_wait_is_slept_and_those_after_a_short_one_are_not() -> None:
    course = Course()
    assert [course.wait(SOON) for _ in range(4)] == [True, False, False, False]


def test_after_a_long_wait_nobody_stays_awake_until_one_was_short() -> None:
    course = Course()
    assert [course.wait(after) for after in (SOON, SOON, LATE)] == [True, False, True]
    for _ in range(3):
        assert course.wait(LATE)
        assert course.looks == 0
    assert [course.wait(after) for after in (SOON, SOON)] == [True, False]


def test_a_vigil_in_vain_ends_after_its_time() -> None:
    course = Course()
    course.wait(SOON)
    course.wait(LATE)
    assert course.looks == SHORT_S / course.LOOK_S
