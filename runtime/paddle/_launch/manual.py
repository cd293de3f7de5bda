"""Help pages, drawn from the table of flags.

It must never know a flag by name. Guarantee: a page shows every flag that its users take, once.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from paddle._launch.flag import Effect, Flag, User
from paddle._launch.flags import flags_of

_WIDTH = 100
_COLUMN = 32
_PLACEHOLDER = {"bool": "", "int": "=N", "float": "=N", "str": "=TEXT", "names": "=A,B", "duration": "=TIME"}
_HEADINGS: dict[Effect, str] = {
    "program": "Passed to the training program, which decides what to do with them:",
    "hint": "Accepted for compatibility, without effect:",
    "forgone": "Not in this release; a notice is printed, and training continues on the CPU:",
    "absent": "Not in this release; any value but the default is an error:",
}


def page(head: str, sections: Sequence[tuple[str, tuple[Flag, ...]]], tail: str = "") -> str:
    """Draw a help page: ``head``, then each section's title over its flags, then ``tail``."""
    drawn = [part for title, flags in sections for part in _section(title, flags)]
    return "\n\n".join(filter(None, [head.strip(), *drawn, tail.strip()])) + "\n"


def flags_not_of(user: User, *others: User) -> tuple[Flag, ...]:
    """Give the flags of ``others`` that ``user`` does not take."""
    return tuple(flag for flag in flags_of(*others) if user not in flag.users)


def _section(title: str, flags: tuple[Flag, ...]) -> list[str]:
    acting = [_row(flag) for flag in flags if flag.effect == "acts"]
    parts = ["\n".join([title, *acting])] if acting else []
    for effect, heading in _HEADINGS.items():
        names = ", ".join(flag.name for flag in flags if flag.effect == effect)
        if names:
            parts.append(
                f"{heading}\n{textwrap.fill(names, _WIDTH, initial_indent='  ', subsequent_indent='  ')}"
            )
    return parts


def _row(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else ""
    left = f"  {short}--{flag.name}{_PLACEHOLDER[flag.kind]}"
    default = flag.render(flag.default)
    facts = [f"default {default}"] if default and flag.kind != "bool" else []
    facts += [f"conf.py: {flag.conf}"] if flag.conf else []
    text = flag.help + (f" [{', '.join(facts)}]" if facts else "")
    indent = " " * _COLUMN
    if len(left) >= _COLUMN:
        return f"{left}\n{textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)}"
    return textwrap.fill(text, _WIDTH, initial_indent=left.ljust(_COLUMN), subsequent_indent=indent)
