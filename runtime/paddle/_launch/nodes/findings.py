"""What was found about nodes: one thing each, well or not, in one paragraph that says what to do.

It must never know how it was found out. Guarantee: no byte that a node sent is obeyed by a terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from paddle._visible import visible

FEW_NODES = 4  # of more, what is well takes one line each
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
    ``whole``: what is well on many nodes is shown one by one, too."""

    def __init__(self, names: Sequence[str], *, width: int | None, is_coloured: bool, whole: bool) -> None:
        self._places = {None: _LAUNCH} | {node: f"node {node} {name}" for node, name in enumerate(names)}
        self._left = max(map(len, self._places.values()))
        self._width = width
        self._is_coloured = is_coloured
        self._whole = whole or len(names) <= FEW_NODES

    def lines(self, findings: Sequence[Finding]) -> Iterator[str]:
        """Give them by nodes, in order."""
        for node in self._places:
            here = [one for one in findings if one.node == node]
            well = [one for one in here if one.state is State.OK]
            if not self._whole and node is not None and well:
                words = " ".join(one.what for one in well)
                yield from self._line(Finding(node, "", State.OK, words))
            for one in here:
                if self._whole or one not in well:
                    yield from self._line(one)

    def _line(self, one: Finding) -> Iterator[str]:
        head = f"{self._places[one.node]:<{self._left}}  {one.state:<4}  {one.what:<9} "
        room = (self._width or 0) - len(head)
        text = visible(one.text)
        lines = textwrap.wrap(text, room, break_on_hyphens=False) if room >= _NARROWEST else [text]
        colour = _COLOURS[one.state]
        state = f"  {one.state:<4}  "
        shown = head.replace(state, f"\x1b[{colour}m{state}\x1b[0m", 1) if self._is_coloured else head
        yield f"{shown}{lines[0] if lines else ''}".rstrip()
        yield from (" " * len(head) + line for line in lines[1:])


def summary(findings: Sequence[Finding], nodes: int) -> str:
    """All of it in a line."""
    count = {state: sum(one.state is state for one in findings) for state in State}
    if failed := count[State.FAIL]:
        bad = {one.node for one in findings if one.state is State.FAIL} - {None}
        where = f", on {len(bad)} of {nodes} nodes" if bad else ""
        return f"no job can be launched before these are mended: {failed} FAIL{where}"
    warned = f"; {count[State.WARN]} to be looked at" if count[State.WARN] else ""
    where = "this node" if nodes == 1 else f"these {nodes} nodes"
    return f"a job can be launched on {where}{warned}"
