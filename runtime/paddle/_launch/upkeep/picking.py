"""Picking: pip fetches wheels for another Python than the one it runs with, as the user has set up pip.

It must never know what the wheels are for. Indexes, folders, proxies and certificates are those of pip.conf
and of PIP_* variables. Guarantee: nothing is built or run of what is fetched; no name and no password of an
index is in any error; no process is left, however this ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import paddle._launch.agent as agent
from paddle._launch.errors import DeliveryError
from paddle._launch.upkeep.interpreter import Interpreter

_LONGEST = 600
_TRIES = "1"  # of a connection, besides the first: an index that is not there is not there
_UNMET = (
    re.compile(r"No matching distribution found for (\S+)"),
    re.compile(r"Could not find a version that satisfies the requirement (\S+)"),
)
_CONFLICT = re.compile(r"conflicting dependencies|ResolutionImpossible")
_NO_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable|No route to host"
    r"|CERTIFICATE_VERIFY_FAILED[^\n']*|Cannot connect to proxy|Connection (refused|reset by peer|aborted)"
    r"|(connect|read|Read|Connection)[ \w]* timed? ?out|Max retries exceeded|SSLError|ProxyError"
    r"|40[137] [\w ]+ for url",
)
_SECRET = re.compile(r"(\w+://)[^/\s@]*@")


class Unmet(Exception):
    """There is no wheel for a requirement, or none that goes with the others. ``names``: of packages."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        super().__init__(text)
        self.names = tuple(names)


def fetch(
    requirements: Sequence[str],
    interpreter: Interpreter,
    folder: Path,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Fetch wheels that meet all requirements, and what they require themselves, into ``folder``."""
    said, status = _run([*_command(interpreter, folder), *requirements], environ)
    if status == 0:
        return
    if "No module named pip" in said:
        raise DeliveryError(
            f"this machine's Python has no pip, which fetches the wheels: `{sys.executable} -m ensurepip` "
            "gives it one."
        )
    words = _words(said)
    if trouble := _NO_NETWORK.search(said):
        raise DeliveryError(
            f"pip cannot reach its index from this machine ({trouble[0]}). Nodes need no network, but this "
            f"machine does, once. Without one, put wheels for {interpreter} in a folder: PIP_NO_INDEX=1 "
            "PIP_FIND_LINKS=FOLDER fab install."
        )
    names = [found[1] for pattern in _UNMET for found in pattern.finditer(said)]
    if names or _CONFLICT.search(said):
        raise Unmet(words, [re.split(r"[^\w.-]", name)[0].lower() for name in dict.fromkeys(names)])
    raise DeliveryError(f"pip could not fetch wheels for {interpreter}: {words} Status {status}.")


def _command(interpreter: Interpreter, folder: Path) -> list[str]:
    platforms = [word for platform in interpreter.platforms for word in ("--platform", platform)]
    return [
        *(sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"),
        *("--progress-bar=off", "--only-binary=:all:", f"--dest={folder}"),
        *("--implementation=cp", f"--python-version={interpreter.version}", f"--abi={interpreter.abi}"),
        *platforms,
    ]


def _run(command: Sequence[str], environ: Mapping[str, str]) -> tuple[str, int]:
    """Run pip as an errand, which ends with this process; gives what it said, and its status."""
    errand = (sys.executable, "-I", "-S", str(Path(agent.__file__).parent))
    with subprocess.Popen(
        (*errand, *command),
        env={"PIP_RETRIES": _TRIES, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pip:
        try:
            said, _ = pip.communicate()
        except BaseException:
            pip.terminate()
            raise
    return _SECRET.sub(r"\1****@", said), pip.returncode


def _words(said: str) -> str:
    """What pip found wrong, without what it tried before."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    text = " ".join(errors or lines[-1:])[:_LONGEST]
    return text if text.endswith(".") else f"{text}."
