"""A master with a token: who may ask it, who is told what, and what goes over the wire."""

from __future__ import annotations

import http.client
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from paddle._pserver.errors import BadTokenFile
from paddle._pserver.tasks.application import application
from paddle._pserver.tasks.client import MasterClient, Patience
from paddle._pserver.tasks.errors import MasterNotAuthorized, MasterUnreachable
from paddle._pserver.tasks.handshake import SESSION, Proof, proof_of
from paddle._pserver.trust.auth import Gate, Token
from tests.waiting import PATIENCE_S

from .test_tasks_master import Clock, a_master, records_of, serving
from .test_tasks_master import data as data

SECRET = b"5ec7e7-5ec7e7-5ec7e7-5ec7e7"
Connect = Callable[[str, Proof | None], MasterClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clock, opened = Clock(), []

    def make(address: str, proof: Proof | None) -> MasterClient:
        opened.append(MasterClient(address, Patience(clock=clock, sleep=clock.sleep), proof))
        return opened[-1]

    yield make
    for client in opened:
        client.release()


@pytest.fixture
def locked() -> Iterator[str]:
    """The address of one."""
    gate = Gate(Token(SECRET), partial(secrets.token_bytes, 32))
    master = a_master(Clock())
    with serving(master, application(master, gate)) as address:
        yield address


def insisting(token: bytes = SECRET) -> Proof:
    return Proof(Token(token), insists=True)


def test_who_has_the_token_reads_every_record(locked: str, data: Path, connect: Connect) -> None:
    for proof in (insisting(), Proof(Token(SECRET), insists=False)):
        client = connect(locked, proof)
        client.set_dataset([f"{data}/*"])
    assert sorted(client.records(0)) == records_of("a", "b")


def test_who_has_none_or_another_is_told_at_once(locked: str, data: Path, connect: Connect) -> None:
    with pytest.raises(MasterNotAuthorized, match=r"with a token only.*PADDLE_MASTER_TOKEN_FILE"):
        connect(locked, None).set_dataset([f"{data}/*"])
    with pytest.raises(MasterNotAuthorized, match="another token than this trainer"):
        connect(locked, insisting(b"x" * 40)).set_dataset([f"{data}/*"])


def test_who_insists_goes_to_no_master_without_a_token(data: Path, connect: Connect) -> None:
    with serving(a_master(Clock())) as address:
        with pytest.raises(MasterNotAuthorized, match="knows no token"):
            connect(address, insisting()).set_dataset([f"{data}/*"])
        assert connect(address, Proof(Token(SECRET), insists=False)).set_dataset([f"{data}/*"]).is_first


def test_who_answers_and_cannot_prove_it_is_told_nothing(data: Path, connect: Connect) -> None:
    asked: list[str] = []

    async def pretend(request: web.Request) -> web.Response:
        asked.append(request.path)
        if "Authorization" in request.headers:
            return web.Response(headers={"Authentication-Info": f"Paddle-HMAC proof={'0' * 64}"})
        return web.Response(status=401, headers={"WWW-Authenticate": f"Paddle-HMAC nonce={'1' * 64}"})

    app = web.Application()
    app.router.add_get(SESSION, pretend)
    unproved = pytest.raises(MasterNotAuthorized, match="cannot prove that it has the token")
    with serving(a_master(Clock()), app) as address, unproved:
        connect(address, insisting()).set_dataset([f"{data}/*"])
    assert asked == [SESSION, SESSION]


@pytest.mark.parametrize("answer", [(401, {}), (500, {}), (401, {"WWW-Authenticate": "Basic realm=x"})])
def test_an_answer_that_is_no_challenge_is_no_masters(
    answer: tuple[int, dict[str, str]], data: Path, connect: Connect
) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=answer[0], headers=answer[1])

    app = web.Application()
    app.router.add_get(SESSION, refuse)
    with serving(a_master(Clock()), app) as address, pytest.raises(MasterUnreachable, match="challenge"):
        connect(address, insisting()).set_dataset([f"{data}/*"])


def test_each_connection_proves_it_for_itself(locked: str, data: Path, connect: Connect) -> None:
    client = connect(locked, insisting())
    client.set_dataset([f"{data}/*"])
    other = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE_S)
    for path in ("dataset", "task", "finished", "failed", "release", "save_model"):
        other.request("POST", f"/v1/{path}", b"{}", {"Content-Type": "application/json"})
        answer = other.getresponse()
        assert (answer.status, b"with a token only" in answer.read()) == (403, True), path
    other.request("GET", "/healthz")
    assert other.getresponse().read() == b"ok\n"
    other.close()
    client._close()
    assert sorted(client.records(0)) == records_of("a", "b"), "it comes back, and proves it again"


def test_the_environment_names_a_masters_token_or_the_jobs(tmp_path: Path) -> None:
    for name in ("own", "jobs"):
        (tmp_path / name).write_text(name * 10)
    own, jobs = (
        {"PADDLE_MASTER_TOKEN_FILE": str(tmp_path / "own")},
        {"PADDLE_TOKEN_FILE": str(tmp_path / "jobs")},
    )
    found = [proof_of(environ) for environ in ({}, own, jobs, own | jobs)]
    assert [proof and (proof.token.view_key, proof.insists) for proof in found] == [
        None,
        (Token(b"own" * 10).view_key, True),
        (Token(b"jobs" * 10).view_key, False),
        (Token(b"own" * 10).view_key, True),
    ]
    with pytest.raises(BadTokenFile):
        proof_of({"PADDLE_MASTER_TOKEN_FILE": str(tmp_path / "none")})
