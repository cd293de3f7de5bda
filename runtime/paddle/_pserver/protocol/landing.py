"""Landing: where the values of an answer are received, and how much of them has landed.

It must never know whose values these are. Guarantee: what has landed is right and is not written again, so
that it may be used while the rest is on its way: an answer that comes anew, as on another connection, brings
only what has not landed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Landing:
    """See the module's text. ``into``: byte views; ``on_more`` is called when more has landed."""

    def __init__(self, into: Sequence[memoryview] = (), on_more: Callable[[], None] | None = None) -> None:
        self.bytes_landed = 0
        self._into = into
        self._on_more = on_more

    def views(self) -> Sequence[memoryview]:
        """Where to write an answer, from its beginning."""
        if not self.bytes_landed:
            return self._into
        views, size = [memoryview(bytearray(self.bytes_landed))], self.bytes_landed
        for view in self._into:
            views.append(view[min(size, view.nbytes) :])
            size -= min(size, view.nbytes)
        return views

    def told(self, checked: int) -> None:
        """So many bytes of the answer under way are right."""
        if checked > self.bytes_landed:
            self.bytes_landed = checked
            if self._on_more is not None:
                self._on_more()
