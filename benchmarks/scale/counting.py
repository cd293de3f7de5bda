"""Counting: what a push costs a shard for each trainer that there is, in every mode, and for each gradient;
and what it costs a trainer to hear what others changed.

A real Shard is driven here, in this process, by as many trainers as are wanted, and the real trainer's part
of a mode by a center that changes: no sockets, only what they do themselves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.scale.script import Recorder, update_in
from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import PROTOCOL, CountChanges, Declare, Hello, PullChanges, Push, Seed
from paddle._pserver.shard.effects import Effect, Send
from paddle._pserver.shard.shard import Shard
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.trainer.trainer_modes import in_mode

TELLING = ("geo", "average", "elastic_average")
"""Modes whose trainers are told of changed rows."""
_MEMORY, _STRIDE = 1 << 24, 1 << 16  # floats


def count(request: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of processor time of one push, the median over rounds in which all trainers push once; and,
    where trainers are told of changed rows, of telling one, with how many ids that were and how many rows."""
    trainers, floats, rows = request["trainers"], request["floats"], request["rows"]
    parameters = _parameters(floats, rows, request["height"])
    shard = _ready(parameters, ModeSpec(**request["mode"]), trainers)
    chance, pushing, telling, told = np.random.default_rng(3), [], [], 0
    for step in range(1, request["rounds"] + 2):
        gradients = [_gradient(chance, floats, rows, request["height"]) for _ in range(trainers)]
        began = time.thread_time()
        for id, gradient in enumerate(gradients):
            shard.handle(id + 1, Push(step, 0, 1), gradient, now=float(step))
        pushing.append((time.thread_time() - began) / trainers)
        if request["mode"].get("name") in TELLING:
            began = time.thread_time()
            told = sum(_tell(shard, id + 1, step) for id in range(trainers))
            telling.append((time.thread_time() - began) / trainers)
    tell_s = float(np.median(telling[1:])) if telling else 0.0
    return {"push_s": float(np.median(pushing[1:])), "tell_s": tell_s, "told": told / trainers}


def hear(request: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of processor time of a trainer's meeting the others, who changed so many rows, each time after
    it went through other memory for ``pause_s``, as a batch does."""
    rows, height, mode = request["rows"], request["height"], ModeSpec(**request["mode"])
    chance, took = np.random.default_rng(4), []
    values = {"w": np.zeros(1, np.float32), "t": np.zeros((height, 16), np.float32)}
    gradients = {
        "w": np.ones(1, np.float32),
        "t": SparseRows(np.array([0]), np.ones((1, 16), np.float32), height),
    }
    recorder, memory = Recorder(), np.zeros(_MEMORY, np.float32)
    exchange = in_mode(recorder, replace(mode, k_steps=1), 4)
    exchange.start(_parameters(1, 1, height), update_in(mode), values)
    exchange.begin_pass(0)
    for _ in range(request["rounds"] + 1):
        ids = np.sort(chance.choice(height, rows, replace=False))
        recorder.changed = {"t": SparseRows(ids, np.ones((rows, 16), np.float32), height)}
        exchange.prefetch({"t": gradients["t"].ids})
        _walk(request["pause_s"], memory)
        began = time.process_time()
        exchange.step(gradients, 1)
        took.append(time.process_time() - began)
    return {"meeting_s": float(np.median(took[1:]))}


def _walk(seconds: float, memory: np.ndarray) -> None:
    """Write to it again and again for so long."""
    at, until = 0, time.thread_time() + seconds
    while time.thread_time() < until:
        memory[at : at + _STRIDE] += 1
        at = (at + _STRIDE) % len(memory)


def _tell(shard: Shard, session: int, step: int) -> int:
    """Tell a trainer of changed rows; how many."""
    (told,) = _answer(shard.handle(session, CountChanges(step - 1), now=float(step)))
    counts, more = told[:-1], told[-1]
    assert not more, "what a row costs is measured with few"
    shard.handle(session, PullChanges(tuple(counts.tolist())), now=float(step))
    return int(counts.sum())


def _answer(effects: Sequence[Effect]) -> tuple[np.ndarray, ...]:
    (sent,) = (effect for effect in effects if isinstance(effect, Send))
    return sent.body


def _parameters(floats: int, rows: int, height: int) -> tuple[ParameterSpec, ...]:
    dense = ParameterSpec(name="w", shape=(floats,)) if floats else None
    table = ParameterSpec(name="t", shape=(height, 16), sparse=True) if rows else None
    return tuple(parameter for parameter in (dense, table) if parameter is not None)


def _ready(parameters: tuple[ParameterSpec, ...], mode: ModeSpec, trainers: int) -> Shard:
    """A shard in the midst of a job."""
    shard = Shard(ShardOptions(num_gradient_servers=trainers, log_period_server=1 << 40))
    for id in range(trainers):
        shard.connected(id + 1, f"127.0.0.1:{id}")
        shard.handle(id + 1, Hello(PROTOCOL, id, trainers, "dense"), now=0.0)
        shard.handle(id + 1, Declare(parameters, update_in(mode), 0, 1), now=0.0)
    for parameter in parameters:
        shard.handle(1, Seed(parameter.name if parameter.sparse else None), now=0.0)
    assert shard.ready
    return shard


def _gradient(chance: np.random.Generator, floats: int, rows: int, height: int) -> Gradient:
    dense = [np.ones(floats, np.float32)] if floats else []
    if not rows:
        return Gradient(dense)
    ids = np.sort(chance.choice(height, rows, replace=False))
    return Gradient(dense, [Rows(ids, np.ones((rows, 16), np.float32))])
