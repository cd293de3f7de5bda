"""An operator that is lowered to those of the engine, what it is given, and what others make of the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tests.program.hosts.case import Case


@dataclass(frozen=True)
class Row(Case):
    """Of which no ``of`` asks for gradients of all floats that are no list."""

    is_lowered: ClassVar[bool] = True

    @property
    def learns(self) -> list[str]:
        if self.of is not None:
            return self.of.split()
        single = {slot: value for slot, value in self.inputs.items() if not isinstance(value, list)}
        return [slot for slot, value in single.items() if value.dtype.kind == "f"]
