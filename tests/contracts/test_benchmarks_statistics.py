"""What benchmarks make of their samples: ratios, medians, spreads, and whether a goal is met."""

import pytest

from benchmarks import machine
from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.contest import QUICK, Outcome, Report, disagreements
from benchmarks.document import document
from benchmarks.goal import Goal, judge
from benchmarks.samples import Sample, ratios, spread, take_turns
from benchmarks.table import duration, header, outcome_table
from benchmarks.transport import BENCHMARK as TRANSPORT


def samples(*walls: float, cpu: float = 1.0) -> list[Sample]:
    return [Sample(wall, cpu) for wall in walls]


def test_contenders_take_turns_round_by_round():
    order = []

    def measure(name):
        def one() -> Sample:
            order.append(name)
            return Sample(len(order), 0.5)

        return one

    taken = take_turns({"a": measure("a"), "b": measure("b")}, rounds=3)
    assert order == ["a", "b"] * 3
    assert [sample.wall_s for sample in taken["b"]] == [2, 4, 6]


def test_a_ratio_is_taken_within_a_round_so_a_disturbed_round_cancels_out():
    ours, peer = samples(1.1, 11.0, 1.1), samples(1.0, 10.0, 1.0)
    assert ratios(ours, peer, "wall") == pytest.approx([1.1, 1.1, 1.1])
    assert ratios(ours, peer, "speed") == pytest.approx([1 / 1.1] * 3)


def test_the_spread_holds_the_middle_half():
    assert spread([9, 1, 5, 3, 7]) == (3, 7)
    assert spread([4]) == (4, 4)


@pytest.mark.parametrize(
    ("bound", "met"),
    [
        ({"at_most": 1.2}, True),
        ({"at_most": 1.1}, False),
        ({"at_least": 1.1}, True),
        ({"at_least": 1.2}, False),
    ],
)
def test_a_goal_is_judged_by_the_median_over_rounds(bound, met):
    goal = Goal(contender="ours", against="peer", quantity="wall", **bound)
    verdict = judge(goal, {"ours": samples(1.15, 9.0, 0.2), "peer": samples(1.0, 1.0, 1.0)})
    assert (verdict.ratio, verdict.met) == (pytest.approx(1.15), met)


@pytest.mark.parametrize(
    ("bound", "ours", "met", "known", "stale", "shown"),
    [
        ("at_most", 1.1, True, 1, 0, "MISSED     ours: {}: 1.10; as is known: it checks every byte"),
        ("at_most", 1.3, False, 0, 0, "MISSED     ours: {}: 1.30; not even the 1.20 that was reached"),
        ("at_most", 0.9, True, 0, 1, "met        ours: {}: 0.90; no longer lacking: it checks every byte"),
        ("at_least", 1.1, True, 1, 0, "MISSED     ours: {}: 0.91; as is known: it checks every byte"),
        ("at_least", 1.3, False, 0, 0, "MISSED     ours: {}: 0.77; not even the 0.80 that was reached"),
        ("at_least", 0.9, True, 0, 1, "met        ours: {}: 1.11; no longer lacking: it checks every byte"),
    ],
)
def test_an_aim_that_is_known_to_be_missed_fails_a_run_beyond_what_was_reached_and_is_told_when_met(
    bound, ours, met, known, stale, shown
):
    quantity, reached, words = {
        "at_most": ("wall", 1.2, "wall time <= 1.00 x peer"),
        "at_least": ("speed", 0.8, "speed >= 1.00 x peer"),
    }[bound]
    aim = {"quantity": quantity, bound: 1.0, "reached": reached, "lacks": "it checks every byte"}
    goal = Goal(contender="ours", against="peer", **aim)
    case = Case(name="a case", unit="step", volume=1, volume_unit="step", settings={}, goals=(goal,))
    contenders = (Contender("peer", "a.module"), Contender("ours", "a.module"))
    benchmark = Benchmark(name="one", title="one", contenders=contenders, cases=(case,))
    taken = {"peer": samples(1.0), "ours": samples(ours)}
    counts = dict.fromkeys(taken, 1)
    report = Report(benchmark, QUICK, outcomes=[Outcome(case, taken, counts, [judge(goal, taken)])])
    assert (report.met, report.known_misses, report.stale_excuses) == (met, known, stale)
    text = outcome_table(report, report.outcomes[0])
    assert shown.format(words) in text.splitlines()[-1]
    (told,) = document(report, {}, {})["cases"][0]["goals"]
    assert (told["met"], told["fails"], told["reached"]) == (bool(stale), not met, reached)


@pytest.mark.parametrize(
    "words",
    [{"lacks": "why"}, {"reached": 1.2}, {"lacks": "why", "reached": 0.9}, {"lacks": "why", "reached": 1.0}],
)
def test_an_excuse_is_not_without_what_was_reached_which_is_less_than_the_aim(words):
    with pytest.raises(ValueError, match="go together"):
        Goal(contender="ours", against="peer", quantity="cpu", at_most=1.0, **words)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ({"at_most": 4.0}, "0.86 that this kind"),
        ({"at_most": 1.3, "lacks": "Python", "reached": 4.5}, "0.86 that this kind"),
        ({"at_least": 0.1, "quantity": "speed"}, "0.60 that this kind"),
        ({"at_least": 1.8, "quantity": "speed", "lacks": "Python", "reached": 0.1}, "0.60 that this kind"),
    ],
)
def test_where_the_processor_is_known_a_loss_fails_a_run_that_bounds_with_room_for_all_let_pass(words, shown):
    measured = 0.72
    goal = Goal(
        **{"contender": "ours", "against": "peer", "quantity": "wall", "measured": {"one": measured}} | words
    )
    worse = -1 if goal.at_most is None else 1

    def verdict(where, loss):
        """The time of ours; of a speed the inverse is judged."""
        time = measured**worse * loss
        return judge(goal.on(where), {"ours": samples(time), "peer": samples(1.0)})

    assert goal.on("another") == goal
    assert not verdict("one", 1.1).fails and not verdict("another", 1.3).fails
    lost = verdict("one", 1.3)
    assert lost.fails and lost.is_lost
    case = Case(name="a case", unit="step", volume=1, volume_unit="step", settings={}, goals=(goal,))
    benchmark = Benchmark("one", "one", (Contender("peer", "a"), Contender("ours", "a")), (case,))
    assert [each.goals for each in benchmark.on("one").cases] == [(goal.on("one"),)]
    report = Report(benchmark, QUICK, outcomes=[Outcome(case, {}, {}, [lost])])
    assert not report.met
    last = outcome_table(report, report.outcomes[0]).splitlines()[-1]
    assert last.startswith("  LOST ") and shown in last
    assert document(report, {}, {})["cases"][0]["goals"][0]["floor"] == lost.goal.floor


def test_a_transport_that_loses_three_tenths_on_a_known_processor_is_found_out_and_noise_is_not():
    goals = [goal.on("Zen 5") for case in TRANSPORT.cases for goal in case.goals]
    held = [(goal, goal.measured["Zen 5"]) for goal in goals if goal.measured]
    assert {goal for goal in goals if goal.lacks} <= {goal for goal, _ in held}
    for goal, ratio in held:
        worse, noise = (ratio * 1.3, ratio * 1.1) if goal.at_most is not None else (ratio / 1.3, ratio / 1.1)
        assert not goal.is_held(worse) and goal.is_held(noise), goal


@pytest.mark.parametrize(
    ("told", "load", "kind", "held"),
    [
        ({"vendor_id": "AuthenticAMD", "cpu family": "26", "model name": "AMD EPYC"}, 2.9, "Zen 5", "Zen 5"),
        ({"vendor_id": "AuthenticAMD", "cpu family": "26", "model name": "AMD EPYC"}, 9.0, "Zen 5", ""),
        ({"vendor_id": "GenuineIntel", "cpu family": "6", "model name": "Intel Xeon"}, 0.0, "", ""),
        ({}, 0.0, "", ""),
    ],
)
def test_a_run_is_held_to_a_kind_of_processor_that_others_leave_alone(monkeypatch, told, load, kind, held):
    monkeypatch.setattr(machine, "_told", lambda: told)
    facts = machine.machine_facts() | {"load": load, "cores": 2}
    assert (facts["generation"], machine.held_to(facts)) == (kind, held)
    assert (f" ({kind}), 2 cores" in header("a run", facts, {})) == bool(kind)


def test_a_goal_against_a_contender_that_is_not_there_is_not_judged():
    goal = Goal(contender="ours", against="peer", quantity="cpu", at_most=1.0)
    verdict = judge(goal, {"ours": samples(1.0)})
    assert (verdict.ratio, verdict.met) == (None, None)


def test_a_goal_against_nobody_bounds_the_quantity_itself():
    goal = Goal(contender="ours", quantity="wall", at_most=2.0)
    assert str(goal) == "ours: wall time <= 2.00"
    for wall_s, met in (((1.9, 9.0, 1.8), True), ((2.1, 2.2, 0.1), False)):
        verdict = judge(goal, {"ours": samples(*wall_s)})
        assert (verdict.ratio, verdict.met) == (sorted(wall_s)[1], met)
    assert judge(goal, {"peer": samples(1.0)}).met is None


def test_a_goal_reads_as_a_sentence_and_has_exactly_one_bound():
    goal = Goal(contender="ours", against="peer", quantity="cpu", at_most=1.1)
    assert str(goal) == "ours: CPU time <= 1.10 x peer"
    with pytest.raises(ValueError, match="one bound"):
        Goal(contender="ours", against="peer", quantity="cpu")


def test_contenders_must_agree_with_the_first_one():
    assert disagreements({"first": 2.0, "near": 2.001, "far": 2.1}, 1e-3).keys() == {"far"}
    assert disagreements({}, 1e-3) == {}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2.00 s"), (0.02812, "28.1 ms"), (0.9999e-3, "1.00 ms"), (1.234e-4, "123 us"), (5e-9, "5.00 ns")],
)
def test_durations_have_three_digits_and_a_unit(seconds, text):
    assert duration(seconds) == text


def test_the_table_shows_figures_ratios_goals_and_failures():
    goal = Goal(contender="ours", against="peer", quantity="speed", at_least=0.85)
    case = Case(name="64 MiB", unit="exchange", volume=0.5, volume_unit="GB", settings={}, goals=(goal,))
    benchmark = Benchmark("b", "title", (Contender("peer", "p"), Contender("ours", "o")), (case,))
    taken = {"peer": samples(0.1, 0.1, cpu=0.2), "ours": samples(0.2, 0.2, cpu=0.3)}
    outcome = Outcome(case, taken, verdicts=[judge(goal, taken)], failures=["third: broke"])
    table = outcome_table(Report(benchmark, QUICK), outcome)
    ours = next(line.split() for line in table.splitlines() if line.startswith("  ours"))
    assert " ".join(ours) == "ours 200 ms 300 ms 2.50 600 ms 2.00 (2.00-2.00) 1.50 (1.50-1.50)"
    assert "MISSED     ours: speed >= 0.85 x peer: 0.50" in table
    assert "FAILED     third: broke" in table
