"""The simulation behind ``scale`` against closed forms, and what must hold of every simulated job."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scale.agenda import Agenda
from benchmarks.scale.cores import OwnCore, SharedCores
from benchmarks.scale.costs import Costs, ModeCosts, ShardCosts, TrainerCosts
from benchmarks.scale.job import Job, Machines, simulate, simulated_servers, weights
from benchmarks.scale.links import WIRE, Card, Network
from benchmarks.scale.modes import MODES
from benchmarks.scale.noise import Noise
from benchmarks.scale.server import Question, Server
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.framing import SMALL_BYTES

STEADY = Noise(trainer_sigma=0.0, batch_sigma=0.0)
DENSE = Workload(name="dense", floats=1000, compute_s=0.01)
BOTH = Workload(name="both", floats=50_000, rows=500, height=20_000, compute_s=0.002)
OURS = TrainerCosts(step_s=1e-4, message_s=2e-4, sent_byte_s=1e-8, received_byte_s=2e-8, push_s=5e-5)
THEIRS = ShardCosts(
    message_s=3e-4, received_byte_s=3e-8, sent_byte_s=4e-8, copied_byte_s=5e-8, rule_float_s=6e-8
)
COSTS = Costs(trainer=OURS, shard=THEIRS)
REAL = Costs(
    trainer=TrainerCosts(
        **{"step_s": 2e-5, "message_s": 2e-5, "sent_byte_s": 2e-10, "received_byte_s": 2e-10},
        **{"table_message_s": 3e-5, "pulled_row_s": 1e-7, "pushed_row_s": 5e-8, "sift_s": 1e-8},
    ),
    shard=ShardCosts(
        **{"message_s": 3e-5, "received_byte_s": 2e-10, "sent_byte_s": 2e-10, "copied_byte_s": 3e-10},
        **{"rule_float_s": 3e-10, "fold_float_s": 4e-10, "table_message_s": 5e-5, "pulled_row_s": 5e-8},
        **{"received_row_s": 3e-8, "applied_row_s": 2e-8, "folded_row_s": 6e-8},
        peer_s={mode.name: 3e-8 for mode in MODES.values()},
    ),
    modes={"geo": ModeCosts(batch_s=1e-4, meeting_s=3e-4)},
)


def job(**changes) -> Job:
    given = {"workload": DENSE, "mode": ModeSpec(), "trainers": 1, "noise": STEADY, **changes}
    return Job(**given)


# Closed forms.


def test_one_trainer_and_one_shard_take_the_sum_of_all_costs():
    size = 4 * DENSE.floats
    ours = OURS.step_s + 2 * OURS.message_s + OURS.push_s + size * (OURS.sent_byte_s + OURS.received_byte_s)
    theirs = 2 * THEIRS.message_s + size * (THEIRS.received_byte_s + THEIRS.sent_byte_s)
    theirs += DENSE.floats * THEIRS.rule_float_s
    result = simulate(job(batches=5), COSTS)
    assert result.elapsed_s == pytest.approx(5 * (DENSE.compute_s + ours + theirs))
    assert result.cpu_s == pytest.approx(ours + theirs)


@pytest.mark.parametrize(("floats", "larges"), [(SMALL_BYTES // 4 - 1, 0), (SMALL_BYTES // 4, 2)])
def test_a_message_that_does_not_go_by_one_buffer_costs_more_in_each_direction(floats, larges):
    load = Workload(name="dense", floats=floats, compute_s=0.01)
    costs = Costs(trainer=TrainerCosts(large_s=1e-4, pull_s=1.0), shard=ShardCosts(large_s=3e-4))
    result = simulate(job(workload=load, batches=5), costs)
    assert result.trainer_cpu_s == pytest.approx(larges * 1e-4)
    assert result.shards_cpu_s == pytest.approx(larges * 3e-4)


def test_rows_that_make_a_large_message_come_in_one_and_go_in_one():
    load = Workload(name="rows", floats=0, rows=SMALL_BYTES // 64, compute_s=0.01)
    costs = Costs(trainer=TrainerCosts(table_large_s=1e-4), shard=ShardCosts(table_large_s=3e-4))
    result = simulate(job(workload=load, batches=5), costs)  # ids are few, so is what a push is answered
    assert (result.trainer_cpu_s, result.shards_cpu_s) == (pytest.approx(2e-4), pytest.approx(6e-4))


def test_a_batch_that_is_under_way_at_the_end_is_not_counted():
    load = Workload(name="dense", floats=4, compute_s=0.01)
    given = job(workload=load, trainers=7, mode=ModeSpec(name="async"), batches=3)
    noisy = replace(given, noise=Noise(trainer_sigma=0.5), machines=Machines(shared_cores=2))
    result = simulate(noisy, Costs(trainer=TrainerCosts(step_s=1e-4)))
    assert result.trainer_cpu_s == pytest.approx(1e-4)


@pytest.mark.parametrize("trainers", [2, 5, 16])
@pytest.mark.parametrize(("receive_s", "answer_s"), [(3e-3, 1e-3), (1e-3, 3e-3)])
def test_equal_trainers_in_step_queue_for_the_shard_once_on_the_way_in_or_out(trainers, receive_s, answer_s):
    load = Workload(name="one float", floats=1, compute_s=0.05)
    costs = Costs(shard=ShardCosts(push_s=receive_s, sent_byte_s=answer_s / 4, rule_float_s=2e-3))
    queue = max(answer_s + trainers * receive_s, trainers * answer_s + receive_s)
    batches = 40
    first = 0.05 + trainers * receive_s + 2e-3 + answer_s  # to the first one's first answer
    result = simulate(job(workload=load, trainers=trainers, batches=batches), costs)
    assert result.elapsed_s == pytest.approx(first + (batches - 1) * (0.05 + 2e-3 + queue))


def test_a_shard_that_is_asked_at_random_makes_wait_as_a_queue_of_theory_does():
    """M/D/1: the mean wait is load x service / 2 (1 - load)."""
    service_s, load, count = 1e-3, 0.5, 10_000
    agenda, arrivals, answers = Agenda(), {}, {}

    def speak(question: Question) -> None:
        answers[question.asker] = agenda.now

    costs = ShardCosts(message_s=service_s)
    server = Server(agenda, OwnCore(agenda), Card(), costs, ModeSpec(name="async"), count, speak)
    gaps = np.random.default_rng(5).exponential(service_s / load, count)
    for number, time in enumerate(np.cumsum(gaps).tolist()):
        arrivals[number] = time
        question = Question(number, number, False, seconds=service_s, answer_s=0.0)
        agenda.at(time, server.receive, question, service_s, True)
    agenda.run()
    waits = [answers[number] - arrivals[number] - service_s for number in range(count)]
    assert np.mean(waits) == pytest.approx(load * service_s / (2 * (1 - load)), rel=0.06)


def test_a_shard_that_sleeps_has_to_wake_and_one_that_is_busy_has_not():
    agenda, told = Agenda(), []
    given = OwnCore(agenda), Card(), ShardCosts(), ModeSpec(name="async"), 3, told.append
    server = Server(agenda, *given, wake_s=0.5)
    for trainer, time in enumerate((0.0, 1.0, 9.0)):
        question = Question(trainer, trainer, False, seconds=1.0, answer_s=0.25)
        agenda.at(time, server.receive, question, 1.0, True)
    agenda.run()
    assert len(told) == 3
    assert server.busy_s == pytest.approx(3 * 1.25 + 2 * 0.5)


def test_waking_takes_less_after_less_sleep_than_it_was_measured_after():
    agenda = Agenda()
    given = OwnCore(agenda), Card(), ShardCosts(pause_s=2.0), ModeSpec(name="async"), 3, lambda question: None
    server = Server(agenda, *given, wake_s=0.5)
    for trainer, time in enumerate((0.0, 2.25, 9.0)):  # it has slept for 0, 1 and 5.25 seconds
        question = Question(trainer, trainer, False, seconds=1.0, answer_s=0.25)
        agenda.at(time, server.receive, question, 1.0, True)
    agenda.run()
    assert server.busy_s == pytest.approx(3 * 1.25 + 0.25 + 0.5)


def test_geo_meets_the_others_every_k_batches_and_only_then():
    costs = replace(COSTS, modes={"geo": ModeCosts(batch_s=1e-3, meeting_s=7e-3)})
    size = 4 * DENSE.floats
    exchange = OURS.step_s + 2 * OURS.message_s + OURS.push_s
    exchange += size * (OURS.sent_byte_s + OURS.received_byte_s) + 2 * THEIRS.message_s
    exchange += size * (THEIRS.received_byte_s + THEIRS.copied_byte_s) + DENSE.floats * THEIRS.rule_float_s
    for k in (1, 4, 10):
        mode = ModeSpec(name="geo", k_steps=k)
        result = simulate(job(mode=mode, batches=20), costs)
        assert result.elapsed_s == pytest.approx(20 * 0.011 + 20 // k * (7e-3 + exchange))


def test_only_rows_that_others_changed_are_news_to_who_hears_of_its_own():
    load = Workload(name="rows", floats=0, rows=8, height=1 << 40, compute_s=0.01)
    for name, trainers, news in (("average", 1, 0), ("average", 3, 16), ("geo", 1, 0), ("geo", 3, 16)):
        mode = ModeSpec(name=name, k_steps=1)
        costs = Costs(modes={name: ModeCosts(told_row_s=1e-4, batch_table_s=1e-3, meeting_table_s=2e-3)})
        result = simulate(job(workload=load, mode=mode, trainers=trainers, batches=40), costs)
        assert result.trainer_cpu_s == pytest.approx(3e-3 + news * 1e-4, rel=0.02)


def test_work_on_shared_cores_is_shared_in_equal_parts():
    agenda, ended = Agenda(), []
    cores = SharedCores(agenda, 2)
    for seconds in (1.0, 1.0, 1.0, 2.0):
        cores.work(seconds, lambda: ended.append(agenda.now))
    agenda.run()
    assert ended == pytest.approx([2.0, 2.0, 2.0, 3.0])  # 4 on 2 cores; then the last has a core alone
    assert cores.busy_s == pytest.approx(5.0)


def test_a_card_moves_one_thing_after_the_other_and_receives_while_it_is_sent():
    agenda, ended = Agenda(), []
    network, source, target = Network(agenda, 0.5), Card(0.01), Card(0.01)
    for size in (100, 200):
        network.carry(source, target, size, size, lambda: ended.append(agenda.now))
    network.carry(Card(), target, 100, 100, lambda: ended.append(agenda.now))  # comes first, and fast
    agenda.run()
    assert ended == pytest.approx([1.5, 2.5, 4.5])
    assert (source.sending_s, target.receiving_s) == (3.0, 4.0)


def test_a_slow_link_is_what_a_job_waits_for():
    load = Workload(name="big", floats=1_000_000, compute_s=1e-3)
    machines = Machines(gbit=1.0)
    result = simulate(job(workload=load, machines=machines, batches=10), Costs())
    sent_s = WIRE * (4e6 + 64) * 8e-9
    assert result.elapsed_s == pytest.approx(10 * (1e-3 + 2 * sent_s), rel=0.01)
    assert result.shares.bottleneck == "shard link"


# What holds of every job.

MODE = st.sampled_from([*MODES.values(), ModeSpec(name="elastic_average", k_steps=2, is_async=True)])


@settings(max_examples=40, deadline=None)
@given(mode=MODE, trainers=st.integers(1, 7), dense=st.integers(1, 6), sparse=st.integers(1, 6))
def test_every_push_is_applied_once_or_discarded_and_every_batch_is_counted_once(
    mode, trainers, dense, sparse
):
    run = job(workload=BOTH, mode=mode, trainers=trainers, dense=dense, sparse=sparse, noise=Noise())
    result, servers = simulated_servers(replace(run, batches=12), REAL)
    period = mode.k_steps if mode.is_local else mode.max_merge_var_num
    assert len(servers) == min(dense, 4) + min(sparse, 4)
    assert 12 <= result.batches <= 12 * trainers
    for server in servers:
        clocks = server.clocks
        assert server.ledger.pushes + sum(clocks.dropped) == sum(clocks.decided)
        assert all(0 <= push - done <= 1 for push, done in zip(clocks.pushes, clocks.decided, strict=True))
        assert max(clocks.pushes) == 12 // period
        if mode.is_in_step:
            assert set(server.ledger.steps) == {trainers}


@settings(max_examples=15, deadline=None)
@given(mode=MODE, trainers=st.integers(1, 5), shared=st.sampled_from([0.0, 2.0]))
def test_one_seed_gives_one_result(mode, trainers, shared):
    machines = Machines(shared_cores=shared, gbit=0.0 if shared else 10.0, latency_s=1e-5)
    run = job(workload=BOTH, mode=mode, trainers=trainers, noise=Noise(), machines=machines)
    assert simulate(run, REAL) == simulate(run, REAL)


COST = st.floats(0, 1e-3)


@settings(max_examples=60, deadline=None)
@given(
    cheap=st.tuples(COST, COST, COST, COST),
    more=st.tuples(COST, COST, COST, COST),
    trainers=st.integers(1, 6),
    gbit=st.sampled_from([1.0, 10.0]),
)
def test_what_costs_more_or_goes_slower_is_never_faster(cheap, more, trainers, gbit):
    def run(costs, gbit):
        ours, theirs = TrainerCosts(step_s=costs[0], message_s=costs[1]), ShardCosts(message_s=costs[2])
        theirs = replace(theirs, push_s=costs[3])
        done = simulate(
            job(trainers=trainers, machines=Machines(gbit=gbit), batches=6),
            Costs(trainer=ours, shard=theirs),
        )
        return done.steps_per_s

    dear = tuple(a + b for a, b in zip(cheap, more, strict=True))
    assert run(dear, gbit) <= run(cheap, gbit) * (1 + 1e-9)
    assert run(cheap, gbit) <= run(cheap, 2 * gbit) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["sync", "async", "GEO, 10"])
def test_a_few_shards_stand_for_many(name):
    run = job(
        workload=BOTH,
        mode=MODES[name],
        trainers=6,
        dense=12,
        sparse=12,
        noise=Noise(),
        machines=Machines(gbit=10.0, latency_s=3e-5),
        batches=40,
    )
    few, all_of_them = simulate(run, REAL), simulate(replace(run, simulated=12), REAL)
    assert few.steps_per_s == pytest.approx(all_of_them.steps_per_s, rel=0.04)


@given(shards=st.integers(1, 200), simulated=st.integers(1, 10))
def test_the_shards_that_are_simulated_stand_for_all_in_parts_that_differ_by_one(shards, simulated):
    parts = weights(shards, simulated)
    assert sum(parts) == shards
    assert len(parts) == min(shards, simulated)
    assert max(parts) - min(parts) <= 1


# Slow trainers.


def speeds(noise: Noise, trainers: int = 8) -> dict[str, float]:
    names = {"sync": "sync", "async": "async", "ssp": "SSP, 3"}
    return {
        short: simulate(
            job(workload=BOTH, mode=MODES[name], trainers=trainers, noise=noise, batches=80), REAL
        ).steps_per_s
        for short, name in names.items()
    }


def test_stragglers_hold_up_those_in_step_most_and_those_that_wait_for_nobody_not_at_all():
    noise = Noise(trainer_sigma=0.0, batch_sigma=0.6)
    by_mode = speeds(noise)
    assert by_mode["sync"] * 1.2 < by_mode["ssp"]
    assert by_mode["ssp"] <= by_mode["async"] * 1.01
    result = simulate(job(workload=BOTH, trainers=8, noise=noise, batches=80), REAL)
    calm = simulate(job(workload=BOTH, trainers=8, batches=80), REAL)
    assert result.shares.stragglers > 0.2 > 0.1 > calm.shares.stragglers


def test_bounded_staleness_does_not_help_against_a_trainer_that_is_slow_for_good():
    noise = Noise(trainer_sigma=0.5, batch_sigma=0.0)
    by_mode = speeds(noise)
    assert by_mode["ssp"] == pytest.approx(by_mode["sync"], rel=0.1)
    assert by_mode["async"] > 1.3 * by_mode["ssp"]


def test_gradients_that_are_too_old_are_discarded_as_the_real_mode_says():
    slow = Noise(trainer_sigma=1.0, batch_sigma=0.5, seed=3)
    run = job(workload=BOTH, mode=ModeSpec(name="async"), trainers=12, noise=slow, batches=60)
    assert 0 < simulate(run, REAL).dropped < 0.5
    assert simulate(replace(run, mode=MODES["SSP, 3"]), REAL).dropped == 0
