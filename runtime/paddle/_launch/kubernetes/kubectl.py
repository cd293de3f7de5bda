"""kubectl: the only way to a cluster, called as a user calls it.

It must never know a job. Guarantee: what it cannot do is a ``NodeError`` of one paragraph, which says what
was asked, what kubectl says, and what to do; a terminal's Ctrl+C is for this process to answer, not
kubectl's; no kubectl outlives the thread that waits for it; and once it is abandoned nobody waits for one.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
from typing import IO, Any, Protocol

from paddle._launch.agent.role import die_with_parent
from paddle._launch.errors import NodeError
from paddle._visible import visible

_PROGRAM = "kubectl"
_REQUEST_S = 20
_SHOWN = 600  # letters of what it says
_IS_IT_THERE = "Does the cluster run? `{kubectl} cluster-info` asks the one that is meant."
_REFUSALS = ("already exists", "forbidden", "unauthorized", "not found", "(invalid)", "no match")
_IS_SILENT = (
    "What it waits for is seen by typing it: for a login, perhaps, or a cluster that does not answer "
    "(`{kubectl} cluster-info`). Then try again."
)
_ADVICE = {  # what stands in what it says, in small letters: what to do
    "already exists": "Another job has that name; start this one again, and it has another.",
    "exceeded quota": "End another job there, or ask who runs the cluster for more.",
    "forbidden": "Ask who runs the cluster for the rights in cluster/kubernetes/role.yaml.",
    "unauthorized": "Log in to the cluster again, as its manual says.",
    "namespaces": "Make the namespace ({kubectl} create namespace NAME), or name another: --namespace=NAME.",
    "does not exist": "`kubectl config get-contexts` shows those there are: --context=NAME.",
    "no context": "`kubectl config get-contexts` shows those there are: --context=NAME.",
    "refused": _IS_IT_THERE,
    "unable to connect": _IS_IT_THERE,
    "no configuration": "Name the cluster in ~/.kube/config, or in the file that KUBECONFIG says.",
}


class Place(Protocol):
    """Where it is asked: see Pods."""

    @property
    def context(self) -> str: ...

    @property
    def namespace(self) -> str: ...


class Refused(NodeError):
    """What was asked was not done: the cluster says why."""


def typed(asked: Place) -> str:
    """How a call begins that means the same place, by hand."""
    return shlex.join(_words(asked))


def _words(asked: Place) -> list[str]:
    given = {"context": asked.context, "namespace": asked.namespace}
    return [_PROGRAM, *(f"--{name}={value}" for name, value in given.items() if value)]


class Kubectl:
    """Calls it, for what ``asked`` says of context and namespace. ``space``: the latter, for people;
    ``typed_anywhere``: how a call begins that means the same cluster, by hand."""

    def __init__(self, asked: Place) -> None:
        self.space = f"namespace {asked.namespace}" if asked.namespace else "kubectl's namespace"
        self._words = _words(asked)
        here = [word for word in self._words if not word.startswith("--namespace=")]
        self.typed_anywhere = shlex.join(here)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_abandoned = False

    def ask(self, *words: str, given: str | None = None, within_s: float = 60.0) -> str:
        """Have something done, and give what it prints. ``given``: its standard input."""
        command = [*self._words, f"--request-timeout={_REQUEST_S}s", *words]
        process = self._started(command, subprocess.PIPE, subprocess.PIPE)
        try:
            said, complaint = process.communicate((given or "").encode(), within_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            advice = _IS_SILENT.format(kubectl=self.typed_anywhere)
            raise NodeError(f"`{self._named(words)}` did not end within {within_s:.0f} s. {advice}") from None
        finally:
            self._running.discard(process)
        if self._is_abandoned:
            raise NodeError(f"`{self._named(words)}` was not waited for.")
        if process.returncode:
            raise self._refusal(words, complaint.decode(errors="replace") or said.decode())
        return said.decode(errors="replace")

    def abandon(self) -> None:
        """Kill what runs, and begin nothing any more; from any thread, and by a signal."""
        self._is_abandoned = True
        self._end_abandoned()

    def read(self, *words: str, within_s: float = 60.0) -> Any:
        """Have objects shown; gives what they are."""
        said = self.ask(*words, "-o", "json", within_s=within_s)
        try:
            return json.loads(said)
        except ValueError as error:
            raise NodeError(
                f"`{self._named(words)}` printed what is no JSON: {visible(said[:200])}"
            ) from error

    def begin(self, *words: str, errors: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Begin something that goes on, by pipes; its thread is to wait for it."""
        return self._started([*self._words, *words], subprocess.PIPE, errors)

    def _started(self, command: list[str], stdin: int, errors: IO[bytes] | int) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def prepare() -> None:
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if not die_with_parent(parent, signal.SIGTERM):
                os._exit(1)

        if self._is_abandoned:
            raise NodeError("kubectl is not asked any more: the launch is over.")
        self._running.difference_update([each for each in list(self._running) if each.returncode is not None])
        try:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                preexec_fn=prepare,
            )
        except OSError as error:
            raise NodeError(
                f"kubectl cannot be started here: {error.strerror}. Install it (Debian: kubernetes-client), "
                "or have `--dry_run` print the manifests for a machine that has it."
            ) from error
        self._running.add(process)
        self._end_abandoned()
        return process

    def _end_abandoned(self) -> None:
        """Also what was begun meanwhile."""
        for process in list(self._running) if self._is_abandoned else ():
            _kill(process)

    def _named(self, words: tuple[str, ...]) -> str:
        return " ".join([*self._words, *words[:3]])

    def _refusal(self, words: tuple[str, ...], complaint: str) -> NodeError:
        said = " ".join(complaint.split())[:_SHOWN]
        small = said.lower()
        advice = next((advice for sign, advice in _ADVICE.items() if sign in small), "")
        stop = "" if said.endswith(".") else "."
        advice = advice.replace("{kubectl}", self.typed_anywhere)
        text = f"`{self._named(words)}` failed: {visible(said)}{stop} {advice}".strip()
        return Refused(text) if any(sign in small for sign in _REFUSALS) else NodeError(text)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With what it has begun itself, which would hold its pipes; it leads a session of its own."""
    if process.returncode is None:  # else its number may be another's
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
