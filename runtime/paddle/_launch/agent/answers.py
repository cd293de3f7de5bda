"""What a program on a node answers: lines of JSON, and a beat between them for as long as it works.

Before each stands ``SIGN``, by which it is told from what a login shell has to say. It must never know what
it does. Guarantee: each line is whole, whichever thread says it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
from collections.abc import Iterator

SIGN = b"\x1e"  # as RFC 7464 begins a text of JSON
BEAT_S = 2.0
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def line_of(words: object) -> bytes:
    """An answer as it is said."""
    return SIGN + json.dumps(words).encode() + b"\n"


BEAT = line_of({"beat": 1}).rstrip(b"\n")


class Answers:
    """Go to a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._saying = threading.Lock()

    def say(self, **words: object) -> None:
        """Say a line; raises OSError where nobody listens."""
        data = memoryview(line_of(words))
        with self._saying:
            while data:
                data = data[os.write(self._descriptor, data) :]

    def offer(self, **words: object) -> None:
        """Say a line, to whoever may listen."""
        with contextlib.suppress(OSError):
            self.say(**words)

    def fail(self, text: str, *, refused: bool = False) -> int:
        """Say that it was not done; gives the exit status. ``refused``: nor will it be, asked like this."""
        self.offer(failed=text, refused=refused)
        return 1

    def fail_by(self, error: OSError, setting: str) -> int:
        """Say which file would not do. ``setting``: where the user says what is below ROOT_DIR."""
        path = error.filename2 or error.filename or ""
        kept = "Nothing of it was kept. Make room there" if error.errno in NO_ROOM else "Mend that"
        return self.fail(f"{path}: {error.strerror}. {kept}, or say where else: {setting}.")

    @contextlib.contextmanager
    def beating(self) -> Iterator[None]:
        """Show who waits that there will be an answer: copying may take long, and so may a disk."""
        has_ended = threading.Event()
        threading.Thread(target=self._beat, args=(has_ended,), daemon=True).start()
        try:
            yield
        finally:
            has_ended.set()

    def _beat(self, has_ended: threading.Event) -> None:
        with contextlib.suppress(OSError):  # nobody listens
            while not has_ended.wait(BEAT_S):
                self.say(beat=1)
