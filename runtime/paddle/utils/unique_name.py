"""Names that no other variable has: ``paddle.utils.unique_name``.

It must never hold names. Guarantee: they are those of the programs' room.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.unique_name import generate, guard

__all__ = ["generate", "generate_with_ignorable_key", "guard", "switch"]

generate_with_ignorable_key = generate


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> tuple[Any, Any]:
    """Take names from another generator, a new one if None; gives the one before, and, as there is nothing to
    check where nothing is computed at once, None."""
    return unique_name.switch(new_generator), None
