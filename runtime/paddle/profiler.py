"""PaddlePaddle's profilers: ``Profiler`` of the 2.x generation, and fluid's four functions.

They must never take time themselves: they switch a profile of the engine on and off. Guarantee: where one is
on another one is refused, so that neither counts the other's steps.

Everything here runs on the CPU: other targets than ``ProfilerTarget.CPU`` are errors; fluid's states
``"GPU"`` and ``"All"`` count the same as ``"CPU"``, as a program that asks for all means what there is.
"""

from __future__ import annotations

import json
import os
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._engine.profile import Profile, current, switch
from paddle._engine.profile_table import ORDERS, table

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "export_chrome_tracing",
    "make_scheduler",
    "profiler",
    "reset_profiler",
    "start_profiler",
    "stop_profiler",
]


class ProfilerTarget(Enum):
    """What can be profiled."""

    CPU = 0
    GPU = 1
    CUSTOM_DEVICE = 3


class ProfilerState(Enum):
    """What a profiler does in a step. ``RECORD_AND_RETURN``: its last one, after which it hands over."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class SortedKeys(Enum):
    """How the table is sorted; the values are fluid's words for the same."""

    CPUTotal = "total"
    CPUAvg = "ave"
    CPUMax = "max"
    CPUMin = "min"


Scheduler = Callable[[int], ProfilerState]
_RECORDS = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Scheduler:
    """Steps in turns: ``closed`` without, ``ready`` that do not count yet, ``record`` that do.

    ``repeat``: how many turns, 0 for all; ``skip_first``: steps before the first turn.
    """
    if record < 1 or min(closed, ready, repeat, skip_first) < 0:
        raise ValueError("make_scheduler: record is at least 1, the other numbers at least 0")
    turn = closed + ready + record

    def state(step: int) -> ProfilerState:
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * turn):
            return ProfilerState.CLOSED
        at %= turn
        if at < closed + ready:
            return ProfilerState.CLOSED if at < closed else ProfilerState.READY
        return ProfilerState.RECORD if at < turn - 1 else ProfilerState.RECORD_AND_RETURN

    return state


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """For ``on_trace_ready``: write each trace to a file of its own in a folder, which is made."""
    worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"

    def write(profiler: Profiler) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in folder.glob(f"{worker}_time_*.paddle_trace.json"))
        profiler.export(str(folder / f"{worker}_time_{number}.paddle_trace.json"))

    return write


class Profiler:
    """Counts the steps that ``scheduler`` says: all if None, or those of a pair (first, last + 1).

    A program calls ``step()`` after each of its steps. ``on_trace_ready`` is called with the profiler
    whenever a turn of the scheduler is over, and at the end. ``timer_only`` counts no operators, but the
    program's steps. The other arguments ask for what there is not here; what they are changes nothing.
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Scheduler | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Iterable[str] = (),
        with_flops: bool = False,
    ) -> None:
        for target in targets or ():
            if target is not ProfilerTarget.CPU:
                raise NotInThisRelease(f"{target} is not in this release, which computes on the CPU")
        self._scheduler = _scheduler(scheduler)
        self._on_trace_ready = on_trace_ready
        self._timer_only = timer_only
        self._profile = Profile()
        self._step = 0
        self._state = ProfilerState.CLOSED
        self._began: tuple[int, int] | None = None

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with step 0."""
        self._enter(self._scheduler(self._step))

    def step(self, num_samples: int | None = None) -> None:
        """A step of the program is over. ``num_samples``: how many samples it had."""
        self._note_step()
        self._step += 1
        self._leave(self._scheduler(self._step))

    def stop(self) -> None:
        """The end: what was counted is handed over, unless the scheduler just did."""
        self._note_step()
        self._leave(ProfilerState.CLOSED)

    def export(self, path: str, format: str = "json") -> None:
        """Write the trace, as chrome://tracing and Perfetto read it."""
        if format != "json":
            raise NotInThisRelease(f"the format {format!r} of a trace is not in this release: json is")
        Path(path).write_text(json.dumps(self._profile.trace(os.getpid())))

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: Any = None,
    ) -> None:
        """Print the table of what was counted. Arguments but the first change nothing: it has one form."""
        print(table(self._profile.lines(), self._profile.runs, sorted_by.value))

    def _enter(self, state: ProfilerState) -> None:
        if state in _RECORDS and self._state not in _RECORDS:
            self._profile.reset()
            if not self._timer_only:
                _switch_on(self._profile)
            self._began = self._profile.now()
        self._state = state

    def _leave(self, next_state: ProfilerState) -> None:
        is_over = self._state is ProfilerState.RECORD_AND_RETURN or next_state not in _RECORDS
        if self._state in _RECORDS and is_over:
            _switch_off(self._profile)
            self._began, self._state = None, ProfilerState.CLOSED
            if self._on_trace_ready is not None:
                self._on_trace_ready(self)
        self._enter(next_state)

    def _note_step(self) -> None:
        if self._began is None:
            return
        now = self._profile.now()
        self._profile.note("ProfileStep", self._began[0], now[0], now[1] - self._began[1])
        self._began = now


class RecordEvent:
    """Counts a stretch of the program under a name of its own: ``with RecordEvent("reader"): ...``."""

    def __init__(self, name: str, event_type: Any = None) -> None:
        self._name = name
        self._began: tuple[Profile, int, int] | None = None

    def begin(self) -> None:
        """It begins; where no profile is on this changes nothing."""
        profile = current()
        self._began = None if profile is None else (profile, *profile.now())

    def end(self) -> None:
        """It ends."""
        if self._began is not None:
            profile, wall, cpu = self._began
            now = profile.now()
            profile.note(self._name, wall, now[0], now[1] - cpu)
            self._began = None

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def start_profiler(state: str = "CPU", tracer_option: str = "Default") -> None:
    """Fluid's: count all runs from now on."""
    if state not in ("CPU", "GPU", "All"):
        raise ValueError(f"the state of a profiler is 'CPU', 'GPU' or 'All', not {state!r}")
    _switch_on(Profile())


def stop_profiler(sorted_key: str | None = None, profile_path: str = "/tmp/profile") -> None:
    """Fluid's: print the table, sorted by "total", "calls", "max", "min" or "ave", and write the trace."""
    _check_order(sorted_key)
    profile = current()
    if profile is None:
        raise RuntimeError("stop_profiler: no profiler was started. Call start_profiler() before it.")
    _switch_off(profile)
    print(table(profile.lines(), profile.runs, sorted_key or "total"))
    try:
        Path(profile_path).write_text(json.dumps(profile.trace(os.getpid())))
    except OSError as error:
        warnings.warn(f"profile_path: the trace is not written: {error}", RuntimeWarning, stacklevel=2)


def reset_profiler() -> None:
    """Fluid's: forget what was counted so far."""
    profile = current()
    if profile is not None:
        profile.reset()


@contextmanager
def profiler(
    state: str = "CPU",
    sorted_key: str | None = None,
    profile_path: str = "/tmp/profile",
    tracer_option: str = "Default",
) -> Iterator[None]:
    """Fluid's: ``with profiler("CPU", "total"): ...``; see ``start_profiler`` and ``stop_profiler``."""
    _check_order(sorted_key)
    start_profiler(state, tracer_option)
    try:
        yield
    finally:
        stop_profiler(sorted_key, profile_path)


def _scheduler(given: Scheduler | tuple[int, int] | None) -> Scheduler:
    if given is None:
        return lambda step: ProfilerState.RECORD
    if callable(given):
        return given
    start, end = given
    if not 0 <= start < end:
        raise ValueError(f"scheduler ({start}, {end}): the first step, and the one after the last")
    return make_scheduler(closed=max(start - 1, 0), ready=min(start, 1), record=end - start, repeat=1)


def _switch_on(profile: Profile) -> None:
    if current() not in (None, profile):
        raise RuntimeError(
            "a profiler is on already, maybe by the flag profile (PADDLE_INIT_PROFILE): stop it first"
        )
    switch(profile)


def _switch_off(profile: Profile) -> None:
    if current() is profile:
        switch(None)


def _check_order(sorted_key: str | None) -> None:
    if sorted_key is not None and sorted_key not in ORDERS:
        raise ValueError(f"sorted_key is one of {sorted(ORDERS)}, not {sorted_key!r}")
