"""Costs: seconds of processor time that parts of an exchange take, of a trainer and of a shard.

Numbers only, measured by :mod:`benchmarks.scale.measuring`; what they are per stands beside them. Where a
measurement cannot tell sending from receiving, a half is said to be of each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.scale.workload import is_large


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCosts:
    """``message_s``: to send one, or to receive one; ``large_s``: besides, for one that does not go by one
    buffer; ``push_s``: for a push besides; ``table_...``: the same where it is about rows."""

    message_s: float = 0.0
    large_s: float = 0.0
    push_s: float = 0.0
    table_message_s: float = 0.0
    table_large_s: float = 0.0
    table_push_s: float = 0.0

    def of_values_s(self, body_bytes: float, *, is_push: bool = False) -> float:
        """A message with values of dense parameters, and what any byte takes left out."""
        return self.message_s + self.large_s * is_large(body_bytes) + self.push_s * is_push

    def of_rows_s(self, body_bytes: float, *, is_push: bool = False) -> float:
        """The same with rows."""
        return self.table_message_s + self.table_large_s * is_large(body_bytes) + self.table_push_s * is_push


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerCosts(MessageCosts):
    """``step_s``, ``pull_s``, ``prefetch_s``: to do so at all, of however many shards. ``slice_s``: for
    each piece of memory that a message's body is gathered from or scattered to. ``sift_s``: to find where
    each of a batch's rows lives, if not all on one shard."""

    step_s: float = 0.0
    pull_s: float = 0.0
    sent_byte_s: float = 0.0
    received_byte_s: float = 0.0
    slice_s: float = 0.0
    prefetch_s: float = 0.0
    pulled_row_s: float = 0.0
    pushed_row_s: float = 0.0
    sift_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCosts(MessageCosts):
    """``wake_s``: for a message that comes when it has slept for ``pause_s`` or more, in proportion when it
    has for less; ``table_...``: the same about rows. ``rule_float_s``: plain descent of a float;
    ``fold_float_s``: to add a float of one more trainer's gradient. ``copied_byte_s``: to send a byte that
    may change meanwhile, where trainers are not in step. ``pulled_row_s``: all that a row of an answer takes;
    ``received_row_s``: to take a pushed row in, ``applied_row_s`` to apply it where it comes from one
    trainer, ``folded_row_s`` where rows of several are put together; ``noted_row_s``: to note at a push that
    a row was changed; to find out which were, ``listed_row_s`` for each that is listed or ``looked_row_s``
    for each that there is. ``peer_s``: what a push takes for each trainer in the job, by mode."""

    wake_s: float = 0.0
    table_wake_s: float = 0.0
    pause_s: float = 0.0
    received_byte_s: float = 0.0
    sent_byte_s: float = 0.0
    copied_byte_s: float = 0.0
    rule_float_s: float = 0.0
    fold_float_s: float = 0.0
    pulled_row_s: float = 0.0
    received_row_s: float = 0.0
    applied_row_s: float = 0.0
    folded_row_s: float = 0.0
    noted_row_s: float = 0.0
    listed_row_s: float = 0.0
    looked_row_s: float = 0.0
    peer_s: dict[str, float] = field(default_factory=dict)

    def waking_s(self, wake_s: float, slept_s: float) -> float:
        """What waking takes after such a sleep."""
        return wake_s * min(1.0, slept_s / self.pause_s) if self.pause_s else wake_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCosts:
    """What a mode takes of a trainer besides: for each batch, and for each batch that meets the others;
    ``..._table_s``: where there is a table at all. ``told_row_s``: to take in a row that others changed."""

    batch_s: float = 0.0
    batch_table_s: float = 0.0
    batch_float_s: float = 0.0
    batch_row_s: float = 0.0
    meeting_s: float = 0.0
    meeting_table_s: float = 0.0
    meeting_float_s: float = 0.0
    meeting_row_s: float = 0.0
    told_row_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """All of them. ``modes``: those that have costs of their own, by name."""

    trainer: TrainerCosts = TrainerCosts()
    shard: ShardCosts = ShardCosts()
    modes: dict[str, ModeCosts] = field(default_factory=dict)

    def of_mode(self, name: str) -> ModeCosts:
        """A mode's own."""
        return self.modes.get(name, ModeCosts())
