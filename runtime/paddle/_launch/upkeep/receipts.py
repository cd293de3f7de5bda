"""What is said in the end: of an installation, of what there is to remove, and of what was removed.

It must never ask or do anything. Lines of text, and the same as objects for programs (docs/nodes.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from paddle._launch.errors import LaunchError
from paddle._launch.screens import sizes
from paddle._launch.upkeep.account import columns
from paddle._launch.upkeep.cleaning import Belonging, Listing, Removal
from paddle._launch.upkeep.installing import Outcome

_NAMED = 4
_SHOWN = ("numpy", "numba", "aiohttp")
_KINDS = {
    "job": "",
    "venv": "environment ",
    "runtime": "",
    "wheels": "",
    "remains": "rest of ",
}


def of_installation(outcomes: Sequence[Outcome], names: Sequence[str]) -> Iterator[str]:
    """A table of all nodes, and why some failed."""
    rows = [(str(outcome.node), names[outcome.node], *_cells(outcome)) for outcome in outcomes]
    yield from columns([("node", "host", "", "sent", "took", "python", "environment"), *rows])
    yield from _troubles({outcome.node: outcome.trouble for outcome in outcomes if outcome.trouble}, names)
    done = [outcome.furnished for outcome in outcomes if outcome.furnished]
    if done:
        versions = [f"{name} {done[0].packages.get(name)}" for name in _SHOWN if name in done[0].packages]
        yield f"{len(done)} of {len(outcomes)} nodes are installed: {', '.join(versions)}"
    if any(each.others for each in done):
        yield "environments that are used no more are still there on some: `fab clean` removes them"


def _troubles(troubles: Mapping[int, str], names: Sequence[str]) -> Iterator[str]:
    """What many nodes have in common is said once."""
    for trouble in dict.fromkeys(troubles.values()):
        nodes = [node for node, text in troubles.items() if text == trouble]
        who = ", ".join(f"{node} ({names[node]})" for node in nodes[:_NAMED])
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        yield f"node {who}{more}: {trouble}"


def _cells(outcome: Outcome) -> tuple[str, ...]:
    done = outcome.furnished
    if done is None:
        return "failed", "", "", "", ""
    what = "installed" if done.is_changed else "as it was"
    sent = sizes.of(done.sent) if done.sent else "-"
    return what, sent, f"{done.seconds:.1f} s", f"{done.version} {done.python}", str(done.venv)


def as_data(outcome: Outcome, names: Sequence[str]) -> dict[str, object]:
    """What came of a node, for programs."""
    told: dict[str, object] = {"event": "installed", "node": outcome.node, "host": names[outcome.node]}
    done = outcome.furnished
    if done is None:
        return {**told, "did": "failed", "trouble": outcome.trouble}
    return {
        **told,
        "did": "installed" if done.is_changed else "unchanged",
        "python": done.python,
        "version": done.version,
        "venv": str(done.venv),
        "packages": done.packages,
        "sent": done.sent,
        "seconds": done.seconds,
    }


def of_listing(
    looked: Mapping[int, Listing | LaunchError], names: Sequence[str], root: Path, now: float
) -> Iterator[str]:
    """What there is on every node, with what goes first."""
    for node, listing in looked.items():
        if isinstance(listing, LaunchError):
            yield f"node {node:<3} {names[node]}  {listing}"
            continue
        yield f"node {node:<3} {names[node]}  {root}: {sizes.of(listing.size)} to remove"
        yield from columns([("  ", *_row(one, now)) for one in listing.goes])
        for who in dict.fromkeys(one.who for one in listing.stays):
            yield f"    stays, for {who}: {', '.join(_name(one) for one in listing.stays if one.who == who)}"
        yield from (f"    left alone: {text}" for text in listing.strange)


def _row(one: Belonging, now: float) -> tuple[str, str, str]:
    holds = f", holds {' and '.join(one.holds)}" if one.holds else ""
    when = f"ended {_ago(now - one.used_s)} ago{holds}" if one.kind == "job" else ""
    return _name(one), sizes.of(one.size), when


def _name(one: Belonging) -> str:
    return f"{_KINDS[one.kind]}{Path(one.path).name}" if one.kind != "store" else "what dispatches keep"


def of_removal(removals: Mapping[int, Removal | LaunchError], names: Sequence[str]) -> Iterator[str]:
    """What was removed from every node, and what was not."""
    for node, removal in removals.items():
        if isinstance(removal, LaunchError):
            yield f"node {node:<3} {names[node]}  {removal}"
            continue
        yield f"node {node:<3} {names[node]}  removed {sizes.of(removal.size)}"
        yield from (f"    stays: {path} {why}" for path, why in removal.left)


def listing_as_data(node: int, name: str, listing: Listing | LaunchError) -> dict[str, object]:
    """The same for programs."""
    told: dict[str, object] = {"event": "there", "node": node, "host": name}
    if isinstance(listing, LaunchError):
        return {**told, "trouble": str(listing)}
    return {
        **told,
        "goes": [_as_data(one) for one in listing.goes],
        "stays": [_as_data(one) for one in listing.stays],
        "left_alone": list(listing.strange),
    }


def removal_as_data(node: int, name: str, removal: Removal | LaunchError) -> dict[str, object]:
    """The same for programs."""
    told: dict[str, object] = {"event": "removed", "node": node, "host": name}
    if isinstance(removal, LaunchError):
        return {**told, "trouble": str(removal)}
    left = [{"path": path, "why": why} for path, why in removal.left]
    return {**told, "removed": list(removal.removed), "size": removal.size, "left": left}


def _as_data(one: Belonging) -> dict[str, object]:
    return {
        "kind": one.kind,
        "path": one.path,
        "size": one.size,
        "used": round(one.used_s),
        "need": one.need,
        "who": one.who,
        "holds": list(one.holds),
    }


def has_failed(outcomes: Iterable[object]) -> bool:
    """Whether something is not as it was to be."""
    return any(isinstance(one, LaunchError) for one in outcomes)


def _ago(seconds: float) -> str:
    """Say roughly how long."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{number} {unit}{'s' * (number != 1)}"
    return "a moment"
