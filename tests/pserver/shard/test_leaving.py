"""A trainer whose goodbye was heard, and the answer to it not: it comes back to say it again."""

from __future__ import annotations

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark

from ..talk import ONE, Talk, update
from .test_arrival import joined, welcome

SELDOM = SnapshotOptions(folder="a folder", period=1000)
MODES = [ModeSpec(), ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)]


def leaving(mode: ModeSpec, *, ends_pass: bool) -> Talk:
    """Of two trainers that have pushed once one says goodbye, and its connection breaks before the answer."""
    talk = joined(2, spec=update(mode=mode), snapshots=SELDOM, barrier_timeout_s=10)
    talk.push(0, ONE)
    talk.push(1, ONE)
    if ends_pass:
        talk.end_pass(0)
        talk.end_pass(1)
    talk.disk_is_slow = True
    assert talk.goodbye(0) == []
    talk.lose(0)
    talk.disk_is_slow = False
    talk.write()
    return talk


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.name))
@pytest.mark.parametrize("ends_pass", [False, True])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_it_hears_that_the_shard_has_all_it_told(mode: ModeSpec, ends_pass: bool, is_restarted: bool) -> None:
    talk = leaving(mode, ends_pass=ends_pass)
    if is_restarted:
        talk = talk.restart()
        welcome(talk, 1, "process 1", Mark(1, int(ends_pass)))
    told = Mark(1, int(ends_pass))
    settled = welcome(talk, 0, "process 0", told).settled
    assert (settled.pushes, settled.passes) == (told.pushes, told.passes)
    assert isinstance(talk.goodbye(0)[0], Answer)
    assert isinstance(talk.push(1, ONE)[0], Answer)  # which waits for nobody
    talk.end_pass(1)
    talk.goodbye(1)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0


def test_nobody_waits_for_it_where_its_connection_breaks_again() -> None:
    talk = leaving(ModeSpec(), ends_pass=True)
    welcome(talk, 0, "process 0", Mark(1, 1))
    assert isinstance(talk.push(1, ONE)[0], Answer)
    assert isinstance(talk.end_pass(1)[0], Answer)  # and a pass begins while it is here
    talk.lose(0)
    assert isinstance(talk.push(1, ONE)[0], Answer)
    talk.goodbye(1)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0
