"""Scenario: what kind of job a seed stands for: its mode, and by which ways its trainers reach the pservers.

It must never know a fault or a process. Guarantee: drawn from the seed and the mode alone, so that a job that
broke a promise can be had again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.wire import WireSpec
from tests.faults.random_faults.schedule import BETWEEN_PASSES, IN_STEP, OUT_OF_STEP

ModeName = Literal[
    "sync",
    "average",
    "elastic",
    "async",
    "async, patient",
    "ssp",
    "half_async",
    "geo",
    "average, async",
    "elastic, async",
]
MODES: tuple[ModeName, ...] = get_args(ModeName)
MEETS = 4  # steps of which some modes make one push
"""PASS_STEPS is a multiple, so that a pass ends with a meeting."""

_SPECS: dict[ModeName, ModeSpec] = {
    "sync": ModeSpec(),
    "average": ModeSpec(name="average", k_steps=MEETS),
    "elastic": ModeSpec(name="elastic_average", k_steps=MEETS, delta_add_rate=0.75),
    "async": ModeSpec(name="async"),
    "async, patient": ModeSpec(name="async", discard_ratio=1e6),
    "ssp": ModeSpec(name="ssp", staleness=3),
    "half_async": ModeSpec(name="half_async", max_merge_var_num=MEETS),
    "geo": ModeSpec(name="geo", k_steps=MEETS),
    "average, async": ModeSpec(name="average", k_steps=MEETS, delta_add_rate=0.75, is_async=True),
    "elastic, async": ModeSpec(name="elastic_average", k_steps=MEETS, delta_add_rate=0.75, is_async=True),
}
WIRES: dict[str, WireSpec] = {
    "float32": WireSpec(),
    "bfloat16": WireSpec(name="bfloat16"),
    "float16": WireSpec(name="float16"),
    "topk": WireSpec(name="topk", share=1 / 16),
    "bfloat16 both ways": WireSpec(name="bfloat16", answers="bfloat16"),
    "topk, bfloat16 back": WireSpec(name="topk", share=1 / 16, answers="bfloat16"),
}
"""A sixteenth is what one process of SLOTS has to tell in a job that counts gradients (counting.py)."""


class Scenario(msgspec.Struct, frozen=True):
    """``has_near``: the last trainer goes by unix sockets and shared memory. ``is_locked``: pservers want a
    token and encrypt, as launched ones with ``--tls=auto``; a token alone would refuse links, which are at
    addresses of their own. ``has_open``: there is a table without a declared height, too. ``in_pieces``:
    tables are read for snapshots as large ones are. ``has_passes``: out of step there is more than one.
    ``ends_broken``: a disk fails while trainers say goodbye. ``has_no_copies``: steps wait for snapshots.
    ``takes_turns``: in step, gradients wait for those before them, there being no room for one that does not,
    and come in several portions."""

    mode: ModeName
    wire: WireSpec = WireSpec()
    has_near: bool = False
    is_locked: bool = False
    has_open: bool = False
    in_pieces: bool = False
    has_passes: bool = False
    ends_broken: bool = False
    has_no_copies: bool = False
    takes_turns: bool = False

    @property
    def spec(self) -> ModeSpec:
        """The mode, as trainers declare it."""
        return _SPECS[self.mode]

    @property
    def in_step(self) -> bool:
        """Whether every push waits for those of all trainers."""
        return self.spec.is_in_step

    @property
    def faults(self) -> Mapping[str, float]:
        """The kinds that may come, and how often each beside the others. In step only plain gradients leave
        nothing behind in the process that computed them."""
        if not self.in_step:
            return OUT_OF_STEP
        return BETWEEN_PASSES if self.mode == "sync" and self.wire.name == "float32" else IN_STEP

    @property
    def push_steps(self) -> int:
        """Of how many steps a push is."""
        return self.spec.max_merge_var_num * self.spec.k_steps

    def __str__(self) -> str:
        name = next(name for name, wire in WIRES.items() if wire == self.wire)
        also = {
            "near": self.has_near,
            "token and TLS": self.is_locked,
            "open table": self.has_open,
            "in pieces": self.in_pieces,
            "passes": self.has_passes,
            "ends broken": self.ends_broken,
            "no copies": self.has_no_copies,
            "turns": self.takes_turns,
        }
        return "; ".join([self.mode, name, *(what for what, is_so in also.items() if is_so)])


def scenario(seed: int, mode: ModeName) -> Scenario:
    """The one of this seed."""
    chances = random.Random(f"{seed} {mode}")
    names = list(WIRES)
    # Trainers that update by themselves are refused what would take back their moves, or round the others'.
    fitting = names[:3] if _SPECS[mode].is_local else names
    wire = WIRES[chances.choice(fitting)] if chances.random() < 0.6 else WireSpec()
    near, locked, has_open, in_pieces, passes, broken, *more = (chances.random() < 0.5 for _ in range(8))
    stands, turns = more
    passes, turns = passes and not _SPECS[mode].is_in_step, turns and _SPECS[mode].is_in_step
    turns = turns and not (in_pieces and stands)  # of gradients so large a row at a time takes seconds
    return Scenario(mode, wire, near, locked, has_open, in_pieces, passes, broken, stands, turns)
