"""What can go wrong between a trainer and its parameter servers.

PserverError                  an ExchangeError: the engine's callers see these
├── FrameError                bytes that are no valid frame; the connection that brought them is closed
│   ├── NotAFrame             wrong magic, version or header check: the other side speaks something else
│   ├── FrameTooLarge         a length above the limit, found before anything is allocated
│   ├── ChecksumMismatch      the bytes changed on the way
│   └── BadMessage            a message that does not decode, does not fit its body or comes out of turn
├── Refused                   a Complaint: a pserver will not have this trainer; the text says what to change
│   ├── ProtocolMismatch      two releases that do not speak alike
│   ├── WrongPort             a dense port taken for a sparse one, or the other way round
│   ├── TrainerCountMismatch  the two sides differ in num_gradient_servers
│   ├── TrainerIdOutOfRange   trainer_id is not in 0..num_gradient_servers-1
│   ├── DuplicateTrainer      the id is, or was, another trainer's
│   ├── Stale                 a newer process has taken this trainer's place
│   ├── DeclarationMismatch   trainers that do not train the same model
│   ├── TooManyParameters     more values than this pserver may hold
│   │   └── TableFull         rows of an open table for which there is no room: the job is broken
│   ├── NotAuthorized         the two sides do not have the same token
│   ├── TlsMismatch           one side encrypts, and the other does not
│   └── NotTrusted            the pserver's certificate is not what the trainer trusts
├── JobFailed                 a Complaint: a pserver's job did not end well; the text says why
├── RateMismatch              trainers in step that tell different learning rates: the job is broken
├── TrainerLost               a Complaint: a barrier cannot be met; the text names who is missing
├── ShardUnreachable          a Complaint: no connection, or no answer in time
│   ├── ConnectionLost        a connection that broke
│   └── NobodyListens         no pserver was ever there
├── NoValidCheckpoint         snapshots are there, and none of them is whole
├── NotCounted                rows were asked for that this shard has not counted: it was restarted since
├── StateLost                 a Complaint: a pserver was started anew, and keeps no snapshots
├── NotOneJob                 a Complaint: folders that are not all of one job's snapshots
├── CannotReshard             a Complaint: a state that no other number of shards can have, or no place for it
├── CannotExport              a Complaint: what no file of a model can hold
├── NoSnapshot                one that was asked for cannot be taken, or not now
├── SnapshotsInUse            a Complaint: another pserver has the folder
├── PortInUse                 a Complaint: another process has the port; the text names it
├── NotOurs                   a Complaint: an address or port that this process may not listen on
├── BadTokenFile              a Complaint: a file from which no token comes
├── BadTlsFile                a Complaint: a file from which no certificate or key comes
└── SparsePortsMissing        a Complaint: a sparse parameter, and ports_num_for_sparse=0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddle._complaint import Complaint
from paddle._engine.errors import ExchangeError

RESHARD = (
    "to go on with another number of pservers or ports, cut the snapshots of all of them for it: "
    "`paddle reshard FROM... --to=FOLDER --nodes=... --ports_num=... --ports_num_for_sparse=...`"
)
"""What to do where snapshots are of another number of shards."""


class PserverError(ExchangeError):
    """Base of all errors of the parameter server. The class name is the error's code on the wire."""

    exit_status = 1
    culprits: tuple[int, ...] = ()  # the trainers because of which, where that is known


class FrameError(PserverError):
    """Bytes that are no valid frame; the connection that brought them is closed."""


class NotAFrame(FrameError):
    """Wrong magic, version or header check."""


class FrameTooLarge(FrameError):
    """A length above the limit."""


class ChecksumMismatch(FrameError):
    """The bytes changed on the way."""


class BadMessage(FrameError):
    """A frame whose message does not decode, does not fit its body or comes out of turn."""


class Refused(Complaint, PserverError):
    """A pserver will not have this trainer."""


class ProtocolMismatch(Refused):
    """Two releases that do not speak alike."""


class WrongPort(Refused):
    """A dense port taken for a sparse one, or the other way round."""


class TrainerCountMismatch(Refused):
    """The two sides differ in ``num_gradient_servers``."""


class TrainerIdOutOfRange(Refused):
    """``trainer_id`` is not in ``0..num_gradient_servers-1``."""


class DuplicateTrainer(Refused):
    """The id is, or was, another trainer's."""


class Stale(Refused):
    """A newer process has taken this trainer's place."""


class DeclarationMismatch(Refused):
    """Trainers that do not train the same model."""


class TooManyParameters(Refused):
    """More values than this pserver may hold."""


class TableFull(TooManyParameters):
    """Rows of a table without a declared height for which this pserver has no room."""


class NotAuthorized(Refused):
    """The two sides do not have the same token."""


class TlsMismatch(Refused):
    """One side encrypts, and the other does not."""


class NotTrusted(Refused):
    """The pserver's certificate is not what the trainer trusts."""


class JobFailed(Complaint, PserverError):
    """The job that a pserver has served did not end well."""

    exit_status = 1  # the call was right


class RateMismatch(PserverError):
    """Trainers in step tell different learning rates for one step."""


def rate_mismatch(
    step: int, first: int, rate: float | None, other: int, another: float | None
) -> RateMismatch:
    """Trainer ``first`` tells ``rate`` for ``step``, and trainer ``other`` tells ``another``."""
    tells, differs = ("none" if each is None else f"{each!r}" for each in (rate, another))
    return RateMismatch(
        f"trainers {first} and {other} tell different learning rates for step {step}: {tells} and {differs}. "
        "In step all trainers update by one rate: compute it from what they all know, such as the number of "
        "steps, or train asynchronously"
    )


class TrainerLost(Complaint, PserverError):
    """A barrier cannot be met: the text names who is missing."""

    exit_status = 1  # the call was right, here and below

    def __init__(self, text: str, culprits: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.culprits = culprits


class ShardUnreachable(Complaint, PserverError):
    """No connection, or no answer in time."""

    exit_status = 1


class ConnectionLost(ShardUnreachable):
    """A connection that broke."""


class NobodyListens(ShardUnreachable):
    """No connection, in all the time that there was for it."""


class NoValidCheckpoint(PserverError):
    """Snapshots are there, and none of them is whole."""


class NotCounted(PserverError):
    """Rows were asked for that this shard has not counted before; no reason to part."""


class StateLost(Complaint, PserverError):
    """A pserver was started anew, and keeps no snapshots."""

    exit_status = 1  # the call was right


def state_lost(what: str, step: int) -> StateLost:
    """``what`` had learned by ``step`` and does not know."""
    return StateLost(
        f"{what} was started anew and has lost what it had learned by step {step}. Pservers with a "
        "--snapshot_dir go on from there; start this job again."
    )


class NotOneJob(Complaint, PserverError):
    """Folders that are not all of one job's snapshots."""


class CannotReshard(Complaint, PserverError):
    """A state that no other number of shards can have, or no place for it."""


class CannotExport(Complaint, PserverError):
    """What no file of a model can hold."""


class NoSnapshot(PserverError):
    """A snapshot that was asked for cannot be taken, or not now."""


class SnapshotsInUse(Complaint, PserverError):
    """Another pserver has the folder of snapshots."""


class PortInUse(Complaint, PserverError):
    """Another process has the port."""

    exit_status = 98  # the number of EADDRINUSE


class NotOurs(Complaint, PserverError):
    """An address that is not this machine's, or a port that is not this user's."""


class BadTokenFile(Complaint, PserverError):
    """A file from which no token comes."""


class BadTlsFile(Complaint, PserverError):
    """A file from which no certificate or key comes."""


class SparsePortsMissing(Complaint, PserverError):
    """A sparse parameter, and no port to keep it."""


def nobody_listens(
    host: str, port: int, waited_s: float, why: OSError, found: Sequence[str] = (), *, waits: bool
) -> NobodyListens:
    """What a trainer is told that found no pserver. ``found``: where else on its machine such a port is
    served; ``waits``: it would have waited for longer."""
    after = f" after {waited_s:.0f} s" if waits else ""
    others = ", ".join(found)
    other = (
        f" One of this machine listens at {others}: its --nics says where (without it, at 127.0.0.1), and "
        "trainers name that address in pservers, or PADDLE_INIT_PSERVERS."
        if found
        else ""
    )
    later = " To wait longer, raise connect_timeout." if waits else ""
    return NobodyListens(
        f"no pserver answers at {host}:{port}{after} ({why}). Is it running there, with the same port, "
        f"ports_num and ports_num_for_sparse?{other} Look at its output; in a launched job that is in its "
        f"node's server.log.{later}"
    )


def unreachable(what: str, asked: str, elapsed_s: float, error: OSError) -> ShardUnreachable:
    """``what`` was asked, and ``error`` came of it."""
    kind: type[ShardUnreachable] = ConnectionLost
    why = f"the connection failed ({error})"
    if isinstance(error, TimeoutError):
        kind, why = ShardUnreachable, "no answer came"
    return kind(
        f"{what} was asked {asked}, and {why} within {elapsed_s:.1f} s. Look into its log; in a launched job "
        "that is its node's paddle_pserver2.INFO."
    )


BROKEN = (ConnectionLost, ChecksumMismatch, NotAFrame)
"""A connection is no good any more; another one may be."""


FORSAKEN = (TrainerLost, ShardUnreachable, StateLost, Stale)
"""A trainer that fails by these follows others, or what became of a shard."""


def told(error: BaseException) -> str:
    """An error as others hear of it."""
    return f"{type(error).__name__}: {error}"


def error_named(code: str, text: str) -> PserverError:
    """The error that a pserver told by its code; one of a newer release becomes the base class."""
    known = {kind.__name__: kind for kind in _family(PserverError)}
    return known[code](text) if code in known else PserverError(f"{code}: {text}")


def _family(kind: type[PserverError]) -> Iterator[type[PserverError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


GARBLED = (ProtocolMismatch, TlsMismatch, NotTrusted)
"""What a damaged bit in a handshake may look like, and costs nothing to ask for again."""
