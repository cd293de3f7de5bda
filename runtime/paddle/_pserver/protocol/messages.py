"""What trainers and pservers say to each other: small structs, and how they are encoded as a frame's meta.

A trainer asks, the pserver answers each question once, in order; it may send ``Waiting`` before an answer
that takes long. ``Part`` and ``Sign`` are no questions: the one has no answer, the other comes back. Raw
values travel in the body of the frame: of which message, and in which layout, stands with the message. It
must never know a socket or a state.

Guarantee: what ``decode`` returns is valid in types and ranges; anything else is a BadMessage.
"""

from __future__ import annotations

from typing import Annotated, get_args

import msgspec

from paddle._engine.exchange import ParameterSpec, UpdateSpec
from paddle._pserver.errors import BadMessage, PserverError
from paddle._pserver.options import Role
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.wire import WireSpec

PROTOCOL = 14
"""Raised when a message changes its meaning; both sides must agree."""

LONGEST_TEXT = 1 << 14
REPLY_BYTES = 8 * LONGEST_TEXT  # more than the meta of any answer has

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Incarnation = Annotated[str, msgspec.Meta(max_length=64)]
MOST_BEFORE = 4
Before = Annotated[tuple[Incarnation, ...], msgspec.Meta(max_length=MOST_BEFORE)]
"""The processes whose place another one took, the last ones."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A point in what one trainer tells a shard: after so many pushes and so many ends of passes. ``pace``:
    the last one's, where it is the trainer that tells; see Push."""

    pushes: Count = 0
    passes: Count = 0
    pace: Count = 0


class Hello(msgspec.Struct, frozen=True, array_like=True):
    """First on every connection. Answer: Welcome.

    ``incarnation``: drawn by each process, to tell it from all others that had this trainer_id; "": one that
    never comes back. ``answered``: what it has had answers to. ``before``: incarnations whose place it took.
    ``next_pass``: the pass that it trains; ``over``: how many passes all trainers have ended. Until it trains
    (``has_begun``) these two are what shards have told it, then what it knows by its own passes.
    """

    protocol: int
    trainer_id: int
    num_gradient_servers: int
    role: Role
    incarnation: Incarnation = ""
    answered: Mark = Mark()
    before: Before = ()
    next_pass: Count = 0
    has_begun: bool = False
    over: Count = 0


class Declare(msgspec.Struct, frozen=True, array_like=True):
    """The whole model, from every trainer, and which of how many shards of its role this one is; ``wire``: in
    which numbers gradients will come.

    Answer: Declared; to a trainer that need not seed, once the shard is ready.
    """

    parameters: tuple[ParameterSpec, ...]
    update: UpdateSpec
    shard: Count
    shards: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    wire: WireSpec = WireSpec()


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """Initial values: body = the shard's flat dense values, or its rows of one ``table``. To a shard on which
    nothing lives: no dense values. Answer: Answer."""

    table: str | None = None


class Pull(msgspec.Struct, frozen=True, array_like=True):
    """Send all dense values of the shard, or its rows of one ``table``. Answer: Answer, body as in Seed.

    ``average``: their averages over the last steps instead, of a job that has them. ``again``: it comes from
    the trainer's journal, and was answered when the trainer had told so much: the answer has no body.
    """

    table: str | None = None
    average: bool = False
    again: Mark | None = None


class PullRows(msgspec.Struct, frozen=True, array_like=True):
    """Send some rows: ``counts`` per table, body = the int64 ids, table after table.

    Answer: Answer, body = these float32 rows in their order. ``again``: see Pull. ``peeks``: makes no row, as
    for a test.
    """

    counts: tuple[Count, ...]
    again: Mark | None = None
    peeks: bool = False


class Export(msgspec.Struct, frozen=True, array_like=True):
    """Send rows of an open ``table``, in the shard's own order: those after id ``after``, or the first ones.

    Answer: Answer, body = int64 how many, ``most`` int64 ids and as many float32 rows, of which so many
    count; fewer: there are no more. ``whole``: after these, as many rows of each slot of the rule.
    """

    table: str
    most: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    after: Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | None = None
    whole: bool = False


class Remind(msgspec.Struct, frozen=True, array_like=True):
    """From trainer 0, before the initial values: the job goes on after ``steps``. Answer: Answer.

    With a ``parameter``, what is remembered of it: body = its ``slot`` as the shard has it; of an open table
    ``rows`` int64 ids, and as many float32 rows of values and of each slot.
    """

    steps: Count = 0
    parameter: str = ""
    slot: str = ""
    rows: Count = 0


class Recall(msgspec.Struct, frozen=True, array_like=True):
    """Send the ``slot`` of a ``parameter`` that is an array. Answer: Answer, body = what lives here of it."""

    parameter: str
    slot: str


class CountChanges(msgspec.Struct, frozen=True, array_like=True):
    """How many rows were changed since this trainer, which has heard of them ``told`` times, last did?

    Answer: Answer, body = an int64 per table, of the rows of one portion; and 1 where there are more, or 0.
    """

    told: Count = 0


class PullChanges(msgspec.Struct, frozen=True, array_like=True):
    """Send the rows that were counted. Answer: Answer, body = int64 ids of all tables, then float32 rows."""

    counts: tuple[Count, ...]


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Some of the gradient of the next Push to a dense shard, ahead of it: body = the gradient of these
    ``segments`` of its layout, in this order. See deposit.py for ``number``. No answer.
    """

    number: Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]
    segments: tuple[Count, ...]


class Push(msgspec.Struct, frozen=True, array_like=True):
    """One batch's gradient. ``step``: how many pushes this trainer has made, this one included.

    To a dense shard: body = the gradient of its flat dense values; where ``parts`` came before, of those
    segments that they did not bring. To a sparse one: ``counts`` rows per table, body = the int64 ids of all
    tables, then the float32 rows of all tables. Answer: Answer; from a dense shard with the new values as
    body. See Share for what has no body.

    With another wire than float32 the values are as wire.py says. ``forms``: for each dense parameter with
    values there, then for each table, its exponent (float16), or how many values come, the uint32 places of
    all of them before the values (topk).

    ``shrink``: a day of open tables ends with this step, and they forget rows not used in so many days; 0: no
    day ends. ``pace``: which push of the pass this is, as the trainer counts for all shards (modes/ssp.py);
    0: as this shard counts. ``cut``: in step, all shards make a snapshot after this step; ``lacking``: none,
    since some shard still lacks the last one (saving.py). ``rate``: see Stepping.step.
    """

    step: Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]
    pass_id: Count
    samples: Count
    counts: tuple[Count, ...] = ()
    forms: tuple[int, ...] = ()
    shrink: Count = 0
    parts: Count = 0
    pace: Count = 0
    cut: bool = False
    lacking: bool = False
    rate: float | None = None


class EndPass(msgspec.Struct, frozen=True, array_like=True):
    """No more pushes in this pass. Answer: Answer when all trainers said so, from a dense shard with the
    values.

    ``number``: how many passes this trainer has ended, this one included; 0: one more than before.
    ``shrink``: see Push.
    """

    pass_id: Count
    number: Count = 0
    shrink: Count = 0


class Lies(msgspec.Struct, frozen=True, array_like=True):
    """Where memory of a process lies that others may map (region.py): its descriptor there, its file, and how
    long it is."""

    descriptor: Count
    inode: Count
    size_bytes: Count


class Share(msgspec.Struct, frozen=True, array_like=True):
    """To a shard of the same machine, any time after Declare: this trainer's dense ``gradients`` are in
    memory, each parameter's at ``starts`` bytes. Answer: Shared.

    ``reads``: the trainer reads new values by itself where it can.
    """

    gradients: Lies | None = None
    starts: dict[str, Count] = {}
    reads: bool = False


class Save(msgspec.Struct, frozen=True, array_like=True):
    """Write a snapshot now. Answer: Answer, once it lasts, or could not be written."""


class GoBack(msgspec.Struct, frozen=True, array_like=True):
    """Before Declare, and before a new job has trained anything: become what the snapshot of ``version`` has,
    one of those that Welcome told. Answer: Answer, once that lasts."""

    version: Count


class Hold(msgspec.Struct, frozen=True, array_like=True):
    """Somebody who is no trainer wants a snapshot (demand.py): hold a copy of what there is after step
    ``version``; where trainers are not in step, of what there is now. None: only look. Answer: Held."""

    version: Count | None = None


class Keep(msgspec.Struct, frozen=True, array_like=True):
    """Write the copy that is held. Answer: Answer, once it lasts; Waiting comes before now and then."""


class Goodbye(msgspec.Struct, frozen=True, array_like=True):
    """The trainer leaves; ``failure`` says why when it could not finish. Answer: Answer; where snapshots are
    kept and it could finish, once one lasts that holds all it has told.

    ``follows``: it failed because the job was broken already, or another shard was out of reach.
    ``culprits``: the trainers that broke it, where it has heard of that."""

    failure: str | None = None
    follows: bool = False
    culprits: tuple[Count, ...] = ()


class Fallen(msgspec.Struct, frozen=True, array_like=True):
    """From whoever runs processes of the job, no trainer: one has failed, and none takes its place. ``text``:
    how; ``trainer``: its number, if it was a trainer, ``other``: else its name. ``silent_s``: a will: true
    once the sender's machine has been silent for so long on this connection, and not when that is closed.
    Answer: Answer."""

    text: Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
    trainer: Count | None = None
    other: Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)] = ""
    silent_s: Annotated[int, msgspec.Meta(ge=0, le=86_400)] = 0


class Welcome(msgspec.Struct, frozen=True, array_like=True):
    """The trainer is in. ``barrier_timeout_s``: the longest that an answer may wait for other trainers.

    ``ready``: the shard has its initial values. ``settled``: what it has counted of this trainer. ``keeps``:
    it writes snapshots. ``version``: steps applied so far. ``older``: versions that GoBack may name.
    ``pace``: of the last push by this trainer_id. ``before``: incarnations whose place it took.
    ``next_pass``: the one after the last that this trainer_id ended. ``over``: how many passes all ended.
    """

    barrier_timeout_s: float
    ready: bool = False
    settled: Mark = Mark()
    keeps: bool = False
    version: Count = 0
    older: tuple[Count, ...] = ()
    pace: Count = 0
    before: Before = ()
    next_pass: Count = 0
    over: Count = 0


class Declared(msgspec.Struct, frozen=True, array_like=True):
    """The declaration holds. ``seed``: send the initial values; otherwise pull them. ``place``: the pass that
    the trainer begins with, and how many batches of it the values have. ``announces``: see announcing.py."""

    seed: bool
    place: tuple[Count, Count] = (0, 0)
    announces: bool = False


class Shared(msgspec.Struct, frozen=True, array_like=True):
    """``takes``: from now on a Push without a body means the gradient in shared memory. ``values``: in the
    memory of ``process``; an Answer without the body that it should have means these."""

    takes: bool = False
    values: Lies | None = None
    process: Count = 0


class Held(msgspec.Struct, frozen=True, array_like=True):
    """``holds``: a copy is there of what was asked for. ``version``: steps applied so far. ``is_in_step``:
    whether trainers are. ``is_busy``: another snapshot is being written. ``folder``: where they lie.

    ``shard``, ``shards``: which of how many of its role this is. ``has_sparse``: the model has parameters
    that live on sparse shards.
    """

    version: Count
    holds: bool
    is_in_step: bool
    is_busy: bool
    folder: str
    shard: Count
    shards: Count
    has_sparse: bool


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """Done. ``version``: steps applied so far. ``dropped``: the pushed gradient came too late and was
    discarded. ``durable``: what the newest snapshot holds of this trainer. ``wants_cut``: that was long ago,
    and the next push is to ask for another one. ``lacking``: see Push."""

    version: Count
    dropped: bool = False
    durable: Mark = Mark()
    wants_cut: bool = False
    lacking: bool = False


class Waiting(msgspec.Struct, frozen=True, array_like=True):
    """The answer waits for others; ``text`` says for whom and since when."""

    text: str


class Sign(msgspec.Struct, frozen=True, array_like=True):
    """Said while an answer is waited for, and said again at once by who hears it (sign.py)."""

    filler: Annotated[bytes, msgspec.Meta(max_length=1 << 15)]


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """The answer is an error: ``code`` is the name of its class in errors.py. ``culprits``: the trainers
    because of which, where that is known."""

    code: str
    text: str
    culprits: tuple[Count, ...] = ()


def failure(error: PserverError) -> Failure:
    """An error as it is told to the other side."""
    return Failure(type(error).__name__, str(error)[:LONGEST_TEXT], error.culprits)


_Asked = Hello | Declare | Seed | Pull | PullRows | Push | EndPass | Goodbye | Save | CountChanges
_AskedToo = _Asked | PullChanges | GoBack | Export | Share | Part
Request = _AskedToo | Hold | Keep | Sign | Remind | Recall | Fallen | Announce
Reply = Welcome | Declared | Answer | Waiting | Failure | Shared | Held | Bring | Sign

KINDS: dict[int, type[Request] | type[Reply]] = dict(enumerate(get_args(Request), 1))
KINDS |= enumerate(get_args(Reply)[:-1], 64)
"""A message's kind is its place in these: a new one goes to the end of its own."""
_KIND_OF = {message: kind for kind, message in KINDS.items()}
_ENCODER = msgspec.msgpack.Encoder()
_DECODERS = {kind: msgspec.msgpack.Decoder(message) for kind, message in KINDS.items()}


def encode(message: Request | Reply) -> tuple[int, bytes]:
    """A message as a frame's kind and meta."""
    return _KIND_OF[type(message)], _ENCODER.encode(message)


def decode(kind: int, meta: memoryview) -> Request | Reply:
    """The message of a frame."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise BadMessage(f"there is no message of kind {kind}")
    try:
        return decoder.decode(meta)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadMessage(f"a {KINDS[kind].__name__} message does not decode: {error}") from error
