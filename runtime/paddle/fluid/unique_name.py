"""Names that no other variable has.

It must never hold names. Guarantee: they are those of the programs' room.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.unique_name import UniqueNameGenerator, generate, guard

__all__ = ["UniqueNameGenerator", "generate", "generate_with_ignorable_key", "guard", "switch"]

generate_with_ignorable_key = generate


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> tuple[UniqueNameGenerator, Any]:
    """Take names from another generator, a new one if None; gives a pair, the one before and, as 1.8 does,
    what checked names of parameters that are computed with at once: None here. Takes such a pair, too."""
    given = new_generator[0] if isinstance(new_generator, tuple) else new_generator
    return unique_name.switch(given), None


def __getattr__(name: str) -> Any:
    if name == "generator":
        return unique_name.generator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
