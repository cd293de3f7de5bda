"""kubectl: the only way to a cluster, called as a user calls it.

It must never know a job. Guarantee: what it cannot do is a ``NodeError`` of one paragraph, which says what
was asked, what kubectl says, and what to do; a terminal's Ctrl+C is for this process to answer, not
kubectl's; and no kubectl outlives the thread that waits for it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import IO, Any

from paddle._launch.agent.role import die_with_parent
from paddle._launch.errors import NodeError
from paddle._launch.kubernetes.pods import Pods
from paddle._visible import visible

_PROGRAM = "kubectl"
_REQUEST_S = 20
_SHOWN = 600  # letters of what it says
_IS_IT_THERE = "Does the cluster run, and is it the one that `kubectl config current-context` names?"
_ADVICE = {  # what stands in what it says, in small letters: what to do
    "already exists": "Another job has that name; start this one again, and it has another.",
    "exceeded quota": "End another job there, or ask who runs the cluster for more.",
    "forbidden": "Ask who runs the cluster for the rights in cluster/kubernetes/role.yaml.",
    "unauthorized": "Log in to the cluster again, as its manual says.",
    "namespaces": "Make the namespace (kubectl create namespace NAME), or name another: --namespace=NAME.",
    "does not exist": "`kubectl config get-contexts` shows those there are: --context=NAME.",
    "no context": "`kubectl config get-contexts` shows those there are: --context=NAME.",
    "refused": _IS_IT_THERE,
    "unable to connect": _IS_IT_THERE,
    "no configuration": "Name the cluster in ~/.kube/config, or in the file that KUBECONFIG says.",
}


class Kubectl:
    """Calls it, for what ``asked`` says of context and namespace. ``space``: the latter, for people."""

    def __init__(self, asked: Pods) -> None:
        self.space = f"namespace {asked.namespace}" if asked.namespace else "kubectl's namespace"
        self._words = [_PROGRAM]
        self._words += [f"--context={asked.context}"] if asked.context else []
        self._words += [f"--namespace={asked.namespace}"] if asked.namespace else []

    def ask(self, *words: str, given: str | None = None, within_s: float = 60.0) -> str:
        """Have something done, and give what it prints. ``given``: its standard input."""
        command = [*self._words, f"--request-timeout={_REQUEST_S}s", *words]
        process = self._started(command, subprocess.PIPE, subprocess.PIPE)
        try:
            said, complaint = process.communicate((given or "").encode(), within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise NodeError(f"`{self._named(words)}` did not end within {within_s:.0f} s.") from None
        if process.returncode:
            raise NodeError(self._refusal(words, complaint.decode(errors="replace") or said.decode()))
        return said.decode(errors="replace")

    def read(self, *words: str) -> Any:
        """Have objects shown; gives what they are."""
        said = self.ask(*words, "-o", "json")
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

        try:
            return subprocess.Popen(
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

    def _named(self, words: tuple[str, ...]) -> str:
        return " ".join([*self._words, *words[:3]])

    def _refusal(self, words: tuple[str, ...], complaint: str) -> str:
        said = " ".join(complaint.split())[:_SHOWN]
        small = said.lower()
        advice = next((advice for sign, advice in _ADVICE.items() if sign in small), "")
        stop = "" if said.endswith(".") else "."
        return f"`{self._named(words)}` failed: {visible(said)}{stop} {advice}".strip()
