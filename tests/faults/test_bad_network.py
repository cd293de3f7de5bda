"""Real pservers and trainers with a toxic proxy between them: what is lost, late, reset or damaged on the way
changes no bit of a synchronous result."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.random_faults.cluster import Cluster, ShardProcess
from tests.faults.random_faults.ending import wrong
from tests.faults.random_faults.job import TRAINERS, Job
from tests.faults.random_faults.scenario import ModeName, Scenario
from tests.faults.toxic import Harm, Links
from tests.marks import on_demand
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

DENSE, SPARSE = 0, 1  # a trainer's links to the first host


@contextmanager
def training(
    folder: Path, mode: ModeName = "sync", *, steps: int = 5, is_large: bool = False
) -> Iterator[Cluster]:
    """A job that has made so many steps, and waits. ``is_large``: gradients come in several portions, each of
    which has a check of its own."""
    job = Job(7, Scenario(mode, takes_turns=is_large), str(folder))
    with Links() as links, Cluster(job, links) as cluster:
        go_to(cluster, steps)
        yield cluster


def go_to(cluster: Cluster, steps: int) -> None:
    cluster.goal.raise_to(steps)
    until(lambda: counts(cluster) == [steps] * TRAINERS, f"{steps} steps of all")


def counts(cluster: Cluster) -> list[int]:
    """The steps that trainers have had answers to."""
    return [cluster.counted(one.slot)[0] for one in cluster.living]


def finish(cluster: Cluster, steps: int) -> None:
    """It ends after so many steps, and nothing is wrong with it."""
    cluster.goal.raise_to(steps)
    cluster.goal.end(at_once=not cluster.job.in_step)
    assert not wrong(cluster, steps)


def seen(shard: ShardProcess) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{shard.host}:{shard.port}/v1/status", timeout=PATIENCE_S) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def test_an_answer_that_is_lost_after_a_push_was_applied_is_given_again_and_the_push_counts_once(
    tmp_path: Path,
) -> None:
    with training(tmp_path) as cluster:
        shard, link = cluster.shards[DENSE], cluster.trainers[1].links[DENSE]
        link.plan(Harm("swallow", "down", 0))
        cluster.goal.raise_to(6)
        until(lambda: counts(cluster) == [6, 5, 6], "all but one to have their answers")
        assert seen(shard)["version"] == 6
        assert link.done == {"swallow": 1}
        link.heal()  # resets the connection: only now the trainer can know
        until(lambda: counts(cluster) == [6] * TRAINERS, "the answer, given again")
        assert (seen(shard)["version"], seen(shard)["samples"]) == (6, 6 * 8 * TRAINERS)
        finish(cluster, 20)


def test_delays_that_differ_and_resets_at_any_byte_change_no_bit(tmp_path: Path) -> None:
    """What trainers send arrives in other orders than it was sent in, over twelve connections."""
    chances = random.Random(3)
    with training(tmp_path) as cluster:
        links = [link for trainer in cluster.trainers for link in trainer.links]
        for link in links:
            link.delay_s = (0.0, chances.choice([0.002, 0.01, 0.03]))
            for way in ("up", "down"):
                link.plan(Harm("reset", way, chances.randrange(30_000)))  # type: ignore[arg-type]
        finish(cluster, 45)  # over the end of a pass
        assert sum(link.done["reset"] for link in links) > len(links)


@pytest.mark.parametrize("way", ["up", on_demand("down")])
def test_a_flipped_bit_is_found_and_counted_and_what_it_was_in_is_sent_again(
    tmp_path: Path, way: str
) -> None:
    """Most frames are read at once; the large ones, which dense gradients are here, portion after portion."""
    flips = [(0, DENSE, 2), (2, SPARSE, 30), (0, DENSE, 400), (1, DENSE, 100_000), (2, SPARSE, 60)]
    with training(tmp_path, is_large=True) as cluster:
        steps = 5
        for trainer, link, after in flips:
            cluster.trainers[trainer].links[link].plan(Harm("flip", way, after))  # type: ignore[arg-type]
            go_to(cluster, steps := steps + 3)

        def said() -> str:
            return "".join("".join(trainer.output.lines) for trainer in cluster.trainers)

        # Who reads what trainers say may come to it later than to what they count.
        until(
            lambda: said().count("Trying to come back.") >= len(flips),
            "what was said of each flip",
            seen=said,
        )
        assert said().count("Trying to come back.") == len(flips)
        if way == "up":
            assert sum(seen(shard)["damaged_frames"] for shard in cluster.shards) == len(flips)
        assert len(re.findall(r"shard at .*: (?:received|a frame)", said())) == len(flips), said()
        assert [seen(shard)["version"] for shard in cluster.shards] == [steps] * 4
        finish(cluster, steps + 5)


def test_a_replaced_trainer_that_goes_on_is_refused_and_ends_by_itself(tmp_path: Path) -> None:
    """Another process takes the place of one that stands still."""
    with training(tmp_path, "async, patient") as cluster:
        old = cluster.trainers[1]
        new = cluster.replace(old, by=signal.SIGSTOP)
        until(lambda: cluster.counted(new.slot)[0], "the new process to train")
        os.kill(old.pid, signal.SIGCONT)
        cluster.goal.raise_to(20)  # now it asks for its sixth step
        assert old.output.end(PATIENCE_S) == 1
        assert "Stale: " in (said := "".join(old.output.lines))
        assert "a newer process has trainer_id=1" in said
        assert "This process ends; what it has not pushed yet is lost." in said
        until(lambda: min(counts(cluster)) == 20, "the others to go on")
        finish(cluster, 20)
