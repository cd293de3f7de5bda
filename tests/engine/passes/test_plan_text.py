"""The text of a plan: it says what the plan is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paddle._engine import passes
from paddle._engine.executor import Executor

from ..jobs import IDS, embedded, linear

POINTS = {"x": np.ones((4, 2), np.float32), "y": np.ones((4, 1), np.float32)}


def text_of(job, feed) -> str:
    return Executor(job.scope, job.exchange).plan_text(job.program, feed, [job.loss])


def test_it_says_what_was_fused() -> None:
    fused = text_of(embedded(), IDS).split("\n\n")[0]
    assert "lookups + concat: concat + concat_grad + 2 lookup_table + 2 lookup_table_grad + sum" in fused
    assert "-> lookup_beside + lookup_beside_grad" in fused
    assert "nothing" in text_of(linear(), POINTS).split("\n\n")[0]


def test_it_is_of_the_plan_that_there_is_also_when_passes_are_others_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = embedded(), embedded()
    with monkeypatch.context() as patch:
        patch.setattr(passes, "PASSES", {})
        other.run(IDS)
        plain = other.executor.plan_text(other.program, IDS, [other.loss])
    one.run(IDS)
    fused = one.executor.plan_text(one.program, IDS, [one.loss])
    assert "fused:\n  nothing\n" in plain and "lookup_beside" not in plain and "lookup_beside" in fused
    monkeypatch.setattr(passes, "PASSES", {"wrong": lambda *_: pytest.fail("asked again")})
    for job, text in ((one, fused), (other, plain)):
        assert job.executor.plan_text(job.program, IDS, [job.loss]) == text


def test_it_lists_the_operators_that_run_in_their_order_and_where_their_results_lie() -> None:
    job = embedded()
    lines = text_of(job, IDS).split("\n\n")[1].splitlines()
    types = [re.search(r"= (\w+)\(", line)[1] for line in lines if re.match(r" ?\d", line)]
    job.run(IDS)
    (known,) = job.executor._programs.values()
    (plan,) = known.plans
    ran = list(dict.fromkeys(id(operator) for _, operator in plan.steps))
    assert len(ran) == len(types) and types[0] == "lookup_beside" and types[-1] == "exchange"
    (rows,) = [line.strip() for line in lines if line.strip().startswith("table@GRAD#values:")]
    assert re.fullmatch(r"table@GRAD#values: float32\[6, 2\], 48 bytes at \d+, is \S+", rows)


def test_it_says_what_sharing_saves_and_what_is_not_the_plans_own() -> None:
    *_, memory, besides = text_of(linear(), POINTS).splitlines()
    shared, apart = map(int, re.findall(r"\d+", memory))
    assert 0 < shared < apart
    assert "48 bytes of feeds, 12 of gradients that leave" in besides


def test_asking_for_it_runs_nothing() -> None:
    job = linear()
    before = job.scope.get("w").copy()
    text_of(job, POINTS)
    np.testing.assert_array_equal(job.scope.get("w"), before)
    assert job.exchange.given == []
