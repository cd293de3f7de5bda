"""Hub: a shard with its connections. It carries events in, effects out, and time.

It must never decide anything about training: the shard does.

Guarantee: every session that was opened is told of to the shard when it is gone, whatever ended it. An
error of this side's own breaks the job for all trainers at once: a shard that did half of something must not
go on, and no trainer is to blame.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Coroutine, Sequence

import numpy as np

from paddle._pserver.errors import BadMessage, FrameError
from paddle._pserver.protocol.messages import (
    Answer,
    Fallen,
    Goodbye,
    Push,
    Request,
    Share,
    Sign,
    Waiting,
    failure,
)
from paddle._pserver.protocol.outlet import Outlet
from paddle._pserver.service.ear import Word
from paddle._pserver.service.meter import Meter
from paddle._pserver.service.relay import relayed
from paddle._pserver.service.report import Door, Report, lines, report
from paddle._pserver.service.session import Session
from paddle._pserver.service.shard_clock import ShardClock
from paddle._pserver.service.standstill import WORD, Standstill
from paddle._pserver.service.warming import Warming
from paddle._pserver.shard.effects import Close, Drop, Effect, Load, Note, Send, Write
from paddle._pserver.shard.ending import Outcome
from paddle._pserver.shard.inlet import Inbound, Inlet
from paddle._pserver.shard.loan import Loan
from paddle._pserver.shard.shard import Shard
from paddle._pserver.shard.state import State
from paddle._pserver.shard.watch import Watch
from paddle._pserver.snapshots.recovery import Kept
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Purses
from paddle._pserver.watcher import Unwatched, Watcher

TICK_S = 1.0
MAX_STRANGERS = 64  # besides one for every trainer
AT_WILL = 20  # reports that the log has as they come; then each fills it
BETWEEN_REPORTS_S, MOST_BETWEEN_REPORTS_S = 10.0, 60.0
PART_OF_AGE = 360  # dense in the first hour, and no log of a week that fills a disk

_log = logging.getLogger("paddle.pserver")


class Hub:
    """See the module's text. ``name`` stands before every line of the log; ``kept``: its snapshots,
    written and read in a thread."""

    def __init__(
        self, shard: Shard, name: str, watcher: Watcher | None = None, kept: Kept | None = None
    ) -> None:
        self.shard = shard
        self.name = name
        self.damaged_frames = 0
        self.door: Callable[[], Door] = Door  # who came to it; whoever keeps it says so
        self._wills: dict[int, Fallen] = {}  # what is so when the machine of a session is lost
        self.on_fallen: Callable[[Fallen], None] | None = None  # where whoever runs this shard wants to know
        self.hear_all: Callable[[], None] | None = None  # that whoever runs the job has said by now
        self._kept = kept
        self._disk_tasks: set[asyncio.Task[None]] = set()
        self._meter = Meter(lambda: sum(shard.clocks.dropped))
        self._outlet = Outlet()
        self._since = time.monotonic()
        self._clock = ShardClock()
        self._tells_at = self._next_after(shard.clocks.version)  # a restored shard has told of those before
        self._reports, self._reported_at = 0, 0.0
        self._watch = Watch(name, watcher or Unwatched())
        self._sessions: dict[int, Session] = {}
        self._inlets: dict[int, Inlet] = {}  # of the same
        self._ids = itertools.count(1)
        self._purses = Purses()
        self._warming = Warming(self._do, self._clock)
        self._standstill = Standstill(self._deal)
        self._over = asyncio.Event()

    @property
    def crowded(self) -> bool:
        """Whether too many connections are there that have not said Hello, or are being closed."""
        strangers = sum(not session.known for session in self._sessions.values())
        return strangers >= MAX_STRANGERS + self.shard.options.num_gradient_servers

    def open(self, transport: asyncio.Transport, http: asyncio.Protocol) -> Session:
        """A connection becomes a session."""
        id = next(self._ids)
        peer = nearby.peer(transport.get_extra_info("peername"), transport.get_extra_info("sockname"))
        self.shard.connected(id, peer or "an address it has left")
        self._inlets[id] = Inlet(self.shard, id, Loan(nearby.neighbour(transport.get_extra_info("socket"))))
        self._sessions[id] = Session(id, self._inlets[id], self, transport, http)
        return self._sessions[id]

    def received(self, session: Session, inbound: Inbound) -> None:
        """See :class:`paddle._pserver.service.session.Owner`."""
        if self._standstill.room is not None and self._standstill.holds(session, inbound):
            self._inlets[session.id].is_closed = True
            self._meter.asked(session.id, inbound.message, time.monotonic())
            return
        message = inbound.message
        if inbound.decode is not None:
            inbound.decode()
        if not isinstance(message, Push) and self._is_for_hub(session, message):
            return
        now = time.monotonic()
        self._meter.asked(session.id, message, now)
        self._outlet.asked(session.id, message)
        self._do(self.shard.handle(session.id, message, inbound.gradient, inbound.ids, now=self._clock.now()))
        self._meter.worked(time.monotonic() - now)
        self._tell_progress()

    def _deal(self, session: Session, inbound: Inbound) -> None:
        """With what had to wait."""
        self._inlets[session.id].is_closed = False
        try:
            self.received(session, inbound)
        except FrameError as error:
            self.damaged(session, error)
            session.close()

    def _is_for_hub(self, session: Session, message: Request) -> bool:
        """Whether it is no question to the shard, and dealt with here."""
        if isinstance(message, Sign) and session.known:
            session.send(message)
        elif isinstance(message, Fallen):
            self._fallen(session, message)
        elif isinstance(message, Share):
            loan = self._inlets[session.id].loan
            session.send(loan.share(message, self.shard.expecting(session.id).tables))
        else:
            if isinstance(message, Goodbye) and message.failure is not None and self.hear_all is not None:
                self.hear_all()  # who is told to stop, because another one fell, may be read before that is
            return False
        return True

    def _fallen(self, session: Session, message: Fallen) -> None:
        """Answered first: what follows ends this shard."""
        if self.on_fallen is None:
            session.send(failure(BadMessage("whoever has launched this pserver tells it who has fallen")))
        else:
            session.send(Answer(self.shard.clocks.version))
            if message.silent_s:
                self._wills[session.id] = message
                return session.watch(message.silent_s)
        session.close()
        if self.on_fallen is not None:
            self.on_fallen(message)
        return None

    def hear(self, word: Word) -> None:
        """Whoever runs the processes of the job says that one has ended for good."""
        try:
            now = self._clock.now()
            self._do(self.shard.fallen(word.trainer, word.text, goes_on=word.goes_on, now=now))
        except Exception as error:
            self.failed(error)

    def damaged(self, session: Session, error: FrameError) -> None:
        """See :class:`paddle._pserver.service.session.Owner`."""
        self.damaged_frames += 1
        if self._purses.pay("", time.monotonic()) == 0:  # however many they are, the log does not fill a disk
            _log.error("%s: closes a connection: %s: %s", self.name, type(error).__name__, error)
        session.send(failure(error))

    def failed(self, error: Exception) -> None:
        """See :class:`paddle._pserver.service.session.Owner`."""
        _log.error("%s: internal error", self.name, exc_info=error)
        where = "Its traceback is in this pserver's log; in a launched job that is paddle_pserver2.INFO"
        self.stop(f"internal error: {type(error).__name__}: {error}. {where}.")

    def lost(self, session: Session, reason: str) -> None:
        """See :class:`paddle._pserver.service.session.Owner`."""
        del self._sessions[session.id], self._inlets[session.id]
        self._standstill.lost(session)
        self._meter.lost(session.id, session.traffic)
        self._outlet.lost(session.id)
        try:
            self._do(self.shard.lost(session.id, reason, now=self._clock.now()))
        except Exception as error:
            self.failed(error)
        will = self._wills.pop(session.id, None)
        if will is not None and session.is_lost and self.on_fallen is not None:
            self.on_fallen(will)

    def report(self) -> Report:
        """All that can be seen now."""
        return report(
            self.shard,
            self._meter,
            name=self.name,
            damaged_frames=self.damaged_frames,
            since=self._since,
            now=time.monotonic(),
            shard_now=self._clock.now(),
            traffic=self._meter.total(session.traffic for session in self._sessions.values()),
            door=self.door(),
        )

    def _tell_progress(self) -> None:
        """Log all that can be seen, every ``log_period_server`` steps, but slowly where these are many, and
        more slowly the longer they go on."""
        if self.shard.clocks.version < self._tells_at:
            return
        self._tells_at = self._next_after(self.shard.clocks.version)
        now = time.monotonic()
        pause = min(max(BETWEEN_REPORTS_S, (now - self._since) / PART_OF_AGE), MOST_BETWEEN_REPORTS_S)
        if self._reports >= AT_WILL and now < self._reported_at + pause:
            return
        self._reports, self._reported_at = self._reports + 1, now
        for line in lines(self.report()):
            _log.info("%s: %s", self.name, line)

    def _next_after(self, version: int) -> int:
        """The next version at which there is something to tell."""
        period = self.shard.options.log_period_server
        return version - version % period + period

    def stop(self, reason: str, *culprits: int) -> None:
        """Tell all trainers that this shard ends before its time; see Shard.stop."""
        self._over.set()
        self._do(self.shard.stop(reason, *culprits, now=self._clock.now()))

    def leave(self) -> None:
        """Nobody ever came here, and nobody will."""
        self._over.set()

    async def outcome(self) -> Outcome:
        """Run until the shard is over and its last words are out."""
        self._warming.begin()
        while self.shard.outcome is None and not self._over.is_set():
            self._tick()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), TICK_S)
        await self._close()
        return self.shard.outcome or Outcome(1, "it was stopped while trainers were connected")

    def _tick(self) -> None:
        try:
            now = self._clock.now()
            self.shard.barrier.stand(self._standstill.is_needed, now)
            self._do(self.shard.tick(now))
            asked = {self.shard.roster.trainers[id].session for id in self.shard.barrier.waiting}
            others = [session for id, session in self._sessions.items() if id in asked]
            for session in self._standstill.waiting(others, now):
                session.send(Waiting(WORD))
            self._meter.look(self.shard.clocks.version, self.shard.clocks.samples, time.monotonic())
            self._watch.look_at_clock(self.shard, self._clock.now())
        except Exception as error:
            self.failed(error)

    async def _close(self) -> None:
        closing = [session.closed for session in self._sessions.values()]
        for session in list(self._sessions.values()):
            session.close()
        if closing:
            await asyncio.wait(closing, timeout=TICK_S)
        for session in list(self._sessions.values()):
            session.abort()
        await asyncio.gather(*(session.closed for session in self._sessions.values()))

    async def _save(self, state: State, why: str) -> None:
        """Write a snapshot while the shard goes on."""
        assert self._kept is not None
        error, began, version = None, time.monotonic(), state.facts.version
        try:
            read = relayed(state, asyncio.get_running_loop(), self._meter.worked, self._was_read)
            del state  # what was read is needed no more, though it is not on the disk yet
            await asyncio.to_thread(self._kept.save, read)
            took, stood = time.monotonic() - began, self._standstill.stood_s
            told = f"{took:.1f} s" + f", {stood:.1f} s of them without a step" * bool(stood)
            _log.info("%s: wrote a snapshot of version %d in %s: %s", self.name, version, told, why)
        except (OSError, MemoryError) as failure:  # of the disk, of a piece or of what is made of it
            error = str(failure) or "no memory"
        except Exception as failure:
            return self.failed(failure)
        del read  # the next one may be cut as soon as this one is over, and its memory is needed then
        self._was_read()
        try:
            self._do(self.shard.saved(error, now=self._clock.now()))
        except Exception as failure:
            self.failed(failure)

    def _was_read(self) -> None:
        """A state, or nobody reads it any more."""
        try:
            self._standstill.end()
        except Exception as error:
            self.failed(error)

    async def _load(self, session: int, version: int) -> None:
        """Read a snapshot."""
        assert self._kept is not None
        try:
            state = await asyncio.to_thread(self._kept.state_of, version)
            self._do(self.shard.loaded(session, state, now=self._clock.now()))
        except (OSError, ValueError) as error:
            self.stop(f"the snapshot of version {version} cannot be used: {error}")
        except Exception as failure:
            self.failed(failure)

    def _at_disk(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._disk_tasks.add(task)
        task.add_done_callback(self._disk_tasks.discard)

    def _send(self, told: Send) -> None:
        id, message, live = told.session, told.message, told.live
        body: Sequence[np.ndarray] = told.body
        rounded = self._outlet.body(id, message, body, self.shard.wire)
        if rounded is not None:
            body, live = rounded, False
        elif self._inlets[id].loan.covers(body):
            body = ()
        self._sessions[id].send(message, body, live=live)
        self._meter.told(id, message, time.monotonic())

    def _do(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send():
                    if effect.session in self._sessions and not self._warming.holds(effect, self.shard):
                        self._send(effect)
                case Note(text, level):
                    _log.log(level, "%s: %s", self.name, text)
                case Close(id):
                    if id in self._sessions:
                        self._standstill.lost(self._sessions[id])  # what it asked is asked on another one
                        self._sessions[id].close()
                case Drop(id):
                    if id in self._sessions:
                        self._sessions[id].drop()
                case Write(state, why):
                    self._standstill.begin(state.room if state.is_read_later else None)
                    self._at_disk(self._save(state, why))
                case Load(id, version):
                    self._at_disk(self._load(id, version))
        self._watch.look(self.shard)
        if self.shard.outcome is not None:
            self._over.set()
