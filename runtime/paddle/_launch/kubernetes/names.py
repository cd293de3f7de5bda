"""What the objects of a job are called, and under which names its pods find each other.

It must never know a cluster. Guarantee: whoever knows a job's name knows these, in a pod and outside.
"""

from __future__ import annotations

import secrets

LONGEST_JOB = 40  # letters: what is made of it stays within the 63 that a label or a host's name may have
_APP = "app.kubernetes.io"
STOP = ".job.stop"  # in the workspace of a pod: who makes it asks that the role be ended, and the pod stay
NEWS = ".job.news"  # likewise: a line of JSON for each of the others that has ended for good (TellFallen)
OWN = "paddle pod: "  # before what a pod says of itself, in its log
COMPONENT = f"{_APP}/component"
INSTANCE = f"{_APP}/instance"
_LETTERS, _MANY = "bcdfghjklmnpqrstvwxz2456789", 6  # of which no words are made, and 387 million names


def letters() -> str:
    """Drawn by chance, for a job's name: a namespace is many users', who see each other's jobs nowhere."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_MANY))


def group(job: str, kind: str) -> str:
    """The set of all pods of a kind: word2vec-pserver."""
    return f"{job}-{kind}"


def pod(job: str, kind: str, rank: int) -> str:
    """A pod as its host is called: word2vec-pserver-0. Pods of parameter servers are called so, too."""
    return f"{group(job, kind)}-{rank}"


def address(job: str, kind: str, rank: int) -> str:
    """Where others find it, in the namespace of the job: word2vec-pserver-0.word2vec."""
    return f"{pod(job, kind, rank)}.{job}"


def labels(job: str, kind: str = "") -> dict[str, str]:
    """What all objects of a job show, and those of a kind."""
    own = {COMPONENT: kind} if kind else {}
    return {f"{_APP}/name": "paddle", INSTANCE: job, f"{_APP}/managed-by": "paddle.py", **own}


def chosen(job: str) -> str:
    """What chooses all objects of a job, as kubectl takes it."""
    return f"{_APP}/name=paddle,{INSTANCE}={job}"


def trust(job: str) -> str:
    """The Secret that all pods show and trust."""
    return f"{job}-trust"


def certificate(job: str) -> str:
    """The Secret that parameter servers alone have."""
    return f"{job}-certificate"


def part(job: str, number: int) -> str:
    """A ConfigMap with a part of the workspace."""
    return f"{job}-package-{number}"
