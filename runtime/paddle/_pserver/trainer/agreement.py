"""Agreement: whether the shards that a trainer meets belong together, and how they come to.

It must never know what a trainer tells them afterwards. Guarantee: where trainers are in step, training
begins only with shards that have applied the same steps. Of those that are not ready that is for the trainer
to see who begins the model: the others are welcomed one after another, and it may be begun in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.errors import ExchangeError
from paddle._pserver.errors import RESHARD
from paddle._pserver.protocol.messages import GoBack
from paddle._pserver.trainer.line import Line


def check_begun(lines: Sequence[Line]) -> None:
    """Raise where a part of the model would begin anew while the rest goes on."""
    new = [line.what for line in lines if not line.welcome.ready]
    old = [line.what for line in lines if line.welcome.version]
    if new and old:
        raise ExchangeError(
            f"some pservers go on from an earlier job's snapshots ({', '.join(old)}), and some have none "
            f"of it ({', '.join(new)}). See what became of the latter's --snapshot_dir; or, {RESHARD}; "
            "or, to begin anew, empty the folders of all."
        )


def agreed(lines: Sequence[Line], *, in_step: bool, begins: bool) -> Sequence[int]:
    """The versions that ``lines`` are at: in step the same, as far as they can go back to one. ``begins``:
    this trainer gives the initial values; for another there are none while some are awaited."""
    if begins:
        check_begun(lines)
    elif not all(line.welcome.ready for line in lines):
        return ()
    versions: Sequence[int] = [line.welcome.version for line in lines]
    if in_step and len(set(versions)) > 1:
        check_place(lines, versions := go_back(lines, versions))
    return versions


def go_back(lines: Sequence[Line], versions: Sequence[int]) -> Sequence[int]:
    """Have shards that go on from snapshots of different ``versions`` go back to the newest that all of them
    have, if there is one; what they are at then."""
    common = set.intersection(*({line.welcome.version, *line.welcome.older} for line in lines))
    if not common:
        return versions
    goal = max(common)
    ahead = [line for line, version in zip(lines, versions, strict=True) if version != goal]
    for line in ahead:
        line.send(GoBack(goal), asking=f"to go back to version {goal}, the newest all shards have")
    for line in ahead:
        line.answer()
    return [goal for _ in versions]


def check_place(lines: Sequence[Line], versions: Sequence[int]) -> None:
    """Raise where shards that have trained did not come as far as each other when another process had this
    trainer's place: only that one could tell the rest."""
    if len(set(versions)) > 1 and any(line.welcome.next_pass for line in lines):
        raise ExchangeError(
            f"pservers are at different steps ({_listed(lines, versions)}): some were started again from a "
            "snapshot, and what came after it only the process could tell them that had this trainer's place "
            "before. The job cannot go on from here; it can from the newest snapshots that all of them have: "
            "start pservers and trainers again (of a launched job: python paddle.py --resume=JOB)."
        )


def check_versions(lines: Sequence[Line], versions: Sequence[int], step: int) -> None:
    """Raise where shards have not applied the same steps, after ``step`` of this trainer."""
    if len(set(versions)) > 1:
        raise ExchangeError(
            f"after step {step} of this trainer the pservers have applied different numbers of steps "
            f"({_listed(lines, versions)}): their parameters do not belong together. Start all pservers and "
            "trainers again: they serve one job."
        )


def _listed(lines: Sequence[Line], versions: Sequence[int]) -> str:
    return ", ".join(f"{line.what}: {version}" for line, version in zip(lines, versions, strict=True))
