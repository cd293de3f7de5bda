"""The name that ``paddle.v2.plot`` has had since 1.0.

It must never draw. Guarantee: ``Ploter`` is the very class of ``paddle.v2.plot``.
"""

from paddle.v2.plot import Ploter

__all__ = ["Ploter"]
