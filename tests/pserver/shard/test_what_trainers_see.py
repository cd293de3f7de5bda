"""What each mode says of trainers that are late, lost, repeat a push or are replaced (modes/mode.py)."""

from __future__ import annotations

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark, Push, Welcome

from ..talk import ONE, Fails, Talk, update

TIMEOUT_S = 10.0
IN_STEP = [ModeSpec(), ModeSpec(name="average"), ModeSpec(name="elastic_average")]
ASYNC = ModeSpec(name="async", discard_ratio=1.5)
SSP = ModeSpec(name="ssp", staleness=2)
NEVER_TOO_OLD = [
    ModeSpec(name="half_async"),
    ModeSpec(name="geo"),
    ModeSpec(name="average", is_async=True),
    ModeSpec(name="elastic_average", is_async=True),
]
OUT_OF_STEP = [ASYNC, SSP, *NEVER_TOO_OLD]
AHEAD = [*((mode, 0) for mode in IN_STEP), (SSP, 2), *((mode, 8) for mode in (ASYNC, *NEVER_TOO_OLD))]
"""How many pushes of trainer 0 are answered, of eight, while trainer 1 does nothing."""


def name_of(value: object) -> str:
    return f"{value.name}{'_async' * value.is_async}" if isinstance(value, ModeSpec) else str(value)


def begun(mode: ModeSpec) -> Talk:
    """Two trainers, each a process that may come back, and a snapshot of the beginning alone."""
    options = SnapshotOptions(folder="here", period=1000, interval_s=1e6)
    talk = Talk(2, update(mode=mode), barrier_timeout_s=TIMEOUT_S, snapshots=options)
    for trainer in range(2):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    return talk


def come(talk: Talk, process: str, answered: Mark) -> object:
    """Trainer 1 speaks on a new connection."""
    talk.lose(1)
    talk.connect(1)
    (said,) = talk.hello(1, process, answered)
    return said


def pushes_answered(talk: Talk) -> int:
    count = 0
    while count < 8 and talk.push(0, ONE):
        count += 1
    return count


@pytest.mark.parametrize(("mode", "answered"), AHEAD, ids=name_of)
@pytest.mark.parametrize("is_lost", [False, True])
def test_who_is_late_or_lost_lets_others_go_so_far_and_is_named_in_the_end(
    mode: ModeSpec, answered: int, is_lost: bool
) -> None:
    talk = begun(mode)
    if is_lost:
        talk.lose(1)
    assert pushes_answered(talk) == answered
    if answered == 8:
        talk.wait(2 * TIMEOUT_S)
        assert talk.shard.broken is None  # nobody waits
        assert talk.end_pass(0) == []
    talk.wait(TIMEOUT_S - 1)
    assert is_lost or talk.shard.broken is None
    talk.wait(1)
    assert talk.shard.broken is not None and talk.shard.broken.culprits == (1,)
    assert talk.told(0) == Fails("TrainerLost", "trainer 1")


@pytest.mark.parametrize("mode", OUT_OF_STEP, ids=name_of)
def test_late_gradients_are_discarded_in_asynchronous_mode_alone(mode: ModeSpec) -> None:
    talk = begun(mode)
    count = min(pushes_answered(talk), 4)
    answer, again = (*talk.push(1, ONE), *talk.push(1, ONE))
    assert isinstance(answer, Answer) and answer.dropped is (mode is ASYNC)
    assert isinstance(again, Answer) and not again.dropped  # it was brought up to date
    assert count >= 2


@pytest.mark.parametrize("mode", [*IN_STEP, *OUT_OF_STEP], ids=name_of)
def test_a_push_that_is_repeated_counts_once_and_is_answered_again(mode: ModeSpec) -> None:
    talk = begun(mode)
    talk.push(0, ONE)
    talk.push(1, ONE)
    version, values = talk.shard.clocks.version, talk.w
    assert isinstance(come(talk, "process 1", Mark()), Welcome)
    talk.declare(1)
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(version)]
    assert (talk.shard.clocks.version, talk.w) == (version, values)
    assert talk.bodies[1][0].tolist() == values


def test_what_became_of_a_discarded_push_is_told_again() -> None:
    talk = begun(ASYNC)
    pushes_answered(talk)
    talk.push(1, ONE)
    come(talk, "process 1", Mark())
    talk.declare(1)
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(8, dropped=True)]


@pytest.mark.parametrize("mode", OUT_OF_STEP, ids=name_of)
def test_out_of_step_a_new_process_takes_the_place_in_a_pass_and_the_old_one_is_refused(
    mode: ModeSpec,
) -> None:
    talk = begun(mode)
    talk.push(0, ONE)
    talk.push(1, ONE)
    assert isinstance(come(talk, "a new process", Mark()), Welcome)
    talk.declare(1)
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(3)]
    assert come(talk, "process 1", Mark(1)) == Fails("Stale", "newer process")


@pytest.mark.parametrize("mode", IN_STEP, ids=name_of)
def test_in_step_a_new_process_takes_the_place_between_two_passes_where_it_lacks_nothing(
    mode: ModeSpec,
) -> None:
    talk = begun(mode)
    talk.push(0, ONE)
    talk.push(1, ONE)
    assert come(talk, "a new process", Mark()) == Fails("DuplicateTrainer", "trainer_id=1")
    assert isinstance(come(talk, "process 1", Mark(1)), Welcome)
    talk.declare(1)
    talk.end_pass(0)
    talk.end_pass(1)
    said = come(talk, "a new process", Mark())
    if mode.is_local:
        assert said == Fails("DuplicateTrainer", "trainer_id=1")
    else:
        assert isinstance(said, Welcome)
        assert come(talk, "process 1", Mark(1, 1)) == Fails("Stale", "newer process")


@pytest.mark.parametrize("mode", [*IN_STEP, *OUT_OF_STEP], ids=name_of)
def test_what_a_restored_shard_lacks_is_told_again_in_step_and_else_lost(mode: ModeSpec) -> None:
    before = begun(mode)
    before.push(0, ONE)
    before.push(1, ONE)
    talk = before.restart()
    for trainer in range(2):
        talk.hello(trainer, f"process {trainer}", Mark(1))
        talk.declare(trainer)
    lost = [note for note in talk.notes if "are lost" in note]
    if mode.is_in_step:
        for trainer in range(2):
            talk.ask(trainer, Push(1, 0, 1), ONE)
        assert (talk.w, lost) == (before.w, [])
    else:
        assert talk.w == [0, 0, 0, 0] and len(lost) == 2
        assert talk.ask(1, Push(2, 0, 1), ONE) == [Answer(1)]
