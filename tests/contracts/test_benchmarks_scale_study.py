"""What ``scale`` measures, runs and shows: fits, scripts, real runs, verdicts, tables and the picture."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import __main__ as runner
from benchmarks.environment import contender_environment
from benchmarks.scale import plot, prediction, report, study
from benchmarks.scale.costs import Costs, ShardCosts, TrainerCosts
from benchmarks.scale.fit import Observation, fit
from benchmarks.scale.measuring import Measured
from benchmarks.scale.modes import MODES
from benchmarks.scale.noise import Noise
from benchmarks.scale.orders import Field, FieldError, Order, Real, job_of
from benchmarks.scale.prediction import Grid, predict
from benchmarks.scale.result import Result, Shares
from benchmarks.scale.script import script_of
from benchmarks.scale.validation import Case, judge
from benchmarks.scale.workload import Workload, slices
from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._pserver.protocol.placement import dense_layout

LOAD = Workload(name="tiny", floats=100, rows=10, height=50, compute_s=1e-3)

# Fits.


@given(st.lists(st.floats(1e-9, 1e-3), min_size=3, max_size=3))
def test_costs_that_are_exact_are_found(costs):
    sizes = [(1, 10, 0), (1, 1000, 0), (2, 10, 50), (4, 300, 2)]
    units = [dict(zip(("message", "byte", "row"), one, strict=True)) for one in sizes]
    observed = [
        Observation(counts, sum(c * n for c, n in zip(costs, counts.values(), strict=True)))
        for counts in units
    ]
    found = fit(observed)
    assert list(found.seconds) == ["byte", "message", "row"]
    assert found.worst < 1e-6


def test_nothing_costs_less_than_nothing_and_the_error_is_told():
    observed = [Observation({"a": n, "b": 1.0}, seconds) for n, seconds in ((1, 3.0), (2, 2.0), (3, 1.0))]
    found = fit(observed)
    assert found.seconds["a"] == 0.0
    assert found.seconds["b"] > 0
    assert found.worst > 0.3


# What is simulated.


def test_a_script_is_what_the_real_trainers_part_asks():
    alone, meets = ((), ()), ((), ("push", "changes"))
    geo = [(batch.before, batch.after) for batch in script_of(ModeSpec(name="geo", k_steps=3), 4, 6)]
    assert geo == [alone, alone, meets] * 2
    elastic = script_of(ModeSpec(name="elastic_average", k_steps=2, is_async=True), 4, 2)
    assert elastic[1].after == ("pull", "changes", "push", "changes")
    half = script_of(ModeSpec(name="half_async", max_merge_var_num=2), 4, 4)
    assert [(batch.before, batch.after, batch.merged) for batch in half[:2]] == [
        (("prefetch",), (), 1),
        (("prefetch",), ("push",), 2),
    ]
    assert [batch.after for batch in script_of(ModeSpec(), 4, 2)] == [("push",)] * 2


def test_noise_has_mean_one_and_a_seed_has_its_times():
    noise = Noise(trainer_sigma=0.0, batch_sigma=0.5)
    times = noise.times(2.0, trainer=3, batches=20_000)
    assert np.mean(times) == pytest.approx(2.0, rel=0.02)
    assert np.std(np.log(times)) == pytest.approx(0.5, rel=0.03)
    assert noise.times(2.0, 3, 5) == times[:5] != noise.times(2.0, 4, 5)


def test_rows_of_several_batches_are_fewer_than_all_of_them_as_drawn():
    load = replace(LOAD, rows=300, height=1000)
    chance = np.random.default_rng(1)
    drawn = [np.concatenate([chance.choice(1000, 300, replace=False) for _ in range(4)]) for _ in range(50)]
    assert load.touched(4) == pytest.approx(np.mean([len(np.unique(ids)) for ids in drawn]), rel=0.01)
    assert load.touched(1) == pytest.approx(300)


@pytest.mark.parametrize(("floats", "shards"), [(100, 1), (50_000, 4), (3_000_000, 7)])
def test_slices_are_those_of_placement(floats, shards):
    parameters = [ParameterSpec(name="w", shape=(floats,))]
    cut = [len(dense_layout(parameters, index, shards).slices) for index in range(shards)]
    assert slices(floats, shards) == pytest.approx(np.mean(cut), abs=1)


# Real runs.


def test_a_real_run_trains_its_batches_and_leaves_no_process():
    with Field(contender_environment(os.environ)) as field:
        order = Order(workload=LOAD, trainers=2, batches=6)
        real = field.run(order)
        assert 6 <= real.batches <= 12
        assert real.elapsed_s > 5 * LOAD.compute_s
        assert real.trainer_cpu_s > 0 < real.shard_cpu_s
        probed = field.probe(replace(order, trainers=1), ["pull", "prefetch", "push", "train"], 0.01)
        assert all(len(one.trainer_s) >= 16 and one.shards_s > 0 for one in probed.values())
        counted = {"do": "count", "mode": {"name": "geo"}, "trainers": 3, "floats": 8, "rows": 4}
        told = field.ask({**counted, "height": 64, "rounds": 2})
        assert told["push_s"] > 0 < told["tell_s"]
        assert 4 <= told["told"] <= 8
        with pytest.raises(FieldError, match="KeyError"):
            field.ask({"do": "run"})
        assert field.run(order).batches >= 6  # and goes on


# What is shown.


def case(ratio: float = 1.0, cpu_ratio: float = 1.0, others: float = 0.0) -> Case:
    shares = Shares(computing=0.4, shard=0.5, shard_card=0.1, trainer_card=0.1, stragglers=0.2)
    order = Order(workload=LOAD, trainers=2)
    return Case(
        "sync", order, Result(100, 1.0, shares, 6e-4, 4e-4), Real(100, ratio, 6e-4, 4e-4 / cpu_ratio, others)
    )


@pytest.mark.parametrize(
    ("ratio", "others", "met"),
    [(1.2, 0.0, True), (0.81, 0.0, True), (1.3, 0.0, False), (0.7, 0.0, False), (1.3, 0.5, None)],
)
def test_a_goal_is_judged_by_the_median_case_either_way_and_not_where_others_kept_the_machine_busy(
    ratio, others, met
):
    cases = [case(ratio, others=others), case(ratio, others=others), case(9.0, others=others)]
    steps, cpu = judge(cases)
    assert (steps.met, cpu.met) == (met, True)
    assert steps.error == pytest.approx(max(ratio, 1 / ratio) - 1)


def test_processor_time_is_judged_too():
    real = replace(case().real, trainer_cpu_s=2e-4, shard_cpu_s=2e-4)
    steps, cpu = judge([replace(case(), real=real)])
    assert (steps.met, cpu.met, cpu.error) == (True, False, pytest.approx(1.5))


def test_how_far_off_each_workload_is_alone_is_told_too():
    idle = [replace(case(1.02), order=Order(workload=replace(LOAD, name=name), trainers=2)) for name in "aab"]
    steps, cpu = judge([*idle, case(1.2), case(1.5)])
    assert steps.of == pytest.approx({"a": 0.02, "b": 0.02, LOAD.name: 0.35})
    assert set(cpu.of.values()) == {0.0}
    assert f"(a: 2%, b: 2%, {LOAD.name}: 35%)" in report.validation_table([case()], [steps])


def test_the_bottleneck_is_what_takes_most_of_the_time():
    assert case().predicted.shares.bottleneck == "shard CPU"
    assert replace(case().predicted.shares, stragglers=0.6).bottleneck == "stragglers"


@pytest.fixture
def points():
    grids = [Grid(trainers=(1, 8), shards=(1, 4), batches=4)]
    return predict(Costs(), LOAD, {"sync": MODES["sync"], "GEO, 10": MODES["GEO, 10"]}, grids)


def test_a_job_has_the_costs_of_the_pause_most_like_its_computation():
    short, long = Costs(trainer=TrainerCosts(step_s=1.0)), Costs(trainer=TrainerCosts(step_s=2.0))
    measured = Measured({0.002: short, 0.01: long}, {})
    chosen = {ms: measured.of(replace(LOAD, compute_s=ms / 1e3)) for ms in (1, 2, 4, 5, 8.5, 100)}
    assert chosen == {1: short, 2: short, 4: short, 5: long, 8.5: long, 100: long}


def test_a_trainer_that_shares_a_core_is_away_for_longer_and_a_shard_is_not():
    short, long = (Costs(trainer=TrainerCosts(step_s=s), shard=ShardCosts(message_s=s)) for s in (1.0, 2.0))
    measured = Measured({0.002: short, 0.01: long}, {})
    assert [measured.of(LOAD, crowd).trainer.step_s for crowd in (0.5, 1, 2, 5, 16)] == [1, 1, 1, 2, 2]
    assert measured.of(LOAD, 16).shard == short.shard


def test_tables_and_the_document_have_every_point(points):
    assert len(points) == 8
    assert all(0 < point.efficiency < 1.5 for point in points)
    tables = list(report.prediction_tables(points, 512))
    assert [table.split(",")[0] for table in tables] == ["sync", "GEO"]
    assert "held up by" in tables[0]
    cases = [case(1.2)]
    text = report.validation_table(cases, judge(cases))
    assert "tiny, sync" in text
    assert "met" in text
    told = report.document({}, Measured({0.01: Costs()}, {}), cases, judge(cases), points)
    assert json.loads(json.dumps(told))["met"] is True
    assert {point["trainers"] for point in told["prediction"]} == {1, 8}


def test_the_picture_has_a_panel_for_each_mode(points, tmp_path):
    pytest.importorskip("matplotlib")
    plot.draw(points, 25.0, tmp_path / "scale.png", prediction.assumptions(LOAD))
    assert (tmp_path / "scale.png").read_bytes().startswith(b"\x89PNG")


def test_a_study_runs_from_the_command_line_and_its_goals_decide_its_exit_status(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(study, "study", lambda *given: asked.append(given) or len(asked) == 1)
    assert runner.main(["scale", "--quick", "--json", str(tmp_path / "a")]) == 0
    assert runner.main(["scale"]) == 1
    assert [given[0] for given in asked] == [study.QUICK, study.FULL]
    assert [given[2] for given in asked] == [tmp_path / "a", None]


def test_only_a_study_has_a_plot(capsys):
    with pytest.raises(SystemExit) as exit_info:
        runner.main(["transport", "--plot", "x.png"])
    assert exit_info.value.code == 2
    assert "has no --plot" in capsys.readouterr().err


def test_validation_orders_what_it_simulates():
    order = Order(workload=LOAD, mode=MODES["SSP, 3"], trainers=4, dense=2, batches=9, noise=Noise(seed=8))
    job = job_of(order, 2)
    assert (job.trainers, job.dense, job.mode, job.batches) == (4, 2, order.mode, 9)
    assert (job.machines.shared_cores, job.noise) == (2, order.noise)
