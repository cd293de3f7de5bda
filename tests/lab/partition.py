"""Who may not talk to whom, as rules of a firewall on a bridge."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

TABLE, _DARK = "lab_partition", "lab_dark"
HEALED = f"table bridge {TABLE}\ndelete table bridge {TABLE}\n"


def rules(addresses: Mapping[str, str], groups: Sequence[Sequence[str]]) -> str:
    """For ``nft -f -`` where the bridge is; they take the place of earlier ones at once."""
    pairs = ", ".join(f"{addresses[one]} . {addresses[two]}" for one, two in apart(list(addresses), groups))
    if not pairs:
        return HEALED
    packets = f"ip saddr . ip daddr {{ {pairs} }} counter drop"
    questions = f"arp saddr ip . arp daddr ip {{ {pairs} }} drop"
    chains = [
        f"chain at_{hook} {{ type filter hook {hook} priority 0; {packets}; {questions}; }}"
        for hook in ("forward", "input", "output")
    ]
    return f"{HEALED}table bridge {TABLE} {{\n" + "\n".join(chains) + "\n}\n"


@contextlib.contextmanager
def dark(set_rules: Callable[[str], None], address: str, port: int) -> Iterator[None]:
    """Nothing of the connections between ``address`` and this port of another place arrives, on either side;
    all others are as they were. ``set_rules``: what takes rules."""
    healed = f"table bridge {_DARK}\ndelete table bridge {_DARK}\n"
    ends = (f"ip daddr {address} tcp sport {port} drop", f"ip saddr {address} tcp dport {port} drop")
    chains = [
        f"chain at_{hook} {{ type filter hook {hook} priority 0; {'; '.join(ends)}; }}"
        for hook in ("forward", "input", "output")
    ]
    set_rules(f"{healed}table bridge {_DARK} {{\n" + "\n".join(chains) + "\n}\n")
    try:
        yield
    finally:
        set_rules(healed)


def apart(places: Iterable[str], groups: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Ordered pairs of places that no group has both of; who is in none makes one more group."""
    places = list(places)
    named = {place for group in groups for place in group}
    if unknown := named - set(places):
        raise KeyError(f"there is no {sorted(unknown)}, only {places}")
    together = [set(group) for group in groups] + [set(places) - named]
    return [
        (one, two)
        for one in places
        for two in places
        if one != two and not any({one, two} <= group for group in together)
    ]
