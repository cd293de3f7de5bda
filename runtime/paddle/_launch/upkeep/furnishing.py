"""What one node gets: wheels and the runtime as far as it lacks them, and an environment made of these.

It must never know other nodes, but that files are read once for all of them (dispatch.py). Guarantee: it ends
when its connection does; what it says is done, the node has said.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from paddle._launch.dispatch import Dispatch
from paddle._launch.errors import DeliveryError, NodeLost, NodeUnfit
from paddle._launch.machines.conversation import Conversation, converse
from paddle._launch.machines.crowd import Bytes, Say
from paddle._launch.machines.reader import WORK_S
from paddle._launch.machines.said import Text
from paddle._launch.machines.transport import Line
from paddle._launch.remote import Remote
from paddle._launch.upkeep.interpreter import Premises
from paddle._launch.upkeep.wheelhouse import Wheelhouse
from paddle._visible import visible

_MOST = 1 << 14  # bytes that an installer says, all of which is shown
_WARMTH = "paddle._warm"  # of the runtime that is sent
_MARGIN = 32 << 20  # of room: the runtime, and what compiled code it keeps


@dataclass(frozen=True, slots=True)
class Kit:
    """What is brought to nodes of one kind. ``modules``: that must load in the end."""

    remote: Remote
    house: Wheelhouse
    wheels: Dispatch
    runtime: Dispatch
    modules: tuple[str, ...]

    @property
    def home(self) -> Path:
        """``.paddle`` of ROOT_DIR."""
        return self.remote.runtime.parent

    @property
    def place(self) -> Path:
        """Where the wheels come to lie."""
        return self.home / f"wheels-{self.house.digest}"


@dataclass(frozen=True, slots=True)
class Furnished:
    """A node that can run jobs. ``sent``: bytes; ``others``: environments beside the one in use."""

    is_changed: bool
    python: str
    version: str
    venv: Path
    packages: dict[str, str]
    sent: int
    seconds: float
    others: int


class _Answer(msgspec.Struct, frozen=True):
    """What an installer says; see agent/installer.py."""

    doing: Text = ""
    done: bool | None = None
    failed: Text = ""
    refused: bool = False


def furnish(line: Line, premises: Premises, kit: Kit, say: Say) -> Furnished:
    """Bring a node what it lacks."""
    began = time.monotonic()
    name = environment_name(premises, kit.house)
    _check_place(premises, kit, name)
    sent = _send(line, premises, kit, say)
    with converse(line, (premises.python,), "agent.installer", most=_MOST) as talk:
        is_cold = sent > 0 or name not in premises.venvs
        talk.tell(_order(kit, name, is_cold=is_cold))
        is_made = _listen(talk, say)
    return Furnished(
        is_changed=is_made or sent > 0,
        python=premises.python,
        version=premises.version,
        venv=kit.home / "venvs" / name,
        packages=kit.house.packages,
        sent=sent,
        seconds=round(time.monotonic() - began, 1),
        others=len({*premises.venvs} - {name}),
    )


def _send(line: Line, premises: Premises, kit: Kit, say: Say) -> int:
    """Send wheels and the runtime as far as they are not there; gives the number of bytes."""
    sent = 0
    for what, dispatch, place, there in (
        ("wheels", kit.wheels, kit.place, premises.wheels),
        ("the runtime", kit.runtime, kit.remote.runtime, premises.runtimes),
    ):
        if place.name in there:
            continue
        try:
            with converse(line, (premises.python,), "agent.receiver") as talk:
                sent += dispatch.deliver(talk.wire, 0, place, tell=_progress(what, say))
        except DeliveryError:
            with converse(line, (premises.python,), "agent.premises") as talk:
                again = talk.ask({"root": str(kit.remote.root)}, Premises)
            if place.name not in (*again.wheels, *again.runtimes):  # else somebody else has just sent it
                raise
    return sent


def environment_name(premises: Premises, house: Wheelhouse) -> str:
    """Name an environment by what it is made of: the node's Python and the wheels."""
    made_of = json.dumps([premises.python, premises.abi, house.digest])
    return f"{premises.abi}-{sha256(made_of.encode()).hexdigest()[:12]}"


def _check_place(premises: Premises, kit: Kit, name: str) -> None:
    """Refuse a node that has no place for what is to come, before any of it is sent."""
    if not premises.is_writable:
        raise NodeUnfit(
            f"cannot make {kit.home}: {premises.ground} is not a folder that its user can write to. Make "
            f"{kit.remote.root} there, of that user, or say where else: ROOT_DIR in conf.py."
        )
    needed = 0 if kit.place.name in premises.wheels else kit.house.size
    needed += 0 if name in premises.venvs else kit.house.unpacked + _MARGIN
    files = 0 if name in premises.venvs else kit.house.files
    if premises.free_files is not None and premises.free_files < files:
        raise NodeUnfit(
            f"no room in {premises.ground}: {files:,} files and folders are to come, and its disk can take "
            f"{premises.free_files:,} more (df -i). Remove some, or say where else: ROOT_DIR in conf.py."
        )
    if premises.free is not None and premises.free < needed:
        raise NodeUnfit(
            f"no room in {premises.ground}: wheels and what is in them need {needed:,} bytes, and it has "
            f"{premises.free:,} left. Make room (`fab clean` removes what old jobs left), or say where else: "
            "ROOT_DIR in conf.py."
        )


def _order(kit: Kit, name: str, *, is_cold: bool) -> dict[str, Any]:
    return {
        "root": str(kit.remote.root),
        "name": name,
        "wheels": str(kit.place),
        "tool": kit.house.tool,
        "packages": kit.house.packages,
        "modules": kit.modules,
        "size": kit.house.unpacked,
        "warmth": {"runtime": str(kit.remote.runtime), "module": _WARMTH} if is_cold else None,
    }


def _progress(what: str, say: Say) -> Callable[[int, int], None]:
    """Say how far a dispatch is, a hundred times and no more."""
    told = [-1]

    def tell(sent: int, total: int) -> None:
        share = 100 * sent // max(1, total)
        if total and share != told[0]:
            told[0] = share
            say(Bytes(what, sent, total))

    return tell


def _listen(talk: Conversation, say: Say) -> bool:
    """Hear an installer to its end; gives whether it changed anything."""
    for answer in talk.answers(_Answer, WORK_S):
        if answer.failed:
            raise (NodeUnfit if answer.refused else DeliveryError)(visible(answer.failed))
        if answer.done is not None:
            return answer.done
        say(answer.doing)
    raise NodeLost("its installation ended without a word. `fab install` again goes on with what is missing.")
