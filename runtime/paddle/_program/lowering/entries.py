"""Entries: which ids of an open table get a row, as attributes of operators say it.

It must never know a table. Guarantee: what upstream has and this release has not is refused by name.
"""

from __future__ import annotations

from paddle._absent import NotInThisRelease
from paddle._engine.entry import Entry
from paddle._program.errors import BadProgram


def entry_of(said: str) -> Entry:
    """``none``, ``count_filter_entry:5``, ``probability_entry:0.1`` or ``show_click_entry:show:click``."""
    if said == "none":
        return Entry()
    name, _, number = said.partition(":")
    if name == "show_click_entry":  # says what was shown and clicked, and holds no id back
        return Entry()
    if name not in ("count_filter_entry", "probability_entry"):
        raise NotInThisRelease(
            f"entry {said!r} of a table is not in this release: it has CountFilterEntry, "
            "ProbabilityEntry and ShowClickEntry"
        )
    try:
        return Entry("count" if name == "count_filter_entry" else "probability", float(number))
    except ValueError as error:
        raise BadProgram(f"entry {said!r} of a table: {error}") from error
