"""What can go wrong with a program of the later generations.

ProgramError (a Complaint)
├── BadArgument       a layer, optimizer or option was given what it cannot take
├── BadProgram        an operator cannot be what it was written as; names it and its line
│   └── NoSequences   it works on sequences, and what it reads has none
├── BadFeed           a run was fed, or asked for, what the program does not have
├── NotFinite         an operator gave NaN or Inf, which FLAGS_check_nan_inf forbids
├── NotInitialized    a variable that outlives a step has no value yet
└── BadFile           a file is not what it has to be; names file, variable and shapes
    └── MissingFile   it is not there
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from paddle._complaint import Complaint
from paddle._engine.errors import DtypeError, EngineError, FeedError


class ProgramError(Complaint):
    """Base of all."""


class BadArgument(ProgramError, ValueError, TypeError):
    """A call was given what it cannot take."""


class BadProgram(ProgramError, ValueError):
    """An operator of a program cannot be what it was written as."""


class NoSequences(BadProgram):
    """An operator over sequences reads ``name``, which has none."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


class BadFeed(ProgramError, ValueError):
    """A run was fed what does not fit, or asked for what is not there."""


class NotFinite(ProgramError, FloatingPointError):
    """An operator gave what is no number, or is without bound."""


class NotInitialized(ProgramError, RuntimeError):
    """A persistable variable was read before anything gave it a value."""


class BadFile(ProgramError, ValueError, RuntimeError):
    """A file of values or programs is damaged, or is of something else than what it is read for."""


class MissingFile(BadFile, FileNotFoundError):
    """A file that was to be read is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


def check_known(what: str, given: Iterable[str], known: str = "") -> None:
    """Refuse arguments that no release has; names in ``known``, apart by spaces, change nothing."""
    unknown = [repr(name) for name in given if name not in known.split()]
    if unknown:
        some = f"; besides those of its signature it takes {known.replace(' ', ', ')}" if known else ""
        raise BadArgument(f"{what} has no argument {', '.join(unknown)}{some}")


def explained(error: EngineError, lines: Mapping[str, str]) -> ProgramError:
    """What the engine says of a run, with the operator of the program that it is about, and its line.
    ``lines``: these, by the engine's variables."""
    text = " ".join([str(error), *getattr(error, "__notes__", ())])
    if lacking := re.match(r"the feed lacks (\S+) : (.*?); it has", text):
        reader = lines.get(lacking[1], "the program")
        return BadFeed(f"the feed lacks {lacking[1]!r} ({lacking[2]}), which {reader} reads")
    last = text.rpartition(" in ")[2]
    named = [(found.start(), line) for name, line in lines.items() if (found := _named(name).search(last))]
    return kind_of(error)(f"{min(named)[1]}: {text}" if named else text)


def kind_of(error: EngineError) -> type[ProgramError]:
    """As what it is told: a dtype that an operator does not take is a TypeError, as of the original."""
    if isinstance(error, DtypeError):
        return BadArgument
    return BadFeed if isinstance(error, FeedError) else BadProgram


def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.@]){re.escape(name)}(?![\w.])")
