"""The inner half of the agent: one loop over the launcher's orders, the roles' pipes and the clock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import signal
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

from . import log_folder, private_files
from .disk import Disk
from .growth import Growth
from .outbox import Outbox
from .posted_log import PostedLog
from .processes import GIVE_UP_S, Process, descendants, send_signal, sweep
from .role import CHUNK, Role, remnants

LEASH_GRACE_S = 1.0  # without a launcher nobody waits for last words
FIRST_LEASE_S = 60.0  # until the plan says it
BEAT_S = 1.0
SCAN_S = 0.05
_ASKED = "asked by the launcher"
OUTER_DIED = signal.SIGUSR1  # comes when the first of its threads dies, while it is still seen as the parent
_HALVED = (  # upon which an sshd ends our standard input, too
    "the outer half was killed; where memory runs out the kernel does that, and on that node "
    "`dmesg | grep -i 'killed process'` says so"
)
_DOING = {"plan": "take the workspace", "start": "start", "stop": "stop"}
_MEANING = {"lease": "it heard nothing from the launcher for longer than its lease"}


class Agent:
    """Runs the roles of one node for one launcher, by the rules of the package."""

    def __init__(self, will: int, heart: int) -> None:
        self._will = will  # a pipe to the outer half: where to write, should this half be killed
        self._heart = heart  # another one: that this half moves
        self._outer = os.getppid()
        self._selector = selectors.DefaultSelector()
        self._outbox = Outbox(sys.stdout.fileno())
        self._disk = Disk()
        self._told_of_disk: deque[str] = deque()  # by its thread
        self._grown: deque[tuple[str, str]] = deque()  # likewise
        self._orders = b""
        self._plan: dict[str, Any] = {}
        self._roles: dict[int, Role] = {}
        self._past: dict[str, list[int]] = {}  # of every role: the processes that were it, also the last one
        self._log: PostedLog | None = None
        self._growth: Growth | None = None
        self._is_looking = False  # for growth
        self._signals: list[int] = []
        self._heard = self._beaten = self._looked = time.monotonic()
        self._why = ""  # set once the end has begun
        self._kill_at = self._scan_at = 0.0
        self._asked: set[Process] = set()
        self._told: dict[str, str] = {}  # to roles: where the secrets are

    def run(self) -> int:
        """Serve until every process is stopped."""
        self._listen()
        while not self._all_stopped():
            for key, _ in self._selector.select(self._patience_s()):
                key.data()
            self._bury()
            self._beat()
            self._check_leash()
        self._bury()
        if self._told:
            self._disk.put(partial(private_files.forget, Path(self._plan["workspace"])))
        self._say(f"stopped: {self._why}")
        self._disk.finish(LEASH_GRACE_S)
        self._pass_on()
        self._outbox.put("ended", why=f"stopped: {self._why}")
        self._outbox.finish(LEASH_GRACE_S)
        return 0

    def _listen(self) -> None:
        awake, alarm = os.pipe()
        for descriptor in (awake, alarm, self._heart):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for signum in (signal.SIGTERM, OUTER_DIED):
            signal.signal(signum, lambda signum, _: self._signals.append(signum))
        self._selector.register(awake, selectors.EVENT_READ, lambda: os.read(awake, CHUNK))
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, self._read_orders)

    def _patience_s(self) -> float:
        # A launcher that does not read is looked after now and then: its pipe is full, there is no hurry.
        return SCAN_S if self._why or not self._outbox.flush() else BEAT_S / 2

    # What the launcher says

    def _read_orders(self) -> None:
        data = os.read(sys.stdin.fileno(), CHUNK)
        if not data:
            self._selector.unregister(sys.stdin.fileno())
            self._stop("leash" if os.getppid() == self._outer else _HALVED, LEASH_GRACE_S)
            return
        self._heard = time.monotonic()
        *orders, self._orders = (self._orders + data).split(b"\n")
        for order in orders:
            self._obey(json.loads(order))

    def _obey(self, order: dict[str, Any]) -> None:
        try:
            match order["do"]:
                case "plan":
                    self._accept(order)
                case "start" if not self._why:
                    self._start(order["role"])
                case "tell":
                    self._pass_to(order["role"], order["said"])
                case "stop":
                    self._stop(_ASKED, order["grace_s"])
        except OSError as error:
            path = f" {error.filename}" if error.filename else ""
            self._outbox.put("failed", text=f"cannot {_DOING[order['do']]}:{path}: {error.strerror}")
        except ValueError as error:  # what no command or path can hold, such as a NUL
            self._outbox.put("failed", text=f"cannot {_DOING[order['do']]}: {error}")

    def _accept(self, plan: dict[str, Any]) -> None:
        """Take the workspace, for one job at a time: fresh logs, the node's number in ``nodefile``."""
        workspace = Path(plan["workspace"])
        logs = workspace / "log"
        logs.mkdir(exist_ok=True)
        log = PostedLog(str(logs / log_folder.OWN), self._told_of_disk.append, self._disk)
        try:
            fcntl.flock(log.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            advice = "stop that one first. (One that has lost its launcher ends by itself, within seconds.)"
            self._outbox.put("failed", text=f"{workspace} is in use by another job; {advice}")
            return
        is_later = plan.get("life", 1) > 1  # then all that is there is of this job
        trouble = ""
        if not is_later:
            trouble = log_folder.clear(logs, [role["log"] for role in plan["roles"].values()])
            log_folder.begin(log.descriptor, logs)
        (workspace / "nodefile").write_text(f"{plan['node']}\n")
        self._told = private_files.keep(workspace, plan.pop("secrets"))
        os.write(self._will, os.fsencode(log.path))
        self._plan, self._log, self._growth = plan, log, Growth(logs, is_told=is_later)
        self._say(f"node {plan['node']} in {workspace}")
        if trouble:
            self._tell(trouble)
        self._outbox.put("up")

    def _start(self, name: str) -> None:
        plan, workspace, past = self._plan["roles"][name], self._plan["workspace"], self._past.get(name, [])
        if self._disk.stands_still:
            self._outbox.put("failed", text=f"cannot start {name}: the disk of {workspace} stands still")
            return
        log = PostedLog(str(Path(workspace, plan["log"])), self._told_of_disk.append, self._disk)
        if past and not self._is_clear(name, past[-1]):
            return
        role = Role(name, plan, workspace, log, self._told, len(past))
        self._roles[role.pid], self._past[name] = role, [*past, role.pid]
        self._selector.register(role.output, selectors.EVENT_READ, lambda: self._pump(role))
        self._selector.register(role.report, selectors.EVENT_READ, lambda: self._forward(role))
        if past or self._plan.get("life", 1) > 1:
            what = "is started again" if past else "begins again with its whole job"
            line = f"--- {name} {what}, process {role.pid} ---"
            log.write(f"{line}\n".encode())
            self._outbox.put("lines", role=name, lines=[line])
        self._say(f"{name} started{' again' if past else ''}, pid {role.pid}")
        self._outbox.put("started", role=name, pid=role.pid)

    def _is_clear(self, name: str, last: int) -> bool:
        """End all that a role's last process has left, so that there are never two of it."""
        if last in self._roles:
            self._outbox.put("failed", text=f"cannot start {name} again: it runs, process {last}")
            return False
        left = sweep(os.getpid(), remnants(name, last))
        pids = ", ".join(str(process.pid) for process in left)
        if left:
            text = f"cannot start {name} again: of the one before process {pids} cannot be killed"
            self._outbox.put("failed", text=text)
        return not left

    def _pass_to(self, name: str, said: dict[str, Any]) -> None:
        for role in self._roles.values():
            if role.name == name:
                role.tell(said)

    # What the roles say

    def _read(self, role: Role, descriptor: int) -> bytes | None:
        data = role.read(descriptor)
        if data is None:
            self._selector.unregister(descriptor)
        return data

    def _pump(self, role: Role) -> bool:
        """Take what a role printed; where the disk is slow its pipe keeps that, and it waits."""
        return self._disk.has_room() and self._take(role)

    def _take(self, role: Role) -> bool:
        data = self._read(role, role.output) or b""
        role.log.write(data)
        if lines := role.printed.feed(data):
            self._outbox.put_lines(role.name, lines)
        return bool(data)

    def _forward(self, role: Role) -> bool:
        data = self._read(role, role.report) or b""
        for line in role.reported.feed(data):
            try:
                report = json.loads(line)
            except (ValueError, RecursionError):
                self._tell(f"{role.name} reported what is not JSON: {line[:80]!r}")
                continue
            droppable = isinstance(report, dict) and report.get("report") == "progress"
            self._outbox.put("report", droppable=droppable, role=role.name, report=report)
        return bool(data)

    def _bury(self) -> None:
        """Take the statuses of all children that have ended: roles, and orphans that came to this half."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if role := self._roles.pop(found[0], None):
                    status = os.waitstatus_to_exitcode(found[1])
                    self._drain(role)
                    self._disk.finish(SCAN_S)  # who hears of its end may read its log
                    role.ended()
                    self._say(f"{role.name} ended, status {status}")
                    self._outbox.put("exit", role=role.name, status=status)

    def _drain(self, role: Role) -> None:
        """Read what a dead role left in its pipes. Its children may hold them open and write for ever."""
        for descriptor, read in ((role.report, self._forward), (role.output, self._take)):
            for _ in range(64):
                if descriptor not in role.open or not read(role):
                    break
        self._outbox.put_lines(role.name, role.printed.finish())

    # How it ends

    def _check_leash(self) -> None:
        now = time.monotonic()
        if now - self._looked > 2 * BEAT_S:  # this half stood still, and cannot say who else did
            self._heard = min(now, self._heard + now - self._looked)
        self._looked = now
        if os.getppid() != self._outer or OUTER_DIED in self._signals:
            self._stop(_HALVED, LEASH_GRACE_S)
        elif self._signals:
            self._stop(f"signal {self._signals[0]}", LEASH_GRACE_S)
        elif now - self._heard > self._plan.get("lease_s", FIRST_LEASE_S):
            self._stop("lease", LEASH_GRACE_S)

    def _stop(self, why: str, grace_s: float) -> None:
        """Begin the end, or hasten it."""
        kill_at = time.monotonic() + grace_s
        if self._why:
            self._kill_at = min(self._kill_at, kill_at)
            return
        self._why, self._kill_at = why, kill_at
        self._say(f"stopping: {why}")
        if why != _ASKED:  # the roles' ends that follow are not what went wrong
            self._outbox.put("failed", text=f"its agent stops everything: {_MEANING.get(why, why)}")

    def _all_stopped(self) -> bool:
        """Once the end has begun: signal the processes that are left, and say whether there were any."""
        now = time.monotonic()
        if not self._why or now < self._scan_at:
            return False
        self._scan_at = now + SCAN_S
        left = descendants(os.getpid())
        for process in left:
            if now >= self._kill_at:
                send_signal(process, signal.SIGKILL)
            elif process not in self._asked:
                self._asked.add(process)
                send_signal(process, signal.SIGTERM)
        if left and now > self._kill_at + GIVE_UP_S:
            self._tell(f"cannot be killed: pid {', '.join(str(process.pid) for process in left)}")
            return True
        return not left

    def _beat(self) -> None:
        self._pass_on()
        if time.monotonic() - self._beaten >= BEAT_S:
            self._beaten = time.monotonic()
            self._outbox.put("beat", droppable=True)
            with contextlib.suppress(OSError):  # it is dead, which is seen elsewhere, or stands still
                os.write(self._heart, b"1")
            if self._growth and not self._is_looking:
                self._is_looking = True
                self._disk.put(partial(self._look, self._growth))

    def _look(self, growth: Growth) -> None:
        """In the thread of the disk."""
        self._grown.extend(growth.look())
        self._is_looking = False

    def _pass_on(self) -> None:
        """Say what the disk's thread has seen."""
        while self._told_of_disk:
            self._tell(self._told_of_disk.popleft())
        while self._grown:
            file, text = self._grown.popleft()
            self._outbox.put("grown", droppable=True, file=file, text=text)

    def _tell(self, text: str) -> None:
        self._outbox.put("trouble", text=text)

    def _say(self, text: str) -> None:
        if self._log:
            self._log.say(text)
