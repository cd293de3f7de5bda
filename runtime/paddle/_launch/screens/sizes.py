"""How much something is, in words: one way to say it, wherever it is said."""

from __future__ import annotations


def of(size: float) -> str:
    """Say how many bytes, by thousands: 512 bytes, 1 kB, 1.5 MB."""
    if size < 1e3:
        return f"{size:.0f} bytes"
    if size < 1e6:
        return f"{size / 1e3:,.0f} kB"
    unit, many = next((one for one in (("MB", 1e6), ("GB", 1e9)) if size < 1e3 * one[1]), ("TB", 1e12))
    return f"{size / many:,.1f} {unit}"
