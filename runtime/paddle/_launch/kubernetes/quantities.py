"""Quantities as Kubernetes writes them, read as what they are of.

Pure. It must never know a cluster. Guarantee: what an API server would take for another amount than was meant
(512m of memory is half a byte) is no quantity here, and what was probably meant is said.
"""

from __future__ import annotations

import re

_UNITS = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "Ki": 1 << 10,
    "Mi": 1 << 20,
    "Gi": 1 << 30,
    "Ti": 1 << 40,
}
_BYTES = re.compile(r"(\d+(?:\.\d+)?)(k|Ki|Mi|Gi|Ti|M|G|T)?")
_PROCESSORS = re.compile(r"(\d+(?:\.\d+)?)m?")
_LOOSE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_MEANT = {"": "Mi", "k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti"}


def wrong_processors(text: str) -> str:
    """Why it is no number of processors; empty where it is one."""
    if _PROCESSORS.fullmatch(text):
        return ""
    return f"{text!r} is not a quantity of processors: 2, 0.5, or 500m for half a one."


def wrong_bytes(text: str, least: int, what: str) -> str:
    """Why it is no number of bytes, or one below ``least``; empty where it is enough. ``what``: who needs
    as much, in words."""
    found = _BYTES.fullmatch(text)
    if found is None:
        thousandths = " (m is thousandths of a byte)" if re.fullmatch(r"[\d.]+m", text) else ""
        return f"{text!r} is not a quantity of bytes{thousandths}: {_meant(text, least) or '512Mi or 4Gi'}."
    if float(found[1]) * _UNITS[found[2] or ""] < least:
        meant = _meant(text, least)
        return (
            f"{text!r} is too little: {what} {least >> 20}Mi{meant and f'. {meant[:1].upper()}{meant[1:]}'}."
        )
    return ""


def _meant(text: str, least: int) -> str:
    """What somebody who writes so may want, where that would be enough."""
    found = _LOOSE.fullmatch(text)
    if found is None:
        return ""
    unit = _MEANT[found[2].lower()]
    is_enough = float(found[1]) * _UNITS[unit] >= least
    return f"was {found[1]}{unit} meant?" if is_enough and f"{found[1]}{unit}" != text else ""
