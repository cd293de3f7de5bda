"""Tables of pages for users that the code has: ``python -m tests.contracts.drawn`` draws them again.

A page holds each between two lines, ``<!-- drawn: NAME -->`` and ``<!-- until here -->``. Guarantee: what
lies outside of these is never changed.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from paddle._fleet import strategy_fields
from paddle._launch.dialects import DIALECTS, Dialect
from paddle._launch.flag import Flag
from paddle._launch.flags import FLAGS, FLEET_FLAGS, RANK_FLAGS

ROOT = Path(__file__).resolve().parents[2]
FLEET = ROOT / "runtime" / "paddle" / "_fleet"
PAGES = ("environment", "fleet", "mpi", "porting")
REGION = re.compile(r"(?<=<!-- drawn: )(\w+)( -->\n).*?(?=<!-- until here -->)", re.DOTALL)
WIDTH = 140
OF_FLUID = ("layers", "optimizer", "initializer", "nets", "regularizer", "clip", "backward", "contrib.layers")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def flags_of_fleetrun() -> str:
    refused = code(f"--{flag.name}" for flag in FLEET_FLAGS if flag.effect == "absent")
    return acting(FLEET_FLAGS) + wrapped(f"Refused by name: {refused}.")


def flags_of_rank() -> str:
    return acting(RANK_FLAGS)


def acting(flags: Iterable[Flag]) -> str:
    """Those that do something."""

    def row(flag: Flag) -> list[str]:
        also = f", `--{flag.also}`" if flag.also else ""
        return [f"`--{flag.name}`{also}", flag.render(flag.default) or "none", flag.help]

    return table(["flag", "default", "what it says"], [row(flag) for flag in flags if flag.effect == "acts"])


def words_of_generations() -> str:
    facts: tuple[tuple[str, Callable[[Dialect], Iterable[str]]], ...] = (
        ("is spoken where these are set", lambda words: words.spoken),
        ("role", lambda words: [words.role] if words.role else []),
        ("parameter servers", lambda words: [words.pservers]),
        ("their port", lambda words: [words.port]),
        ("own address", lambda words: words.host),
        ("number of trainers", lambda words: [words.trainers]),
        ("own number", lambda words: [words.trainer_id]),
    )

    def cell(words: Dialect, names: Iterable[str]) -> str:
        texts = []
        for name in names:
            known = f" (`{words.defaults[name]}`)" if name in words.defaults else ""
            texts.append(f"`{name}`{known}" + (f", or `{words.also[name]}`" if name in words.also else ""))
        return ", ".join(texts) or "none"

    rows = [[fact, *(cell(words, of(words)) for words in DIALECTS.values())] for fact, of in facts]
    lists = ["servers are listed as", *("host:port" if w.endpoints else "hosts" for w in DIALECTS.values())]
    return table(["", *DIALECTS], [*rows, lists])


def variables_of_flags() -> str:
    """Of the launcher's flags that have variables besides PADDLE_INIT_X."""
    rows = []
    for flag in FLAGS:
        others = [name for name in flag.env if name != f"PADDLE_INIT_{flag.name.upper()}"]
        if others and "launcher" in flag.users:
            rows.append([code(others), f"`{flag.name}`", flag.help])
    return table(["variable", "flag", "what it says"], rows)


def fields_of_strategy() -> str:
    said = "\n".join(
        path.read_text() for path in FLEET.glob("*.py") if path.name not in ("strategy_fields.py",)
    )
    heeded = [name for name in strategy_fields.FLAGS if f"strategy.{name}" in said]
    configs = strategy_fields.CONFIGS["a_sync_configs"]
    keys = [name for name in configs if re.search(rf'configs(?:\[|\.get\()"{name}"', said)]
    refused = strategy_fields.OTHERWISE
    idle = [name for name in strategy_fields.FLAGS if name not in (*heeded, *refused)]
    return table(
        ["of a `DistributedStrategy`", ""],
        [
            ["heeded", code(heeded)],
            ["heeded, of `a_sync_configs`", code(keys)],
            ["refused when they are set: they would train something else", code(refused)],
            ["kept, saved and loaded, and of no effect here", code(idle)],
            ["likewise, of `a_sync_configs`", code(name for name in configs if name not in keys)],
        ],
    )


def absent_of_fluid() -> str:
    from paddle import fluid
    from paddle.fluid import _names
    from paddle.fluid._listed import LISTED

    told: dict[str, dict[str, list[str]]] = {}
    for module in OF_FLUID:
        found: Any = importlib.import_module(f"paddle.fluid.{module}")
        for name in LISTED[module].split():
            if (reason := _reason(found, name)) is not None:
                told.setdefault(reason, {}).setdefault(module, []).append(name)
    lines = [
        f"- {reason}: "
        + "; ".join(f"of `fluid.{module}` {code(names)}" for module, names in sorted(modules.items()))
        for reason, modules in sorted(told.items())
    ]
    own = [name for name in _names.ABSENT if _reason(fluid, name) is not None]
    lines.append(f"- of `fluid` itself: {code(sorted(own))}")
    return "".join(wrapped(f"{line}.", "  ") for line in lines)


def absent_of_two() -> str:
    """Those of 2.0 to 2.6, but for functions that change a tensor in its place."""
    from paddle._public_names import LISTED

    lines = []
    for module, names in LISTED.items():
        found: Any = importlib.import_module(module)
        lacking = [
            name for name in names.split() if not name.endswith("_") and _reason(found, name) is not None
        ]
        if lacking:
            lines.append(wrapped(f"- of `{module}`: {code(lacking)}.", "  "))
    return "".join(lines)


def _reason(found: Any, name: str) -> str | None:
    """Why a name is not there; None where it is."""
    from paddle._absent import NotInThisRelease
    from paddle._fleet.errors import TooEarly

    try:
        getattr(found, name)
    except TooEarly:
        return None
    except NotInThisRelease as error:
        return re.split(r"is not in this release[:;] ", str(error))[-1].rstrip(".")
    return None


def wrapped(text: str, indent: str = "") -> str:
    return (
        "\n" * (not indent)
        + fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
        + "\n"
    )


DRAWN: Mapping[str, Callable[[], str]] = {
    "flags_of_fleetrun": flags_of_fleetrun,
    "flags_of_rank": flags_of_rank,
    "words_of_generations": words_of_generations,
    "variables_of_flags": variables_of_flags,
    "fields_of_strategy": fields_of_strategy,
    "absent_of_fluid": absent_of_fluid,
    "absent_of_two": absent_of_two,
}


def drawn_again(page: str) -> str:
    """A page with its tables as the code has them now."""
    return REGION.sub(lambda found: f"{found[1]}{found[2]}\n{DRAWN[found[1]]()}\n", page)


if __name__ == "__main__":
    for name in PAGES:
        path = ROOT / "docs" / f"{name}.md"
        path.write_text(drawn_again(path.read_text(encoding="utf-8")), encoding="utf-8")
