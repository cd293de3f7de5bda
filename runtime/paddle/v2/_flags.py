"""The flags that ``paddle.init`` settled, for the rest of this face.

It must never know what a flag does. Guarantee: there is one set of flags in a process; a program that never
calls ``init`` gets those of its environment.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from paddle import _blas, _complaint
from paddle._launch import environ
from paddle._launch.environ import InitFlags, read_init
from paddle._launch.infolog import log_folder, open_info_log
from paddle._profiling import profile_to
from paddle.v2 import _program_log

_settled: InitFlags | None = None


def settle(**kwargs: Any) -> InitFlags:
    """Settle the flags: arguments over ``PADDLE_INIT_*`` over defaults. Opens the trainer's log.

    Whatever of them cannot be is told in one paragraph, as are later complaints of the runtime.
    """
    _complaint.tell_uncaught()
    _program_log.show()
    global _settled
    _settled = read_init(kwargs, os.environ)
    notices = list(_settled.notices)
    if pinned := _blas.settle(os.environ):
        notices.append(f"{pinned}, or call paddle.init before numpy is imported")
    log = open_info_log("paddle_trainer", os.environ)
    if _settled.values["profile"]:
        profile_to(log_folder(os.environ))
    for notice in notices:
        print(f"paddle.init: {notice}", file=sys.stderr)
        if log is not None and log.is_file:  # else it would be on the screen twice
            logging.getLogger("paddle.trainer").warning("%s", notice)
    return _settled


def current() -> InitFlags:
    """The flags of this process."""
    return _settled or settle()


def is_again() -> bool:
    """Whether this process takes the place of one that was killed (PADDLE_RESTARTS)."""
    return environ.restarts(os.environ) > 0
