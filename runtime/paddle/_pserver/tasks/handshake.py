"""Handshake: a trainer's side of how it and a master show each other that they have the same token (auth.py).

A connection is admitted once, by GET on ``SESSION``; what is asked on it after that needs no proof, as on a
session with a pserver. It must never know a task.

Guarantee: a token is proved and never sent; who has one and insists asks nothing of a master without it.
"""

from __future__ import annotations

import http.client
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from paddle._pserver.tasks.errors import MasterNotAuthorized
from paddle._pserver.trust.auth import Prover, Token, place_of
from paddle._pserver.trust.token_file import read_token

SESSION = "/v1/session"
HOW = (
    "`paddle master --token_file=FILE` and its trainers need the same token: PADDLE_MASTER_TOKEN_FILE, or "
    "PADDLE_TOKEN_FILE where a job and its master share one."
)


@dataclass(frozen=True, slots=True)
class Proof:
    """What a trainer has. ``insists``: it goes to no master without the token."""

    token: Token
    insists: bool


def proof_of(environ: Mapping[str, str]) -> Proof | None:
    """A master's own token is insisted on; a job's, which a master need not have, is told where it is asked
    for. Raises BadTokenFile."""
    if own := environ.get("PADDLE_MASTER_TOKEN_FILE", ""):
        return Proof(read_token(own)[0], insists=True)
    if jobs := environ.get("PADDLE_TOKEN_FILE", ""):
        return Proof(read_token(jobs)[0], insists=False)
    return None


def prove(connection: http.client.HTTPConnection, proof: Proof, where: str) -> None:
    """Make an admitted one of a new connection. Raises MasterNotAuthorized where that will never be."""
    address, port, *_ = connection.sock.getpeername()
    prover = Prover(proof.token, place_of(address, port), secrets.token_bytes(32))
    asked = _get(connection, {})
    if asked.status == 404:
        if proof.insists:
            raise MasterNotAuthorized(
                f"the master at {where} knows no token, and this trainer has one. {HOW}"
            )
        return
    answer = prover.answer(asked.getheader("WWW-Authenticate", "")) if asked.status == 401 else None
    if answer is None:
        raise http.client.HTTPException(f"HTTP status {asked.status} in place of a challenge")
    told = _get(connection, {"Authorization": answer})
    if told.status == 403:
        raise MasterNotAuthorized(
            f"the master at {where} has another token than this trainer, or is behind an address that is "
            f"not its own. {HOW}"
        )
    if told.status != 200:
        raise http.client.HTTPException(f"HTTP status {told.status} in answer to a proof")
    if not prover.believes(told.getheader("Authentication-Info", "")):
        raise MasterNotAuthorized(f"who answers at {where} cannot prove that it has the token. {HOW}")


def _get(connection: http.client.HTTPConnection, headers: Mapping[str, str]) -> http.client.HTTPResponse:
    connection.request("GET", SESSION, headers=dict(headers))
    response = connection.getresponse()
    response.read()
    return response


def own_proof() -> Proof | None:
    """What this process's environment names."""
    return proof_of(os.environ)
