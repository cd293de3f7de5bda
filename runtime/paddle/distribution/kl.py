"""How far two distributions are apart: ``kl_divergence``, and ``register_kl`` for pairs of one's own.

It must never know a formula: each distribution has that of its kind. Guarantee: of several pairs that fit the
one of the nearest classes is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle.distribution.distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KNOWN: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(cls_p: type, cls_q: type) -> Callable[[Any], Any]:
    """The function that follows tells how far a ``cls_q`` is from a ``cls_p``."""
    if not (issubclass(cls_p, Distribution) and issubclass(cls_q, Distribution)):
        raise TypeError("cls_p and cls_q must be subclass of Distribution")

    def known(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _KNOWN[cls_p, cls_q] = function
        return function

    return known


def kl_divergence(p: Any, q: Any) -> Any:
    """How far ``q`` is from ``p``: by what was registered, or else as ``p`` says."""
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in _KNOWN:
                return _KNOWN[one, other](p, q)
    if not isinstance(q, type(p)) and not isinstance(p, type(q)):
        raise NotImplementedError(
            f"how far a {type(q).__name__} is from a {type(p).__name__} is not known: register_kl tells it"
        )
    return p.kl_divergence(q)
