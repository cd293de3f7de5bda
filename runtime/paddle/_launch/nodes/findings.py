"""What was found about nodes: one thing each, well or not, in one paragraph that says what to do.

It must never know how it was found out. Guarantee: no byte that a node sent is obeyed by a terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from paddle._visible import visible

FEW_NODES = 4  # of more, what is the same is said once
_LAUNCH = "launch"  # where a line stands that is not of one node
_NARROWEST = 40  # what is left for the words
_COLOURS = {"ok": 32, "warn": 33, "FAIL": 31}


class State(StrEnum):
    """How it stands. Only what fails keeps a job from running."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One. ``node``: None for what is not of one node. ``what``: it is about, in one word."""

    node: int | None
    what: str
    state: State
    text: str


class Table:
    """Shows findings, a line each. ``names``: of nodes; ``width``: of a terminal, for which lines are broken;
    ``whole``: also of many nodes each is shown by itself."""

    def __init__(self, names: Sequence[str], *, width: int | None, is_coloured: bool, whole: bool) -> None:
        self._names = names
        self._width = width
        self._is_coloured = is_coloured
        self._whole = whole or len(names) <= FEW_NODES

    def lines(self, findings: Sequence[Finding]) -> Iterator[str]:
        """Give them, of the launch first, then by nodes; of many nodes what is the same only once."""
        rows = [(_LAUNCH, one) for one in findings if one.node is None]
        of_nodes = [one for one in findings if one.node is not None]
        rows += self._each(of_nodes) if self._whole else self._together(of_nodes)
        left = max((len(place) for place, _ in rows), default=0)
        for place, one in rows:
            yield from self._line(place.ljust(left), one)

    def _each(self, findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
        ordered = sorted(findings, key=lambda one: one.node or 0)
        return [(self._place([one.node or 0]), one) for one in ordered]

    def _together(self, findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
        wells: dict[int, list[str]] = {}
        for one in findings:
            if one.state is State.OK:
                wells.setdefault(one.node or 0, []).append(one.what)
        told = [Finding(node, "", State.OK, " ".join(whats)) for node, whats in wells.items()]
        told += [one for one in findings if one.state is not State.OK]
        groups: dict[Finding, list[int]] = {}
        for one in sorted(told, key=lambda one: one.node or 0):
            groups.setdefault(replace(one, node=None), []).append(one.node or 0)
        return [(self._place(nodes), one) for one, nodes in groups.items()]

    def _place(self, nodes: Sequence[int]) -> str:
        return f"node {nodes[0]} {self._names[nodes[0]]}" if len(nodes) == 1 else f"nodes {numbers(nodes)}"

    def _line(self, place: str, one: Finding) -> Iterator[str]:
        head = f"{place}  {one.state:<4}  {one.what:<9} "
        room = (self._width or 0) - len(head)
        text = visible(one.text)
        lines = textwrap.wrap(text, room, break_on_hyphens=False) if room >= _NARROWEST else [text]
        state = f"  {one.state:<4}  "
        colour = _COLOURS[one.state]
        shown = head.replace(state, f"\x1b[{colour}m{state}\x1b[0m", 1) if self._is_coloured else head
        yield f"{shown}{lines[0] if lines else ''}".rstrip()
        yield from (" " * len(head) + line for line in lines[1:])


def numbers(nodes: Sequence[int]) -> str:
    """Say them in short: 0-3, 7."""
    parts: list[list[int]] = []
    for node in sorted(nodes):
        if parts and parts[-1][-1] == node - 1:
            parts[-1].append(node)
        else:
            parts.append([node])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def summary(findings: Sequence[Finding], nodes: int) -> str:
    """All of it in a line."""
    count = {state: sum(one.state is state for one in findings) for state in State}
    if failed := count[State.FAIL]:
        bad = {one.node for one in findings if one.state is State.FAIL} - {None}
        where = f", on {len(bad)} of {nodes} nodes" if bad else ""
        return f"no job can be launched until these are fixed: {failed} FAIL{where}"
    warned = f"; {count[State.WARN]} to be looked at" if count[State.WARN] else ""
    where = "this node" if nodes == 1 else f"these {nodes} nodes"
    return f"a job can be launched on {where}{warned}"
