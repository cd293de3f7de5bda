"""The flags that ``paddle.init`` settled, for the rest of this face.

It must never know what a flag does. Guarantee: there is one set of flags in a process; a program that never
calls ``init`` gets those of its environment.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from paddle import _complaint
from paddle._launch.environ import InitFlags, read_init, settle_threads
from paddle._launch.infolog import open_info_log

_TRUE = frozenset({"1", "t", "true", "y", "yes"})
_NO_GPU = "use_gpu is asked for, but this release trains on the CPU: going on without"

_settled: InitFlags | None = None


def settle(**kwargs: Any) -> InitFlags:
    """Settle the flags: arguments over ``PADDLE_INIT_*`` over defaults. Opens the trainer's log.

    Whatever of them cannot be is told in one paragraph, as are later complaints of the runtime.
    """
    _complaint.tell_uncaught()
    gpu = str(kwargs.get("use_gpu", os.environ.get("PADDLE_INIT_USE_GPU"))).lower() in _TRUE
    if gpu:
        kwargs["use_gpu"] = False
    global _settled
    _settled = read_init(kwargs, os.environ)
    settle_threads(os.environ, _settled.trainer_count)
    open_info_log("paddle_trainer", os.environ)
    logger = logging.getLogger("paddle.trainer")
    for notice in (*([_NO_GPU] if gpu else []), *_settled.notices):
        print(f"paddle.init: {notice}", file=sys.stderr)
        logger.warning("%s", notice)
    return _settled


def current() -> InitFlags:
    """The flags of this process."""
    return _settled or settle()
