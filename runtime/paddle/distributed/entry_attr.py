"""Which ids of a table get a row: ``paddle.distributed.CountFilterEntry`` and its family.

They must never know a table. Guarantee: numbers that cannot be are errors when one is made.
"""

from __future__ import annotations

__all__ = ["CountFilterEntry", "EntryAttr", "ProbabilityEntry", "ShowClickEntry"]


class EntryAttr:
    """What all have in common: a name and a number."""

    _name = ""
    _number: float = 0

    def _to_attr(self) -> str:
        """As an operator's attribute says it."""
        if not self._name:
            raise NotImplementedError("EntryAttr is the base class: give an entry of its family")
        return f"{self._name}:{self._number}"


class CountFilterEntry(EntryAttr):
    """An id gets a row with its sighting number ``count_filter``."""

    _name = "count_filter_entry"

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int) or isinstance(count_filter, bool) or count_filter < 0:
            raise ValueError(f"count_filter must be a valid integer, 0 or more, and not {count_filter!r}")
        self._number = count_filter


class ProbabilityEntry(EntryAttr):
    """An id gets a row with each sighting so probably."""

    _name = "probability_entry"

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise ValueError(f"probability must be a float in (0, 1), and not {probability!r}")
        self._number = probability


class ShowClickEntry(EntryAttr):
    """Every id gets a row. ``show_name`` and ``click_name`` are the variables that say how often what a
    sample tells of was shown and clicked, for accessors that forget rows by these; this release sweeps rows
    by the sightings it counts itself (``fleet.shrink``)."""

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise ValueError("show_name and click_name must be a str")
        self._show_name, self._click_name = show_name, click_name

    def _to_attr(self) -> str:
        """As an operator's attribute says it."""
        return f"show_click_entry:{self._show_name}:{self._click_name}"
