"""What can go wrong with a call of v2: complaints, so that a program that catches none ends in one paragraph.

Programs catch ``ValueError`` or ``TypeError``, as ever.
"""

from __future__ import annotations

from paddle._complaint import Complaint


class WrongCall(Complaint, ValueError, TypeError):
    """A layer, an optimizer or the trainer was given what it cannot take."""
