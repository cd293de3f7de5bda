"""``paddle.Tensor``: the type of what is computed at once, of which nothing is here.

It must never compute. Guarantee: nothing of a static program is an instance of it, as in 2.6, so programs
that ask whether something is one, and annotations that name it, are right; who makes one is told.
"""

from typing import Any, NoReturn

from paddle._absent import NotInThisRelease

__all__ = ["Tensor"]


class Tensor:
    """A value that is computed at once. A static program's are ``paddle.static.Variable``."""

    __module__ = "paddle"

    def __new__(cls, *given: Any, **named: Any) -> NoReturn:
        raise NotInThisRelease(
            "paddle.Tensor(...) computes at once (dygraph), and programs are static here: call "
            "paddle.enable_static(), and give arrays of numpy to Executor.run(feed=...)."
        )
