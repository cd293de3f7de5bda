"""Transpilers that the plan makes needless: names that programs still call.

Guarantee: a program is left as it is; what they were for is done whenever it is run.
"""

from __future__ import annotations

from typing import Any


def memory_optimize(
    input_program: Any,
    skip_opt_set: Any = None,
    print_log: bool = False,
    level: int = 0,
    skip_grads: bool = False,
) -> None:
    """Nothing to do: a plan gives memory that nobody reads any more to others by itself."""


def release_memory(input_program: Any, skip_opt_set: Any = None) -> None:
    """Nothing to do: see memory_optimize."""


class InferenceTranspiler:
    """Folded batch normalisation into convolutions."""

    def transpile(self, program: Any, place: Any = None, scope: Any = None) -> None:
        """Nothing to do: the program gives the same values, and is left as it is."""
