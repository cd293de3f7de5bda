"""A declaration: the model that all trainers of a job must agree on, checked before anything is allocated for
it.

It must never know a shard's state. Guarantee: what ``check`` lets through can be placed and trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from paddle._engine.averages import ARRAYS
from paddle._engine.errors import EngineError
from paddle._engine.exchange import ParameterSpec, UpdateSpec
from paddle._engine.rows import OPEN
from paddle._engine.rules import rule_of
from paddle._engine.schedules import schedule
from paddle._pserver import options
from paddle._pserver.errors import BadMessage, Refused, TooManyParameters
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.protocol.placement import DenseLayout, RowRange
from paddle._pserver.protocol.wire import HALF_BYTES, WireSpec
from paddle._pserver.shard import compensation
from paddle._pserver.shard.changes import stamp_bytes
from paddle._pserver.shard.finite import not_finite

SESSION_BYTES = 1 << 20  # what a connection has of its own: a slice each way, twice where it is encrypted
_MAX_VALUES = 1 << 48


def check(declare: Declare) -> None:
    """Raise where a declaration cannot be placed or trained."""
    if declare.shard >= declare.shards:
        raise BadMessage(f"shard {declare.shard} of {declare.shards}")
    for name, times in Counter(parameter.name for parameter in declare.parameters).items():
        if times > 1:
            raise Refused(f"parameter {name!r} is declared {times} times")
    for parameter in declare.parameters:
        _check_parameter(parameter, declare.update)
    if declare.wire.name == "topk" and declare.update.mode.is_local:
        raise Refused(
            f"--wire=topk does not go with the mode {declare.update.mode.name!r}: a trainer that updates by "
            "itself and pushes what it has moved would take back most of that. Take bfloat16 or float16, or "
            "let trainers meet less often"
        )
    if declare.update.mode.compensates and (table := next(_tables(declare), None)) is not None:
        raise Refused(
            f"what lacks in gradients of rows is not made up for (DC-ASGD), and {table.name!r} is a table: "
            "train it as a dense parameter (is_sparse=False), or without enable_dc_asgd"
        )
    if declare.wire.answers != "float32" and declare.update.mode.is_local:
        raise Refused(
            f"--wire_answers={declare.wire.answers} does not go with the mode {declare.update.mode.name!r}: "
            "a trainer that updates by itself would take the rounding for what the others have moved"
        )
    if (wrong := not_finite((declare.update, *declare.parameters))) is not None:
        raise Refused(f"{wrong} in what this job declares: parameters would be lost with the first step")
    try:
        schedule(declare.update.schedule)
    except (EngineError, ValueError) as error:
        raise Refused(f"this job's learning rate cannot be computed: {error}") from error


def _tables(declare: Declare) -> Iterator[ParameterSpec]:
    return (each for each in declare.parameters if each.sparse)


def _check_parameter(parameter: ParameterSpec, update: UpdateSpec) -> None:
    if parameter.rows is not None:
        _check_open(parameter, update)
    values = 1
    for size in parameter.shape[1:] if parameter.is_open else parameter.shape:
        values *= size
        if size < 1 or values > _MAX_VALUES:
            raise Refused(f"parameter {parameter.name!r} has shape {parameter.shape}")
    if parameter.sparse and len(parameter.shape) != 2:
        raise Refused(
            f"sparse parameter {parameter.name!r} must be (height, width), and is {parameter.shape}"
        )
    try:
        rule_of(parameter, update)
    except (EngineError, TypeError, ValueError) as error:
        raise Refused(f"parameter {parameter.name!r} cannot be updated: {error}") from error


def _check_open(parameter: ParameterSpec, update: UpdateSpec) -> None:
    if not parameter.sparse or len(parameter.shape) != 2 or parameter.shape[0] != OPEN:
        raise Refused(
            f"open table {parameter.name!r} must be sparse, of shape {(OPEN, 'width')}, and is "
            f"{parameter.shape}"
        )
    if update.average is not None:
        raise Refused(
            f"parameters are to be averaged, and {parameter.name!r} is an open table: its rows come and go, "
            "and there is no average over them. Take ModelAverage away"
        )
    rows = parameter.rows
    if rows is not None and rows.rule is not None and (update.mode.is_local or update.mode.compensates):
        raise Refused(
            f"table {parameter.name!r} has a rule of its own, which servers apply to what trainers push as "
            f"it is: in mode {update.mode.name}, as it is told, they do not"
        )
    if rows is not None and rows.rule is not None and rows.entry.kind != "always":
        raise Refused(
            f"table {parameter.name!r} has a rule of its own, by which its rows enter, and an entry policy "
            "besides: take one of them away"
        )
    if update.mode.is_local and parameter.rows is not None and parameter.rows.entry.kind != "always":
        raise Refused(
            f"trainers that update by themselves (mode {update.mode.name}) learn a row from when they first "
            f"meet it, which the entry policy of {parameter.name!r} would not let them share: take that "
            "away, or choose a mode that sends gradients"
        )


def check_size(
    declare: Declare,
    layout: DenseLayout,
    ranges: tuple[RowRange, ...],
    trainers: int,
    limit_bytes: int,
    most_early: int | None = None,
) -> int:
    """How many bytes a shard needs from the start; raises where that is more than ``limit_bytes``.
    ``most_early``: see Model."""
    each = coded_bytes(declare.wire, layout) + SESSION_BYTES
    whole = bool(ranges) or declare.wire.name != "float32"  # else what comes is added at once (turns.py)
    gradients = trainers if most_early is None else min(trainers, 1 + most_early + whole)
    need = need_bytes(declare.update, layout, ranges, gradients) + trainers * each
    if need > limit_bytes:
        one = 4 * layout.size
        turns = declare.update.mode.is_in_step and most_early is None and one >= options.WORTH_BYTES
        fits = turns and need - one * (trainers - 1 - whole) <= limit_bytes
        advice = ", or bound what gradients take (--gradient_memory=0)" if fits else ""
        what = f"{gradients} of the gradients" if gradients < trainers else "the gradients"
        raise TooManyParameters(
            f"this shard's part of the model needs {options.in_mib(need, up=True)}, with optimizer state and "
            f"{what} of {trainers} trainers and 1 MiB for each connection, and may have "
            f"{options.in_mib(limit_bytes)}, its part of --memory_limit (MiB for all shards of a pserver and "
            f"their snapshots): use more pservers, or give this one more (--memory_limit){advice}"
        )
    return need


def need_bytes(update: UpdateSpec, layout: DenseLayout, ranges: tuple[RowRange, ...], gradients: int) -> int:
    """The arrays of a shard, and room for so many dense ``gradients``: one of every trainer, or fewer where
    they take turns. Gradient rows come on top: they are as many as a batch touches. So do rows of open
    tables, once they are made (table_room.py)."""
    copies = gradients
    if not update.mode.is_in_step:
        copies += 1  # the values that end a pass, which change meanwhile
    if update.mode.compensates:  # never where gradients take turns
        copies += compensation.copies(gradients)
    need = 4 * layout.size * copies
    for segment in layout.segments:
        need += 4 * segment.size * _arrays(segment.parameter, update)
    for held in ranges:
        marks = 8 if update.average is None else 16  # the row's last step, and the last in its average
        need += held.count * (4 * held.width * _arrays(held.parameter, update) + marks)
        need += held.count * stamp_bytes(update)
    return need


def coded_bytes(wire: WireSpec, layout: DenseLayout) -> int:
    """Room for one trainer's gradient before it is decoded, and for its answer, of dense values."""
    rounded = 0 if wire.answers == "float32" else HALF_BYTES * layout.size
    if wire.name == "float32":
        return rounded
    return rounded + sum(wire.most_bytes(segment.parameter, segment.size) for segment in layout.segments)


def _arrays(parameter: ParameterSpec, update: UpdateSpec) -> int:
    """The values, the optimizer's state and the average: so many arrays of the parameter's size."""
    return 1 + len(rule_of(parameter, update).slots) + (ARRAYS if update.average else 0)
