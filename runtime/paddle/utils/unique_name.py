"""Names that no other variable has: ``paddle.utils.unique_name``.

It must never hold code of its own. Guarantee: each name is the very function of the programs' room.
"""

from __future__ import annotations

from paddle._program.description.unique_name import generate, guard, switch

__all__ = ["generate", "generate_with_ignorable_key", "guard", "switch"]

generate_with_ignorable_key = generate
