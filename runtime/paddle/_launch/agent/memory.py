"""The agent where nothing of ours is on the disk: its modules come as text, by standard input.

This text goes before them and runs first, so that it is Python 3.7's: an older Python than the agent needs
must come as far as saying so.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import signal
import sys

OLDEST = (3, 11)


class Texts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in ``texts``: name -> source."""

    def __init__(self, texts):  # type: ignore[no-untyped-def]  # see above
        self._texts = texts

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        """Find a module."""
        if name not in self._texts:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name == "agent")

    def exec_module(self, module):  # type: ignore[no-untyped-def]
        """Run its text."""
        text = self._texts[module.__name__]
        exec(compile(text, module.__name__, "exec"), module.__dict__)


def run(texts, entry):  # type: ignore[no-untyped-def]
    """Run the ``main`` of a module; gives its status."""
    if sys.version_info < OLDEST:
        sys.exit("its Python %s is %d.%d" % (sys.executable, *sys.version_info[:2]))  # noqa: UP031
    sys.meta_path.insert(0, Texts(texts))  # type: ignore[no-untyped-call]
    main = importlib.import_module(entry).main
    signal.alarm(0)  # what runs from here on has a clock of its own
    sys.exit(main())
