"""A wheelhouse: a folder of this machine with all wheels that a kind of node needs. It is kept, and so an
installation asks the network only where a node of a new kind comes, or what is needed has changed.

It must never know a node. Guarantee: what is in one is complete (closure.py) and as it was fetched, by
digest; one that is not there whole is not there.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from paddle._launch.digests import DigestCache
from paddle._launch.errors import DeliveryError, NodeUnfit
from paddle._launch.upkeep import closure, picking
from paddle._launch.upkeep.closure import Wheel
from paddle._launch.upkeep.interpreter import Interpreter
from paddle._launch.workspace import Entry, contents

TOOL = "pip"  # which installs the others, and is not installed itself
_INVENTORY = "wheelhouse.json"
_ROUNDS = 24


class Wheelhouse(msgspec.Struct, frozen=True, kw_only=True):
    """One. ``digests``: SHA-256 of each file."""

    folder: Path
    wheels: tuple[Wheel, ...]
    digests: dict[str, str]

    @property
    def packages(self) -> dict[str, str]:
        """What is to be installed: name -> version."""
        return {wheel.name: wheel.version for wheel in self.wheels if wheel.name != TOOL}

    @property
    def tool(self) -> str:
        """The file of pip's own wheel."""
        return next(wheel.file for wheel in self.wheels if wheel.name == TOOL)

    @property
    def unpacked(self) -> int:
        """Bytes of all that is to be installed."""
        return sum(wheel.unpacked for wheel in self.wheels if wheel.name != TOOL)

    @property
    def files(self) -> int:
        """How many files that is."""
        return sum(wheel.files for wheel in self.wheels if wheel.name != TOOL)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What travels."""
        return contents(self.folder)

    @property
    def size(self) -> int:
        """Bytes of what travels."""
        return sum(entry.size for entry in self.entries)

    @property
    def digest(self) -> str:
        """The same for the same wheels."""
        return sha256(json.dumps(sorted(self.digests.items())).encode()).hexdigest()[:16]


class Wheelhouses:
    """All that are kept in ``folder``.

    ``wanted``: requirements. ``pins``: versions that this machine has of some of them, which nodes get, too,
    where there are wheels: what was tried here runs there, and gives the same numbers.
    """

    def __init__(
        self, folder: Path, wanted: Iterable[str], pins: Mapping[str, str], digests: DigestCache
    ) -> None:
        self._folder = folder
        self._wanted = tuple(wanted)
        self._names = {canonicalize_name(Requirement(text).name) for text in self._wanted}
        self._pins = dict(pins)
        self._digests = digests

    def of(
        self,
        interpreter: Interpreter,
        tell: Callable[[str], None],
        *,
        fresh: bool = False,
    ) -> Wheelhouse:
        """Give the wheelhouse for a kind of node; ``fresh``: fetched now."""
        place = self._folder / self._name(interpreter)
        kept = None if fresh else self._read(place)
        if kept is None:
            tell(f"fetching wheels for {interpreter}")
            self._make(place, interpreter, tell)
            kept = self._read(place)
        if kept is None:
            raise DeliveryError(f"{place} was changed while it was made. Start again.")
        return kept

    def _name(self, interpreter: Interpreter) -> str:
        """By what is in it: another release asks for others, as does a machine that has other versions."""
        asked = json.dumps(
            [self._wanted, sorted(self._pins.items()), interpreter.platforms, interpreter.release]
        )
        libc = "-".join(interpreter.libc)
        return f"{interpreter.abi}-{interpreter.machine}-{libc}-{sha256(asked.encode()).hexdigest()[:12]}"

    def _read(self, place: Path) -> Wheelhouse | None:
        """Read one; None where it is not there as it was made."""
        try:
            inventory = msgspec.json.decode((place / _INVENTORY).read_bytes(), type=Inventory)
            paths = [place / "wheels" / wheel.file for wheel in inventory.wheels]
            found = self._digests.of_all(paths, lambda: False)
        except (OSError, msgspec.MsgspecError, DeliveryError):
            return None
        digests = {path.name: digest.sha256 for path, digest in found.items()}
        if digests != inventory.digests:
            return None
        return Wheelhouse(folder=place / "wheels", wheels=inventory.wheels, digests=digests)

    def _make(self, place: Path, interpreter: Interpreter, tell: Callable[[str], None]) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=self._folder))
            try:
                wheels = self._picked(part / "wheels", interpreter, tell)
                self._keep(part, wheels)
                shutil.rmtree(place, ignore_errors=True)
                part.replace(place)
            finally:
                shutil.rmtree(part, ignore_errors=True)
        except OSError as error:
            raise DeliveryError(
                f"cannot keep wheels: {error.filename}: {error.strerror}. Make room, or fix that."
            ) from error

    def _keep(self, part: Path, wheels: tuple[Wheel, ...]) -> None:
        found = self._digests.of_all([part / "wheels" / wheel.file for wheel in wheels], lambda: False)
        inventory = Inventory(wheels=wheels, digests={path.name: one.sha256 for path, one in found.items()})
        (part / _INVENTORY).write_bytes(msgspec.json.encode(inventory))

    def _picked(
        self, folder: Path, interpreter: Interpreter, tell: Callable[[str], None]
    ) -> tuple[Wheel, ...]:
        """Fetch until nothing is lacking; versions of this machine that nodes cannot have are given up."""
        pins, more = dict(self._pins), list[str]()
        for _ in range(_ROUNDS):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                picking.fetch([*_pinned(self._wanted, pins), TOOL, *more], interpreter, folder)
            except picking.Unmet as error:
                given_up = [name for name in error.names if name in pins]
                if not given_up and (not pins or self._names & set(error.names)):
                    raise _no_wheels(interpreter, error) from error
                given_up = given_up or list(pins)  # of what one of them requires there is none
                tell(f"{interpreter} may get other versions than this machine's of {', '.join(given_up)}")
                for name in given_up:
                    del pins[name]
                continue
            wheels = tuple(closure.read(path) for path in sorted(folder.glob("*.whl")))
            missing = closure.lacking(wheels, [*self._wanted, TOOL], interpreter.marks)
            if not missing:
                return wheels
            if set(missing) <= set(more):
                break
            more += missing
        raise DeliveryError(
            f"pip finds no wheels for {interpreter} that go together: {', '.join(more)} is asked for, and "
            "not what comes. Wheels of your own are taken, too: PIP_FIND_LINKS=FOLDER fab install --fresh."
        )


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """What is written beside the wheels."""

    wheels: tuple[Wheel, ...]
    digests: dict[str, str]


def _pinned(wanted: Iterable[str], pins: Mapping[str, str]) -> list[str]:
    names = {text: Requirement(text).name for text in wanted}
    return [f"{name}=={pins[name]}" if name in pins else text for text, name in names.items()]


def _no_wheels(interpreter: Interpreter, error: picking.Unmet) -> NodeUnfit:
    what = ", ".join(error.names) or "what is needed"
    hint = ""
    if "from versions: none" in str(error):
        hint = " It says the same where an index does not answer."
    if interpreter.libc[0] == "musl":
        hint = " Few compiled packages are built for musl: take nodes with glibc."
    return NodeUnfit(
        f"there are no wheels of {what} for {interpreter}. pip says: {error}{hint} Another Python there "
        "may do: fab install --python=/path/to/python3; or install the packages there yourself and name that "
        "Python, NODE_PYTHON in conf.py."
    )
