"""The runner on a tiny benchmark whose contenders are real processes; nothing depends on time."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from types import ModuleType

import pytest

from benchmarks import __main__ as runner
from benchmarks import worker
from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.contest import Pace, hold
from benchmarks.environment import contender_environment, pins
from benchmarks.goal import Goal
from benchmarks.json_process import command
from benchmarks.worker import Work, _timed

ADDER = """
import os
from benchmarks.worker import Work
def prepare(settings):
    print("a contender's own words do not disturb the runner")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1" and "OPENBLAS_CORETYPE" not in os.environ
    return Work(lambda count: sum(range(100 * count)), answer=settings["seed"])
"""
BROKEN = "def prepare(settings): raise OSError('no such luck')"
WRONG = ADDER.replace('answer=settings["seed"]', "answer=-1")
SPOILT = ADDER.replace('answer=settings["seed"]', "answer=4, check=lambda: 1 / 0")
FALLEN = "import os\ndef prepare(settings): os._exit(3)"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """``run(goals, sources)``: exit status, document and printed text of a benchmark of those contenders."""

    def go(*goals: Goal, needs=(), **sources: str):
        for name, source in {"first": ADDER, **sources}.items():
            (tmp_path / f"contender_{name}.py").write_text(source)
        contenders = [Contender("first", "contender_first")]
        contenders += [Contender(name, f"contender_{name}", needs, "pip install it") for name in sources]
        case = Case(
            name="sum",
            unit="sum",
            volume=100,
            volume_unit="number",
            settings={"seed": 4},
            goals=goals,
            tolerance=0.1,
        )
        fake = ModuleType("benchmarks.fake")
        fake.BENCHMARK = Benchmark("fake", "sums", tuple(contenders), (case,))
        monkeypatch.setitem(sys.modules, "benchmarks.fake", fake)
        status = runner.main(["fake", "--quick", "--json", str(tmp_path / "out.json")])
        return status, json.loads((tmp_path / "out.json").read_text()), capsys.readouterr().out

    monkeypatch.setattr(runner, "NAMES", ("fake",))
    monkeypatch.setattr(runner, "QUICK", Pace(rounds=3, sample_s=1e-4))
    for pin in pins(os.environ):
        monkeypatch.delenv(pin)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    return go


def test_a_contender_that_is_long_is_left_out_of_a_quick_run(monkeypatch):
    long = Contender("long", "no_such_module", ("no_such_module",), "pip install it", is_long=True)
    for is_quick, missing in ((True, {}), (False, {"long": "pip install it"})):
        report = hold(
            Benchmark("fake", "", (long,), ()), Pace(1, 1e-4, is_quick=is_quick), {}, lambda *_: None
        )
        assert report.missing == missing


def goal(contender: str, bound: float) -> Goal:
    return Goal(contender=contender, against="first", quantity="cpu", at_most=bound)


def test_goals_met_exit_0_and_every_sample_is_in_the_document(run):
    status, document, text = run(goal("second", 1e9), second=ADDER)
    assert status == 0
    assert document["met"] is True
    assert document["dropped"] == {"OPENBLAS_CORETYPE": "Prescott"}
    assert {"cpu", "cores", "load", "system", "python"} <= document["machine"].keys()
    (case,) = document["cases"]
    assert case["goals"][0]["met"] is True
    for contender in ("first", "second"):
        taken = case["contenders"][contender]["samples"]
        assert len(taken) == 3
        assert all(sample["wall_s"] > 0 and sample["cpu_s"] > 0 for sample in taken)
    assert "all goals met" in text
    assert "OPENBLAS_CORETYPE=Prescott" in text


def test_a_missed_goal_exits_1(run):
    status, document, text = run(goal("second", 0.0), second=ADDER)
    assert status == 1
    assert document["met"] is False
    assert "MISSED" in text


@pytest.mark.parametrize(
    ("aim", "reached", "status", "last"),
    [
        (0.0, 1e9, 0, "all goals met, but for 1 that are known to be missed"),
        (0.0, 1e-9, 1, "not all goals met"),
        (1e9, 1e10, 0, "all goals met; 1 met, no longer lacking"),
    ],
)
def test_a_known_miss_exits_1_below_what_was_reached_and_one_that_is_none_is_told(
    run, aim, reached, status, last
):
    known = replace(goal("second", aim), lacks="a thing", reached=reached)
    got, document, text = run(known, second=ADDER)
    assert (got, document["met"], text.splitlines()[-1]) == (status, not status, last)


def test_a_missing_peer_is_told_with_how_to_get_it_and_is_no_error(run):
    status, document, text = run(goal("peer", 0.0), needs=("a_module_nobody_has",), peer=ADDER)
    assert status == 0
    assert document["missing"] == {"peer": "pip install it"}
    assert document["cases"][0]["goals"][0]["met"] is None
    assert "missing; pip install it" in text


@pytest.mark.parametrize(
    ("source", "words"),
    [(BROKEN, "no such luck"), (FALLEN, "ended with no answer"), (WRONG, "not the same work")],
)
def test_a_contender_that_fails_or_does_other_work_exits_1_and_the_others_are_measured(run, source, words):
    status, document, text = run(second=source)
    assert status == 1
    assert document["cases"][0]["contenders"].keys() == {"first"}
    assert words in document["cases"][0]["failures"][0]
    assert words in text


def test_a_contender_that_left_something_else_in_the_end_exits_1(run):
    status, document, _ = run(second=SPOILT)
    assert status == 1
    assert document["cases"][0]["contenders"].keys() == {"first", "second"}
    assert "ZeroDivisionError" in document["cases"][0]["failures"][0]


def test_a_limit_without_an_answer_is_measured_and_the_others_are_held_to_each_other(run):
    limit = ADDER.replace('answer=settings["seed"]', "answer=None")
    status, document, text = run(limit=limit, second=WRONG)
    assert status == 1
    assert document["cases"][0]["contenders"].keys() == {"first", "limit"}
    assert "second: answers -1 where first answers 4" in text


def test_cases_are_chosen_by_a_part_of_their_names_long_ones_too(run, monkeypatch, capsys):
    run()
    (case,) = sys.modules["benchmarks.fake"].BENCHMARK.cases
    cases = tuple(replace(case, name=name, is_long=True) for name in ("sum of 4", "sum of 5", "other"))
    fake = replace(sys.modules["benchmarks.fake"].BENCHMARK, cases=cases)
    monkeypatch.setattr(sys.modules["benchmarks.fake"], "BENCHMARK", fake)
    assert runner.main(["fake", "--quick", "--case", "of 5", "--case", "other"]) == 0
    text = capsys.readouterr().out
    assert "sum of 5 (" in text and "other (" in text and "sum of 4" not in text
    for words in (["fake", "--case", "unheard"], ["scale", "--case", "sum"]):
        with pytest.raises(SystemExit) as exit_info:
            runner.main(words)
        assert exit_info.value.code == 2
        assert "case" in capsys.readouterr().err


def test_an_unknown_benchmark_exits_2_and_names_those_that_exist(capsys):
    with pytest.raises(SystemExit) as exit_info:
        runner.main(["unheard"])
    assert exit_info.value.code == 2
    assert "transport" in capsys.readouterr().err


def test_contenders_inherit_no_pin_and_run_one_thread():
    environ = {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "8", "HOME": "/h", "PYTHONPATH": "/x"}
    given = contender_environment(environ)
    assert pins(environ).keys() == {"OPENBLAS_CORETYPE", "OMP_NUM_THREADS"}
    assert given["OMP_NUM_THREADS"] == "1"
    assert "OPENBLAS_CORETYPE" not in given
    assert given["HOME"] == "/h"
    assert "PYTHONDONTWRITEBYTECODE" not in contender_environment({"PYTHONDONTWRITEBYTECODE": "1"})
    assert given["PYTHONPATH"].endswith(":/x")


@pytest.mark.parametrize("name", runner.NAMES)
def test_every_stated_goal_names_contenders_of_its_benchmark(name):
    benchmark = __import__(f"benchmarks.{name}", fromlist=["BENCHMARK"]).BENCHMARK
    names = [contender.name for contender in benchmark.contenders]
    goals = [stated for case in benchmark.cases for stated in case.goals]
    assert goals
    assert all(stated.contender in names and stated.against in (*names, "") for stated in goals)


THREADED = """
import os
from benchmarks.worker import Work
def prepare(settings):
    return Work(lambda count: sum(range(100 * count)), answer=float(os.environ["OPENBLAS_NUM_THREADS"]))
"""


def test_cases_that_show_memory_have_their_own_processes_threads_and_contenders(tmp_path, monkeypatch):
    (tmp_path / "contender_threaded.py").write_text(THREADED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    one, two = (
        Case(
            name=str(threads),
            unit="",
            volume=1,
            volume_unit="",
            settings={},
            threads=threads,
            contenders=names,
        )
        for threads, names in ((1, ("first",)), (2, ()))
    )
    contenders = Contender("first", "contender_threaded"), Contender("second", "contender_threaded")
    benchmark = Benchmark("fake", "", contenders, (one, two), shows_memory=True)
    report = hold(benchmark, Pace(1, 1e-4), contender_environment(os.environ), lambda *_: None)
    assert not any(outcome.failures for outcome in report.outcomes)
    assert [list(outcome.samples) for outcome in report.outcomes] == [["first"], ["first", "second"]]
    assert all(s.peak > 1 << 20 for outcome in report.outcomes for (s,) in outcome.samples.values())


def test_a_contender_of_another_python_is_looked_for_and_run_there(tmp_path):
    model = {"model": "regression", "batch": 2, "learning_rate": 1e-3, "steps_to_answer": 2}
    case = Case(name="c", unit="", volume=1, volume_unit="", settings=model)
    other = Contender("other", "benchmarks.models.by_hand", ("numpy",), "get it", interpreter="theirs")
    environment = contender_environment(os.environ) | {"PYTHONPATH": "/nowhere"}
    for pythons, missing, played in (
        ({}, {"other": "get it"}, []),
        ({"theirs": str(tmp_path / "none")}, {"other": "get it"}, []),
        ({"theirs": sys.executable}, {}, ["other"]),
    ):
        benchmark = Benchmark("fake", "", (other,), (case,))
        report = hold(benchmark, Pace(1, 1e-4), environment, lambda *_: None, pythons)
        assert (report.missing, list(report.outcomes[0].samples)) == (missing, played)


def test_a_module_is_run_by_another_python():
    words = command("json.tool", "--help", python=sys.executable)
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, "usage: " in done.stdout) == (0, True)


def test_what_is_done_in_blocks_is_counted_in_units():
    done = []
    work = Work(done.append, 0.0, beside=lambda: 12.0 * sum(done), block=4)
    answer = _timed(work, 9)
    assert done == [3]
    assert answer["cpu_s"] == pytest.approx(3.0, abs=0.5)


HELD_HERE = """
import os, sys
from benchmarks.contender_process import PEER_PYTHON
from benchmarks.worker import Work
def prepare(settings):
    peer = os.environ[PEER_PYTHON]
    return Work(lambda n: None, 7.0, block=2, facts={"peer": peer}, peak=lambda: 5)
"""


def test_a_contender_held_here_is_told_of_its_python(tmp_path, monkeypatch):
    (tmp_path / "contender_held.py").write_text(HELD_HERE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    case = Case(name="c", unit="", volume=1, volume_unit="", settings={})
    held = Contender("held", "contender_held", ("numpy",), "get it", interpreter="theirs", is_held_here=True)
    benchmark = Benchmark("fake", "", (held,), (case,))
    pythons = {"theirs": sys.executable}
    report = hold(benchmark, Pace(1, 1e-9), contender_environment(os.environ), lambda *_: None, pythons)
    (outcome,) = report.outcomes
    assert report.libraries["held"] == {"peer": sys.executable}
    assert outcome.counts["held"] % 2 == 0
    assert [sample.peak for sample in outcome.samples["held"]] == [5]


def test_what_is_made_ready_before_each_unit_is_not_timed() -> None:
    clock, told = [0.0], []

    def pass_s(seconds: float, what: object) -> None:
        clock[0] += seconds
        told.append(what)

    work = Work(partial(pass_s, 1.0), 0.0, ready=partial(pass_s, 100.0, "ready"), beside=lambda: clock[0])
    assert _timed(work, 3)["cpu_s"] == pytest.approx(1.0, abs=0.5)
    assert told == ["ready", 1] * 3


def test_a_turn_ends_when_no_thread_spins_on_which_is_not_timed(monkeypatch):
    """The machine may be so busy that neither has a core for a while."""
    spinning = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 200_000), daemon=True)
    rest, rests = worker._come_to_rest, []

    def come_to_rest() -> None:
        rests.append(time.perf_counter())
        rest()

    monkeypatch.setattr(worker, "_come_to_rest", come_to_rest)
    monkeypatch.setattr(worker, "_RESTLESS_S", 120.0)
    began = time.perf_counter()
    found = _timed(Work(lambda count: spinning.start(), answer=None), 1)
    worked = time.process_time()
    spinning.join()
    assert time.process_time() - worked < 0.02
    assert found["wall_s"] <= rests[0] - began


def test_a_process_that_never_rests_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(worker.time, "process_time", itertools.count().__next__)
    monkeypatch.setattr(worker, "_RESTLESS_S", 0.01)
    worker._come_to_rest()
