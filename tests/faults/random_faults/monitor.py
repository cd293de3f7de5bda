"""Monitor: looks at all shards while faults happen, and says which promise is broken; also where it could not
look.

1.  A shard's version never goes back; where its process was killed, not behind its newest snapshot.
2.  In step every step counts all trainers' samples once: samples are always version times what a step has.
    Out of step each applied gradient is a step of one trainer's samples. A push of several steps brings the
    samples of as many, but for the last one of a trainer, which may bring less.
3.  In step no shard is more than one step from another, but for one that is being told again what it lacks.
4.  The metrics say what the status says.
5.  Memory stays within bounds, of shards and trainers.
6.  In step all trainers have the same parameters, bit for bit, where a pass ends: those of a job to which
    nothing happens, which is trained beside theirs where that can be (undisturbed.py).
7.  Once training has begun something goes on: versions stand still for ``PATIENCE_S`` at most, of time in
    which all shards are seen.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.faults.random_faults.cluster import Cluster, ShardProcess, memory_bytes, newest_version
from tests.faults.random_faults.job import PASS_STEPS, SAMPLES, TRAINERS
from tests.faults.random_faults.passes import Passes

PATIENCE_S = 60.0
USUAL_BYTES = 192 << 20  # with all libraries
GROWTH_BYTES = 96 << 20
_LOOK_S = 0.1
_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Seen:
    """A shard at one moment, and which of its processes it was."""

    version: int
    samples: int
    memory_bytes: int
    state: str
    pid: int


class Monitor:
    """See the module's text. ``broken``: what is said."""

    def __init__(self, cluster: Cluster) -> None:
        self.broken: list[str] = []
        self.looks = 0
        self.looked: Counter[str] = Counter()  # how often each rule was looked at that needs more than a look
        self._cluster, self._in_step = cluster, cluster.job.in_step
        self._last: dict[str, Seen] = {}
        self.passes = Passes()
        self._first_bytes: dict[str | int, int] = {}
        self._behind: dict[str, int] = {}  # shards that were killed, and where the others were then
        self._floors: dict[str, int] = {}  # the newest snapshot that was seen of each
        self._moved_at = self._looked_at = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)

    def __enter__(self) -> Monitor:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._look_at_passes()

    @property
    def version(self) -> int:
        """The furthest that was seen."""
        return max((seen.version for seen in list(self._last.values())), default=0)

    @property
    def blind(self) -> list[str]:
        """The shards of which nothing was ever seen, and the rules at which it never could look: of these
        nothing is known to hold."""
        rules = ["metrics", "another look at a process", *(["two shards"] if self._in_step else [])]
        passes = self.version * self._cluster.job.scenario.push_steps // PASS_STEPS
        return [
            *["the end of no pass was seen"] * (self._in_step and passes > 1 and not self.passes.compared),
            *(f"nothing was seen of {s.name}" for s in self._cluster.shards if s.name not in self._last),
            *(f"the monitor never saw {rule}" for rule in rules if not self.looked[rule]),
        ]

    def _run(self) -> None:
        try:
            while not self._over.wait(_LOOK_S):
                self._look()
        except Exception as error:
            self.broken.append(f"the monitor itself failed: {type(error).__name__}: {error}")

    def _look(self) -> None:
        self.looks += 1
        floors = {shard.name: newest_version(shard.folder) for shard in self._cluster.shards}
        before = dict(self._last)
        now = {shard.name: seen for shard in self._cluster.shards if (seen := status(shard))}
        self._last |= now  # all of them: by the furthest it is seen whether one has caught up with the others
        for name, seen in now.items():
            self._look_at(name, seen, before.get(name))
        self._floors = {name: max(floor, self._floors.get(name, 0)) for name, floor in floors.items()}
        if self._in_step:
            self._compare(now)
        self._look_at_metrics(self._cluster.shards[self.looks % len(self._cluster.shards)])
        self._look_at_memory()
        self._look_at_passes()
        self._look_at_progress(before, sees_all=len(now) == len(self._cluster.shards))

    def _look_at(self, name: str, seen: Seen, before: Seen | None) -> None:
        """Rules 1 and 2."""
        self._last[name] = seen
        if before is not None and seen.pid != before.pid:
            floor = self._floors.get(name, 0)
            if seen.version < floor and seen.state != "waiting":
                self.broken.append(f"{name} came back at version {seen.version}, and had saved {floor}")
            self._behind[name] = max(one.version for one in self._last.values())
        elif before is not None:
            self.looked["another look at a process"] += 1
            if seen.version < before.version:
                self.broken.append(f"{name} went back from version {before.version} to {seen.version}")
        steps = self._cluster.job.scenario.push_steps
        most = seen.version * SAMPLES * steps * (TRAINERS if self._in_step else 1)
        if not most - (steps - 1) * SAMPLES * TRAINERS <= seen.samples <= most:
            self.broken.append(f"{name} counts {seen.samples} samples in {seen.version} steps")

    def _look_at_passes(self) -> None:
        """Rule 6."""
        if self._in_step:
            self.broken += self.passes.look(self._cluster.ends)

    def _look_at_progress(self, before: dict[str, Seen], *, sees_all: bool) -> None:
        """Rule 7."""
        now, versions = time.monotonic(), {name: seen.version for name, seen in self._last.items()}
        if not any(versions.values()) or versions != {name: seen.version for name, seen in before.items()}:
            self._moved_at = now
        elif not sees_all:
            self._moved_at += now - self._looked_at
        self._looked_at = now
        if now - self._moved_at > PATIENCE_S:
            self.broken.append(f"nothing has moved for {PATIENCE_S:.0f} s: {self._last}")
            self._moved_at = now

    def _compare(self, first: dict[str, Seen]) -> None:
        """Rule 3: of two looks at all, one in the first is at most a step ahead of any in the second."""
        second = {shard.name: seen for shard in self._cluster.shards if (seen := status(shard))}
        for name, seen in first.items():
            if name in self._behind and seen.version >= self._behind[name]:
                del self._behind[name]
        good = [
            name
            for name in first
            if name in second and name not in self._behind and first[name].pid == second[name].pid
        ]
        self.looked["two shards"] += len(good) > 1
        for one in good:
            for other in good:
                if first[one].version > second[other].version + 1:
                    self.broken.append(
                        f"{one} was at step {first[one].version} when {other} was at "
                        f"{second[other].version} at most"
                    )

    def _look_at_metrics(self, shard: ShardProcess) -> None:
        """Rule 4."""
        before, text, after = status(shard), read(shard, "/metrics"), status(shard)
        if before is None or after is None or text is None or after.pid != before.pid:
            return
        self.looked["metrics"] += 1
        for name, low, high in (
            ("steps_total", before.version, after.version),
            ("samples_total", before.samples, after.samples),
        ):
            found = re.search(rf"^paddle_pserver_{name} (\d+)$", text, re.MULTILINE)
            if found is None or not low <= int(found[1]) <= high:
                self.broken.append(f"{shard.name} says {name} {found and found[1]}, not {low} to {high}")

    def _look_at_memory(self) -> None:
        """Rule 5."""
        used: dict[str | int, int] = {
            f"{name} ({seen.pid})": seen.memory_bytes
            for name, seen in self._last.items()
            if seen.state == "ready"
        }
        used |= {one.slot: memory_bytes(one.pid) for one in self._cluster.living}
        for name, amount in used.items():
            if amount > self._first_bytes.setdefault(name, max(amount, USUAL_BYTES)) + GROWTH_BYTES:
                self.broken.append(f"{name} has grown to {amount >> 20} MiB")
                self._first_bytes[name] = amount


def status(shard: ShardProcess) -> Seen | None:
    """None where it does not answer soon, or is killed meanwhile."""
    pid = shard.pid()
    text = read(shard, "/v1/status")
    if text is None or pid is None or shard.pid() != pid:
        return None
    told: dict[str, Any] = json.loads(text)
    return Seen(told["version"], told["samples"], told["memory_bytes"], told["state"], pid)


def read(shard: ShardProcess, path: str) -> str | None:
    address = f"{'https' if shard.trust else 'http'}://{shard.host}:{shard.port}{path}"
    try:
        with urllib.request.urlopen(address, timeout=_WAIT_S, context=shard.trust) as answer:
            text: str = answer.read().decode()
            return text
    except (OSError, http.client.HTTPException):  # the latter: it was killed in the midst of its answer
        return None
