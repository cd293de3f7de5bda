"""Study: the whole of ``launch``: on one, two, four and eight nodes, with short cables and with long ones.

All nodes share this machine's cores, so eight of them take eight times the processor time of one, whoever
launches them. What is judged is waiting: how much longer each phase takes for cables that are long. A phase
that goes from node to node waits for each of them, eight times as long for eight; one that goes to all at
once, as long as for one.

What the launching machine computes it computes for one node after another, whatever its threads. So that is
judged, too: what each further node costs it, beside what a launch costs it anyway.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.launch.field import Field, Launched
from benchmarks.launch.timeline import PHASES
from benchmarks.table import columns

TITLE = "launch: from the command to the first step, with a pserver and a trainer on every node"
DELAY_MS = 50.0  # each way
AT_MOST = 2.0  # the waiting of the most nodes, over that of few; one after another it would be their number
SHARE_AT_MOST = 0.15  # of a further node in the launching side's processor time, over that of a launch on one
_ANSWER_S = 2 * DELAY_MS / 1e3
_WORTH_S = 4 * _ANSWER_S  # where both wait for less than that it is not judged: other work may take as long
Runs = Mapping[tuple[int, float], Sequence[Launched]]  # by number of nodes, and delay


@dataclass(frozen=True, slots=True)
class Size:
    """How long a study is."""

    nodes: tuple[int, ...]
    rounds: int


QUICK = Size((1, 2, 4), 1)
FULL = Size((1, 2, 4, 8), 3)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one phase: how long it waits for long cables, with ``few`` nodes and with the most. ``met`` is None
    where there is nothing to judge."""

    phase: str
    few: int
    few_s: float
    most_s: float

    @property
    def ratio(self) -> float:
        """Of the two."""
        return self.most_s / max(self.few_s, 2 * _ANSWER_S)

    @property
    def met(self) -> bool | None:
        """Whether it is within the bound."""
        return self.ratio <= AT_MOST if max(self.few_s, self.most_s) >= _WORTH_S else None


@dataclass(frozen=True, slots=True)
class Share:
    """What a launch costs the launching side: on one node, and for each further one, in the first half of
    them and in the other."""

    one_s: float
    first_s: float
    last_s: float

    @property
    def further_s(self) -> float:
        """Of a further node, where that is most."""
        return max(self.first_s, self.last_s)

    @property
    def ratio(self) -> float:
        """Of a further node, to the launch on one."""
        return self.further_s / self.one_s

    @property
    def met(self) -> bool:
        """Whether it is within the bound."""
        return self.ratio <= SHARE_AT_MOST


def missing_for(plot: Path | None) -> str:
    """There is nothing to draw."""
    return "launch has no --plot" if plot is not None else ""


def study(size: Size, machine: Mapping[str, object], document: Path | None, plot: Path | None) -> bool:
    """Do it, print it, and say whether its goals were met."""
    runs = measure(size)
    for delay_ms in (0.0, DELAY_MS):
        print("\n" + "\n".join(times_table(size, runs, delay_ms)), flush=True)
    verdicts = judge(size, runs)
    print("\n" + "\n".join(waiting_table(size, verdicts)), flush=True)
    share = share_of_a_node(size, runs)
    print("\n" + "\n".join(share_lines(share)), flush=True)
    if document is not None:
        document.write_text(json.dumps(_told(machine, runs, verdicts, share), indent=2) + "\n")
    return share.met and not any(verdict.met is False for verdict in verdicts)


def measure(size: Size) -> dict[tuple[int, float], list[Launched]]:
    """Launch in turns, once all nodes have what is sent."""
    runs: dict[tuple[int, float], list[Launched]] = {}
    with Field(max(size.nodes)) as field:
        field.launch(max(size.nodes))
        for _, delay_ms, nodes in product(range(size.rounds), (0.0, DELAY_MS), size.nodes):
            field.lengthen(delay_ms)
            runs.setdefault((nodes, delay_ms), []).append(field.launch(nodes))
    return runs


def judge(size: Size, runs: Runs) -> list[Verdict]:
    """Hold the waiting of the most nodes against that of one."""
    most = max(size.nodes)
    verdicts = []
    for phase in PHASES:
        few = 2 if phase == "step" else 1  # a trainer that is alone has no cable to its pserver
        waits_s = (_waiting(runs, nodes, phase) for nodes in (few, most))
        verdicts.append(Verdict(phase, few, *waits_s))
    return verdicts


def _waiting(runs: Runs, nodes: int, phase: str) -> float:
    """How much longer a phase takes for long cables, by the shortest of each: what else goes on here only
    makes it longer."""
    far, near = (min(one.phases[phase] for one in runs[nodes, delay]) for delay in (DELAY_MS, 0.0))
    return max(0.0, far - near)


def share_of_a_node(size: Size, runs: Runs) -> Share:
    """Take the least of all rounds: what else goes on here only adds to it."""

    def of(nodes: int) -> float:
        return min(one.head_s for (count, _), several in runs.items() if count == nodes for one in several)

    *_, half, most = size.nodes
    return Share(of(1), (of(half) - of(1)) / (half - 1), (of(most) - of(half)) / (most - half))


def share_lines(share: Share) -> list[str]:
    """Say it."""
    mark = "met" if share.met else "MISSED"
    return [
        f"processor time of the launching side: {share.one_s:.2f} s for one node, and for each further one "
        f"{share.first_s * 1e3:.0f} ms in the first half of them, {share.last_s * 1e3:.0f} ms in the other",
        f"  goal: each further one <= {SHARE_AT_MOST:.2f} x the first: {share.ratio:.2f}, {mark}",
    ]


def times_table(size: Size, runs: Runs, delay_ms: float) -> list[str]:
    """A row for each phase, a column for each number of nodes: medians over rounds."""

    def of(nodes: int) -> Sequence[Launched]:
        return runs[nodes, delay_ms]

    rows = [["", *(f"{nodes} nodes" if nodes > 1 else "1 node" for nodes in size.nodes)]]
    rows += [
        [phase, *(f"{median(one.phases[phase] for one in of(n)):.2f} s" for n in size.nodes)]
        for phase in PHASES
    ]
    rows.append(["first step", *(f"{median(one.total_s for one in of(n)):.2f} s" for n in size.nodes)])
    rows.append(["CPU, all of it", *(f"{median(one.cpu_s for one in of(n)):.1f} s" for n in size.nodes)])
    rows.append(["CPU, launcher", *(f"{median(one.head_s for one in of(n)):.1f} s" for n in size.nodes)])
    return [f"cables of {delay_ms:.0f} ms each way (medians of {size.rounds})", *columns(rows)]


def waiting_table(size: Size, verdicts: Sequence[Verdict]) -> list[str]:
    """A row for each phase: its waiting, and whether more nodes make it longer."""
    marks = {True: "met", False: "MISSED", None: "no waiting"}
    rows = [["waiting for cables", "of nodes", "few", f"{max(size.nodes)}", "ratio", ""]]
    for one in verdicts:
        ratio = f"{one.ratio:.2f}" if one.met is not None else ""
        waits = [f"{one.few_s:.2f} s", f"{one.most_s:.2f} s"]
        rows.append([one.phase, str(one.few), *waits, ratio, marks[one.met]])
    return [*columns(rows), f"  goal: a ratio <= {AT_MOST:.1f} in every phase"]


def _told(
    machine: Mapping[str, object], runs: Runs, verdicts: Sequence[Verdict], share: Share
) -> dict[str, object]:
    launches = [
        {"nodes": nodes, "delay_ms": delay_ms, **asdict(one), "phases": dict(one.phases)}
        for (nodes, delay_ms), several in runs.items()
        for one in several
    ]
    judged = {"verdicts": [asdict(one) for one in verdicts], "share": asdict(share)}
    return {"machine": dict(machine), "launches": launches, **judged}
