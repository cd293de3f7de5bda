"""The door to the parameter server: where the exchange of a program comes from.

It must never know a program's operators. Guarantee: a program that names no carrier trains in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from paddle._engine.exchange import Exchange


def exchange_of(carrier: Any) -> Exchange:
    """A new exchange: what ``carrier`` gives, or one in this process."""
    if carrier is not None:
        return cast("Exchange", carrier())
    from paddle._pserver.trainer.local import LocalExchange

    return LocalExchange()
