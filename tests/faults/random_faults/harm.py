"""Harm: does the faults of a schedule to a cluster, and takes back what is to pass.

It must never know what is trained. Guarantee: after ``heal`` nothing stands still, is dark or full because of
it.
"""

from __future__ import annotations

import heapq
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable

from tests.faults.random_faults.cluster import Cluster, ShardProcess, TrainerProcess, kill, rest
from tests.faults.random_faults.disk import Disk
from tests.faults.random_faults.replacing import Replacing
from tests.faults.random_faults.schedule import Fault
from tests.faults.toxic import Harm, Link

OF_DISKS = ("full disk", "failing disk")
_FULL_BYTES = 2048
_LONGEST_S = 2.0
_OPERATIONS = 12  # of two snapshots
USUAL_BYTES, LARGE_BYTES = 40_000, 400_000
"""So far is the byte at most to which something happens: both are more than a push, which is large where
gradients take turns, and comes in several portions."""
_OF_BYTES = ("cut link", "flip bit", "flip bit in handshake", "swallow answers")
_OFTEN, _MANY_VERSIONS = 5, 500


class Harms:
    """See the module's text. ``disk``: of the first pserver. ``begun``: how often each fault was begun."""

    def __init__(self, cluster: Cluster, disk: Disk) -> None:
        self.begun: Counter[str] = Counter()
        self._cluster, self._disk = cluster, disk
        self._later: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = iter(range(1 << 30))
        self._replacing = Replacing(cluster, self._in)
        self._kinds: dict[str, Callable[[Fault], bool]] = {
            "kill shard": self._kill_shard,
            "pause shard": self._pause_shard,
            "pause trainer": self._pause_trainer,
            "reset link": self._reset_link,
            "cut link": self._cut_link,
            "flip bit": self._flip_bit,
            "flip bit in handshake": self._flip_in_handshake,
            "swallow answers": self._swallow,
            "delay link": self._delay,
            "dark link": self._dark,
            "full disk": self._fill_disk,
            "failing disk": self._break_disk,
            "kill shard as it writes": self._kill_in_write,
            "replace trainer between passes": self._replace_between,
            "replace killed trainer": lambda fault: self._replace(fault, signal.SIGKILL),
            "replace paused trainer": lambda fault: self._replace(fault, signal.SIGSTOP),
        }

    def do(self, fault: Fault) -> None:
        """Do it, now."""
        self.begun[fault.kind] += self._kinds[fault.kind](fault)

    @property
    def done(self) -> Counter[str]:
        """How often each fault really came to pass: what is to happen to bytes or calls that come later may
        not, where none come."""
        seen = Counter(self.begun)
        links = [link for trainer in self._cluster.trainers for link in trainer.links]
        for kind in _OF_BYTES:
            seen[kind] = sum(link.done[kind] for link in links)
        seen["failing disk"] = self._disk.failed
        seen["kill shard as it writes"] = self._disk.killed
        seen["replace trainer between passes"] = self._replacing.done
        seen["full disk"] = self._cluster.said.full_disks
        return seen

    def idle(self, versions: int) -> list[str]:
        """The kinds that were begun often and never came to pass: of these nothing is known. ``versions``: so
        many steps there were; where a machine is so busy that there are few, few bytes and snapshots are."""
        done = self.done
        return [
            f"{count} x {kind} never came to pass"
            for kind, count in self.begun.items()
            if count >= _OFTEN and not done[kind] and versions >= _MANY_VERSIONS
        ]

    def pass_by(self, now: float) -> None:
        """Take back what is due."""
        while self._later and self._later[0][0] <= now:
            heapq.heappop(self._later)[2]()

    @property
    def is_disk_broken(self) -> bool:
        """Whether the first pserver's takes nothing."""
        return self._disk.is_broken

    def let_disks_be(self, *, broken: bool) -> None:
        """Mend them: a job that ends needs them. ``broken``: but for the first pserver's, which takes nothing
        any more."""
        self._disk.heal()
        for shard in self._cluster.shards:
            if (pid := shard.pid()) is not None:
                self._limit(pid, resource.RLIM_INFINITY)
        if broken:
            self._disk.fail(every=1)

    def heal(self) -> None:
        """Take everything back."""
        self._replacing.is_ending = True
        self._disk.heal()  # first: who takes a place is let in once a snapshot knows it
        while self._later:
            self.pass_by(float("inf"))
            rest()
        for trainer in self._cluster.trainers:
            for link in trainer.links:
                link.heal()

    def _in(self, seconds: float, work: Callable[[], object]) -> bool:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._numbers), work))
        return True

    # Targets.

    def _shard(self, fault: Fault) -> ShardProcess:
        return self._cluster.shards[fault.target % len(self._cluster.shards)]

    def _trainer(self, fault: Fault) -> TrainerProcess:
        living = self._cluster.living
        return living[fault.target % len(living)]

    def _far(self, fault: Fault) -> TrainerProcess:
        """One with links."""
        living = [trainer for trainer in self._cluster.living if trainer.links]
        return living[fault.target % len(living)]

    def _link(self, fault: Fault) -> Link:
        links = self._far(fault).links
        return links[fault.target // 16 % len(links)]

    # Faults.

    def _kill_shard(self, fault: Fault) -> bool:
        return not self._replacing.is_going_on and kill(self._shard(fault).pid(), signal.SIGKILL)

    def _pause_shard(self, fault: Fault) -> bool:
        return self._pause(self._shard(fault).pid(), fault)

    def _pause_trainer(self, fault: Fault) -> bool:
        trainer = self._trainer(fault)  # which another pause may outlast, in which it is replaced
        return self._pause(trainer.pid, fault, is_over=lambda: trainer.is_replaced)

    def _pause(self, pid: int | None, fault: Fault, is_over: Callable[[], bool] = lambda: False) -> bool:
        self._in(_LONGEST_S * fault.size, lambda: is_over() or kill(pid, signal.SIGCONT))
        return kill(pid, signal.SIGSTOP)

    def _reset_link(self, fault: Fault) -> bool:
        self._link(fault).reset()
        return True

    def _plan(self, fault: Fault, kind: str) -> bool:
        way = "up" if fault.side < 0.5 else "down"
        reach = LARGE_BYTES if self._cluster.job.scenario.takes_turns else USUAL_BYTES
        self._link(fault).plan(Harm(kind, way, int(fault.size * reach), fault.kind))  # type: ignore[arg-type]
        return True

    def _cut_link(self, fault: Fault) -> bool:
        return self._plan(fault, "reset")

    def _flip_bit(self, fault: Fault) -> bool:
        return self._plan(fault, "flip")

    def _flip_in_handshake(self, fault: Fault) -> bool:
        link = self._link(fault)
        link.reset()
        link.plan(Harm("flip", "up" if fault.side < 0.5 else "down", int(fault.size * 160), fault.kind))
        return True

    def _swallow(self, fault: Fault) -> bool:
        link = self._link(fault)
        link.plan(Harm("swallow", "down", int(fault.size * 20_000), fault.kind))
        return self._in(0.2 + 0.6 * fault.side, link.heal)

    def _delay(self, fault: Fault) -> bool:
        link = self._link(fault)
        link.delay_s = (0.0, 0.05 * fault.size)
        return self._in(_LONGEST_S * fault.side, lambda: setattr(link, "delay_s", (0.0, 0.0)))

    def _dark(self, fault: Fault) -> bool:
        link = self._link(fault)
        link.dark(True)
        return self._in(_LONGEST_S * fault.size, lambda: link.dark(False))

    def _fill_disk(self, fault: Fault) -> bool:
        """Files of a shard's process may not grow: its writes fail in the midst of a snapshot."""
        pid = self._shard(fault).pid()
        if pid is None:
            return False
        self._limit(pid, _FULL_BYTES)
        return self._in(_LONGEST_S * fault.size, lambda: self._limit(pid, resource.RLIM_INFINITY))

    def _break_disk(self, fault: Fault) -> bool:
        """System calls that make a snapshot last fail: all for a while, or every other one."""
        self._disk.fail(every=1 if fault.side < 0.5 else 2)
        return self._in(_LONGEST_S * fault.size, lambda: self._disk.fail(every=0))

    def _kill_in_write(self, fault: Fault) -> bool:
        """The process that makes the n-th such call from now on is killed in it."""
        if self._replacing.is_going_on:
            return False
        self._disk.kill(after=int(fault.size * _OPERATIONS))
        return True

    def _limit(self, pid: int, bytes: int) -> None:
        try:
            _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (bytes if bytes > 0 else most, most))
        except ProcessLookupError:
            pass

    def _replace_between(self, fault: Fault) -> bool:
        self._disk.spare()
        return self._replacing.begin(self._trainer(fault))

    def _replace(self, fault: Fault, by: int) -> bool:
        """Where it stood still it goes on when the other has its place, and is to find that out by itself."""
        old = self._trainer(fault) if by == signal.SIGKILL else self._far(fault)
        if not self._cluster.counted(old.slot)[0]:
            return False
        new = self._cluster.replace(old, by=by)
        return self._in(0.0, lambda: self._wake(old, new))

    def _wake(self, old: TrainerProcess, new: TrainerProcess) -> bool:
        has_begun = self._cluster.counted(new.slot)[0] or new.output.process.poll() is not None
        return kill(old.pid, signal.SIGCONT) if has_begun else self._in(0.05, lambda: self._wake(old, new))
