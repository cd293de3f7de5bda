"""Who may not talk to whom, as rules of a firewall on a bridge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

TABLE = "lab_partition"
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
