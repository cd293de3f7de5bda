"""Case: an operator that is tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """An operator on some inputs and what numpy says of its first output."""

    type: str
    inputs: dict[str, Any]
    twin: Callable[[], np.ndarray]
    attrs: dict[str, Any] = field(default_factory=dict)
    has_slope: bool = True  # that central differences find

    def slots(self, dtype: type) -> dict[str, list[np.ndarray]]:
        listed = {slot: [v] if isinstance(v, np.ndarray) else v for slot, v in self.inputs.items()}
        return {
            slot: [a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays]
            for slot, arrays in listed.items()
        }

    def __str__(self) -> str:
        return f"{self.type}{self.attrs or ''}"
