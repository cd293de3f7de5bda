"""Lines: what comes from a pipe, or a file, cut as people read it.

It must never know who prints. Guarantee: memory is bounded, whatever comes: no line is given longer than
``longest`` bytes, and one that is longer is given once, with a mark, however long it goes on.

Bars that write over themselves, with carriage returns, are given as a terminal would show them in the end;
one that goes on for longer than a line may is given now and then, as it stands.
"""

from __future__ import annotations

LONGEST_LINE = 1 << 13
_CUT = " ... (a long line, cut here)"


class Lines:
    """See the module's text."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = b""
        self._is_cut = False  # what comes belongs to a line that was given, up to its end

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes; gives the lines that are whole now."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        lines = [self._text(line) for line in whole if not self._belongs_to_cut()]
        if len(self._rest) > self._longest and not self._is_cut:
            lines.append(self._give_way())
        elif self._is_cut:
            self._rest = b""
        return lines

    def finish(self) -> list[str]:
        """Give the last line where no line end follows it."""
        rest, self._rest = self._rest, b""
        return [self._text(rest)] if rest and not self._belongs_to_cut() else []

    def _belongs_to_cut(self) -> bool:
        """Whether a line that ends here is the rest of one that was given."""
        was_cut, self._is_cut = self._is_cut, False
        return was_cut

    def _give_way(self) -> str:
        """Give what is too long to be kept, of a bar how it stands."""
        before, is_bar, after = self._rest.rpartition(b"\r")
        if is_bar and len(after) <= self._longest:
            self._rest = after
            return self._text(before)
        line, self._rest, self._is_cut = self._rest, b"", True
        return self._text(line)

    def _text(self, line: bytes) -> str:
        shown = line.rstrip(b"\r").rpartition(b"\r")[2]
        if len(shown) <= self._longest:
            return shown.decode("utf-8", "replace")
        return shown[: self._longest].decode("utf-8", "replace") + _CUT
