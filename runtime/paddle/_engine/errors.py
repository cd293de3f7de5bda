"""What can go wrong in the engine. What a program asked for that cannot be is a complaint as well.

EngineError
├── ShapeError            shapes or dtypes of a program or a feed do not fit
│   └── DtypeError        whole numbers where floats are computed with
├── UnknownOperator       a program names an operator that is not registered
├── NotDifferentiable     a gradient was asked of something that has none
├── FeedError             a feed or fetch that the program does not have, or an id outside its table
├── UnknownName           an optimizer, schedule or initializer that does not exist
├── BadModelFile          a file of parameters that is damaged, or says what cannot be
└── ExchangeError         the place where parameters live refused or could not be reached
"""

from __future__ import annotations

from paddle._complaint import Complaint


class EngineError(Exception):
    """Base of all errors of the engine."""


class ShapeError(Complaint, EngineError, ValueError):
    """Shapes or dtypes of a program or a feed do not fit together."""


class DtypeError(ShapeError, TypeError):
    """An operator that computes with floats is given whole numbers."""


class UnknownOperator(EngineError, KeyError):
    """A program names an operator that is not registered."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NotDifferentiable(EngineError):
    """A gradient was asked of something that has none."""


class FeedError(Complaint, EngineError, ValueError):
    """A feed or fetch that the program does not have, or a value that it cannot take."""


class UnknownName(Complaint, EngineError, ValueError):
    """An optimizer, schedule or initializer that does not exist; the message lists those that do."""


class BadModelFile(Complaint, EngineError, ValueError):
    """A file of parameters that is damaged, cut off, or says what cannot be; nothing of it is taken."""


class ExchangeError(EngineError):
    """The place where the parameters live refused a request or could not be reached."""
