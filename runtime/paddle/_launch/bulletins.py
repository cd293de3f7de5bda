"""Bulletins: the news of a launch as programs read them: JSON, one object per line.

They come from ``paddle.py --format=json`` and from a launch's desk alike; docs/jobs.md lists the fields. It
must never know who reads.

Guarantee: every line is JSON by the letter, whatever locale it is written in: all of it is ASCII, and a
number that is none, such as a cost that is NaN, is null.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from paddle._launch.news import (
    Bulletin,
    Changed,
    Collected,
    Ended,
    Entered,
    Failed,
    Placed,
    Planned,
    Printed,
    Progress,
    Restarted,
    Said,
    Sent,
    Told,
    Waiting,
)

NAMES: dict[type, str] = {
    Planned: "plan",
    Entered: "phase",
    Changed: "role",
    Progress: "progress",
    Placed: "placed",
    Waiting: "waiting",
    Restarted: "restarted",
    Told: "told",
    Said: "said",
    Printed: "lines",
    Sent: "sent",
    Collected: "collected",
    Failed: "failed",
    Ended: "end",
}
OF_LOGS = (Printed,)  # what roles print is in their logs


def line(bulletin: Bulletin, now: float) -> str:
    """Write one. ``now``: seconds since 1970."""
    fields = msgspec.to_builtins(bulletin, enc_hook=str)
    return encoded({"event": NAMES[type(bulletin)], "time": round(now, 3), **fields})


def encoded(fields: object) -> str:
    """Write plain values as one line of JSON, whatever is in their texts: a path may hold any bytes."""
    try:
        text = msgspec.json.encode(fields, enc_hook=str)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_told(msgspec.to_builtins(fields, enc_hook=str)))
    return text.decode() if text.isascii() else json.dumps(msgspec.json.decode(text), separators=(",", ":"))


def read(text: bytes) -> dict[str, Any]:
    """Read a line; gives its fields, of which only ``event`` must be there."""
    found = msgspec.json.decode(text, type=dict[str, Any])
    if not isinstance(found.get("event"), str):
        raise msgspec.ValidationError("a bulletin says which event it is")
    return found


def _told(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {key: _told(one) for key, one in value.items()}
        case list() | tuple():
            return [_told(one) for one in value]
    return value
