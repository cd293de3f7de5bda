"""``fleet.util``'s class, by its name of 2.x."""

from paddle._fleet.together import UtilBase

__all__ = ["UtilBase"]
