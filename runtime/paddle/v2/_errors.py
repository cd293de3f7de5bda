"""What can go wrong in a program of v2: complaints; a program that catches none ends in one paragraph.

Programs catch ``ValueError`` or ``TypeError`` of a wrong call, as ever.
"""

from __future__ import annotations

from paddle._complaint import Complaint


class WrongCall(Complaint, ValueError, TypeError):
    """A layer, an optimizer or the trainer was given what it cannot take."""


class Diverged(Complaint, FloatingPointError):
    """A cost became infinite or NaN."""

    exit_status = 1
