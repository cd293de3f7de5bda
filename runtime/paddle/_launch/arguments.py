"""Command lines, read as gflags reads them: ``--k=v``, ``--k v``, ``--flag``, ``--noflag``, one dash or two.

It must never know what a flag does; the table says which exist and what they take.

Guarantee: every token is a flag of the table with a value of its type, or is handed on untouched and in
order, or is refused by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddle._launch.errors import FlagError
from paddle._launch.flag import Flag, User, Value
from paddle._launch.flags import BY_NAME, check_supported, flags_of, unknown

_HELP = frozenset({"--help", "-help", "-h"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """A command line, read. ``values``: the flags that were given; ``others``: tokens that are none of ours.

    ``strangers``: those of them that do not follow ``--``. ``notices``: lines that the user should see.
    ``help``: the user asked what there is.
    """

    values: Mapping[str, Value]
    others: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    help: bool = False


def parse_arguments(
    arguments: Sequence[str], *users: User, command: str, pass_on: bool = False, takes_words: bool = False
) -> Arguments:
    """Read the flags of ``users``; of one given twice the last counts.

    What is no such flag is an error, or with ``pass_on`` goes to ``others``, as does everything after ``--``;
    with ``takes_words`` what does not look like a flag, and what follows ``--``.
    """
    table = {name: flag for flag in flags_of(*users) for name in (flag.name, flag.also) if name}
    values: dict[str, Value] = {}
    strangers: list[str] = []
    waiting = deque(arguments)
    while waiting:
        token = waiting.popleft()
        if token in _HELP:
            return Arguments(values=values, help=True)
        if token == "--":
            break
        flag, text = _match(token, table)
        if flag:
            values[flag.name] = _value(flag, text, token, waiting)
        else:
            strangers.append(token)
    others = (*strangers, *waiting)
    wrong = [token for token in strangers if token.startswith("-")] if takes_words else others
    if wrong and not pass_on:
        raise _refused(wrong[0], table, command)
    notices = [check_supported(table[name], value) for name, value in values.items()]
    return Arguments(
        values=values,
        others=others,
        strangers=tuple(strangers),
        notices=tuple(filter(None, notices)),
    )


def split_at_program(arguments: Sequence[str], *users: User) -> tuple[Sequence[str], Sequence[str]]:
    """Part the flags of ``users`` from the program behind them and all that is the program's."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        if arguments[at] == "--":
            return arguments[:at], arguments[at + 1 :]
        at += 1 + _takes_the_next(arguments[at], users)
    return arguments[:at], arguments[at:]


def _takes_the_next(token: str, users: Sequence[User]) -> bool:
    name = token.lstrip("-").replace("-", "_")
    return any(flag.kind != "bool" and name in (flag.name, flag.also) for flag in flags_of(*users))


def _match(token: str, table: Mapping[str, Flag]) -> tuple[Flag | None, str | None]:
    """Find the flag that a token names, and the text that stands in the token itself."""
    name, equals, text = token.lstrip("-").partition("=")
    name = name.replace("-", "_")
    if not token.startswith("-"):
        return None, None
    if not token.startswith("--") and len(name) == 1:
        return next((flag for flag in table.values() if flag.short == name), None), text if equals else None
    if name in table:
        return table[name], text if equals else None
    switched_off = table.get(name.removeprefix("no")) if not equals else None
    return (switched_off, "false") if switched_off and switched_off.kind == "bool" else (None, None)


def _value(flag: Flag, text: str | None, token: str, waiting: deque[str]) -> Value:
    if text is not None:
        return flag.parse(text, token)
    following = waiting[0] if waiting else None
    if flag.kind == "bool":
        return flag.parse(waiting.popleft()) if _is_bool(flag, following) else True
    if following is None or following.startswith("--"):
        raise FlagError(f"{token} needs a value: {flag.expected}.")
    return flag.parse(waiting.popleft(), f"{token} {following}")


def _is_bool(flag: Flag, text: str | None) -> bool:
    try:
        return text is not None and flag.parse(text) is not None
    except FlagError:
        return False


def _refused(token: str, table: Mapping[str, Flag], command: str) -> FlagError:
    if not token.startswith("-"):
        return FlagError(f"{command} takes no argument {token!r}; its flags are written --name=value.")
    name = token.lstrip("-").partition("=")[0].replace("-", "_")
    if name in BY_NAME:
        users = " and the ".join(sorted(BY_NAME[name].users))
        return FlagError(f"{token}: {name} is a flag of the {users}, not of {command}. Leave it out here.")
    return unknown(token, name, table, command)
