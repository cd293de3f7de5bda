"""The agent where nothing of ours is on the disk: its modules come by standard input.

This text goes before them and runs first, so that it is Python 3.7's: an older Python than the agent needs
must come as far as saying so. What it imports is little, for a node loads it for every program.

Behind it come the modules twice, each time a dictionary by their names, packed: as this launcher's Python
has compiled them, which a Python of the same kind need not do again, and as texts, for all others.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import signal
import sys
import zlib

OLDEST = (3, 11)


class Modules:
    """Finds modules in ``found``: name -> source, or what was made of it."""

    def __init__(self, found):  # type: ignore[no-untyped-def]  # see above
        self._found = found

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        """Find a module."""
        if name not in self._found:
            return None
        is_package = name == "agent"
        return importlib.util.spec_from_loader(name, self, is_package=is_package)  # type: ignore[arg-type]

    def create_module(self, spec):  # type: ignore[no-untyped-def]
        """Make it as others are made."""

    def exec_module(self, module):  # type: ignore[no-untyped-def]
        """Run it."""
        code = self._found[module.__name__]
        if isinstance(code, str):
            code = compile(code, module.__name__, "exec")
        exec(code, module.__dict__)


def kind() -> str:
    """What Pythons have in common that understand what each other has compiled."""
    return "%s %s" % (sys.implementation.cache_tag, importlib.util.MAGIC_NUMBER.hex())  # noqa: UP031


def run(read, size, digest, codes, of_kind, entry):  # type: ignore[no-untyped-def]
    """Run the ``main`` of a module; gives its status. ``size``, ``digest``: of what ``read`` will give;
    ``codes``: how much of it is compiled, ``of_kind``."""
    if sys.version_info < OLDEST:
        sys.exit("its Python %s is %d.%d" % (sys.executable, *sys.version_info[:2]))  # noqa: UP031
    packed = read(size)
    if hashlib.sha256(packed).hexdigest() != digest:
        sys.exit(65)
    is_known = of_kind == kind()
    modules = marshal.loads(zlib.decompress(packed[:codes] if is_known else packed[codes:]))
    sys.meta_path.insert(0, Modules(modules))  # type: ignore[no-untyped-call]
    main = importlib.import_module(entry).main
    signal.alarm(0)  # what runs from here on has a clock of its own
    sys.exit(main())
