"""Pservers with a token, over real connections: who is let in, who is told what, and what is counted."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from paddle._engine.exchange import Exchange
from paddle._pserver.errors import BadTokenFile, NotAuthorized, ProtocolMismatch, ShardUnreachable
from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.service import door
from paddle._pserver.trust.auth import Gate, Prover, Token, place_of
from paddle._pserver.trust.token_file import read_token

from .conftest import ONES, TIMEOUT_S, Pservers, Start, start
from .trainer.test_client import silent

SECRET = "5ec7e7-5ec7e7-5ec7e7-5ec7e7"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "job.token"
    path.touch(0o600)
    path.write_text(f"{SECRET}\n")
    return str(path)


@pytest.fixture
def locked(start_pservers: Start, token_file: str) -> Iterator[Pservers]:
    yield start_pservers(num_gradient_servers=2, token=read_token(token_file)[0])


def ask(pservers: Pservers, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", pservers.port, timeout=TIMEOUT_S)
    connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): text for name, text in answer.getheaders()}, body


def door_of(pservers: Pservers) -> dict[str, Any]:
    return dict(json.loads(ask(pservers, "/v1/status")[2])["door"])


def proof(pservers: Pservers, token: str = SECRET) -> str:
    _, headers, _ = ask(pservers, SESSION_PATH)
    prover = Prover(Token(token.encode()), place_of("127.0.0.1", pservers.port), b"c" * 32)
    answer = prover.answer(headers["www-authenticate"])
    assert answer is not None
    return answer


def test_trainers_with_the_token_train(locked: Pservers, token_file: str) -> None:
    def run(exchange: Exchange) -> None:
        start(exchange)
        exchange.step(ONES, 1)
        exchange.end_pass(0)

    locked.train(run, run, token_file=token_file)
    assert door_of(locked) == {"locked": True, "challenges": 2, "admitted": 2, "denied": {}}


def test_a_trainer_without_a_token_is_told_at_once(locked: Pservers) -> None:
    with pytest.raises(NotAuthorized, match="with a token only, and this one has none"):
        start(locked.exchange(0))


def test_a_trainer_with_another_token_is_told_at_once(locked: Pservers, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("x" * 40)
    notices: list[str] = []
    with pytest.raises(NotAuthorized, match="another token than this trainer"):
        start(locked.exchange(0, token_file=str(other), notice=notices.append))
    assert "chmod 600" in notices[0]
    assert door_of(locked)["denied"] == {"wrong_proof": 1}


def test_a_trainer_with_a_token_goes_to_nobody_without(start_pservers: Start, token_file: str) -> None:
    with pytest.raises(NotAuthorized, match="knows no token"):
        start(start_pservers().exchange(0, token_file=token_file))


@pytest.mark.parametrize("info", ["", f"Authentication-Info: Paddle-HMAC proof={'0' * 64}\r\n"])
def test_who_says_101_and_cannot_prove_it_is_not_believed(info: str, token_file: str) -> None:
    challenge = f"HTTP/1.1 401 No\r\nWWW-Authenticate: Paddle-HMAC nonce={'1' * 64}\r\n\r\n"
    switching = f"HTTP/1.1 101 Yes\r\nUpgrade: {UPGRADE}\r\n{info}\r\n"
    with silent((challenge + switching).encode()) as port:
        pretender = Pservers(("127.0.0.1",), port, 1, 0, 1)
        with pytest.raises(NotAuthorized, match="cannot prove that it has the token"):
            start(pretender.exchange(0, token_file=token_file))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 401 No\r\n\r\n", ProtocolMismatch),
        (b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n\r\n", ProtocolMismatch),
        (b"HTTP/1.1 101 Yes\r\n\r\n", ProtocolMismatch),
        (b"HTTP/1.1 401 No\r\nContent-Length: 99999999999999999999\r\n\r\n", ShardUnreachable),
        (b"\r\n\r\n", ProtocolMismatch),
        (b"x" * 20000, ShardUnreachable),
        (b"HTTP/1.1 429 Slow\r\n\r\n", ShardUnreachable),
    ],
)
def test_an_answer_that_is_no_challenge_ends_the_handshake(
    answer: bytes, error: type[Exception], token_file: str
) -> None:
    within_s = 0.3 if error is ShardUnreachable else TIMEOUT_S  # the others are told at once
    with silent(answer) as port:
        pretender = Pservers(("127.0.0.1",), port, 1, 0, 1)
        with pytest.raises(error):
            start(pretender.exchange(0, token_file=token_file, connect_timeout_s=within_s))


@pytest.mark.parametrize(
    "header",
    ["", "Bearer x", "Paddle-HMAC", "Paddle-HMAC nonce=", "Paddle-HMAC " + "f" * 7000, "\xff\xfe", "a, b"],
)
def test_random_and_malformed_headers_are_refused(locked: Pservers, header: str) -> None:
    status, _, _ = ask(locked, SESSION_PATH, Authorization=header, Upgrade=UPGRADE)
    assert status == 403
    assert door_of(locked)["denied"] == {"malformed": 1}


def test_two_authorizations_are_one_malformed(locked: Pservers) -> None:
    said = proof(locked)
    with socket.create_connection(("127.0.0.1", locked.port), timeout=TIMEOUT_S) as connection:
        twice = f"Authorization: {said}\r\nAuthorization: {said}\r\n"
        connection.sendall(f"GET {SESSION_PATH} HTTP/1.1\r\nHost: x\r\n{twice}\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 403 ")


# Looking.


def looks(peer: str, own: str, gate: Gate | None, authorization: str = "", host: str = "") -> int:
    """The status with which somebody at ``peer`` looks at a pserver that was reached at ``own``."""
    transport = type(
        "T", (), {"get_extra_info": lambda _, name: {"peername": (peer, 1), "sockname": (own, 2)}[name]}
    )
    given = {"Authorization": authorization, "Host": host}
    headers = {name: text for name, text in given.items() if text}
    request = make_mocked_request("GET", "/", headers=headers, transport=transport())
    try:
        door.check_look(gate, request)
    except web.HTTPException as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    ("peer", "own", "is_here"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", True),
        ("::1", "::1", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.2", "10.0.0.1", False),
        ("::ffff:10.0.0.2", "10.0.0.1", False),
    ],
)
def test_without_a_key_one_looks_from_the_machine_itself_only(peer: str, own: str, is_here: bool) -> None:
    gate = Gate(Token(b"k"), lambda: bytes(32))
    key = Token(b"k").view_key
    assert looks(peer, own, None) == (200 if is_here else 403)
    assert looks(peer, own, gate) == (200 if is_here else 401)
    assert looks(peer, own, gate, f"Bearer {key}") == 200
    assert looks(peer, own, gate, "Bearer x") == (200 if is_here else 401)


@pytest.mark.parametrize(
    ("own", "host", "is_shown"),
    [
        ("127.0.0.1", "127.0.0.1:7164", True),
        ("127.0.0.1", "localhost:7164", True),
        ("127.0.0.1", "LOCALHOST.", True),
        ("127.0.0.1", "job.localhost:7164", True),
        ("::1", "[::1]:7164", True),
        ("127.0.0.1", "evil.example:7164", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "NODE3:7164", False),
        ("127.0.0.1", "[evil.example]", False),
        ("10.0.0.3", "10.0.0.3:7164", True),
        ("10.0.0.3", "NODE3:7164", True),
        ("10.0.0.3", "node3.cluster", True),
        ("10.0.0.3", "node3.evil.example:7164", False),
    ],
)
def test_a_page_of_another_site_in_a_browser_of_this_machine_reads_nothing_by_its_own_name(
    monkeypatch: pytest.MonkeyPatch, own: str, host: str, is_shown: bool
) -> None:
    monkeypatch.setattr(door.socket, "gethostname", lambda: "node3.cluster")
    gate = Gate(Token(b"k"), lambda: bytes(32))
    assert looks(own, own, None, host=host) == (200 if is_shown else 403)
    assert looks(own, own, gate, host=host) == (200 if is_shown else 401)
    assert looks(own, own, gate, f"Bearer {Token(b'k').view_key}", host) == 200
    assert looks("10.0.0.9", own, gate, f"Bearer {Token(b'k').view_key}", "any.name") == 200


def test_health_is_everybodys(locked: Pservers) -> None:
    assert ask(locked, "/healthz")[0] == 200
    assert ask(locked, "/metrics")[2].count(b"\npaddle_pserver_locked 1\n") == 1


# The file.


def test_a_token_is_read_without_its_line_end_and_a_private_file_is_no_trouble(token_file: str) -> None:
    token, warning = read_token(token_file)
    assert warning is None
    assert token.view_key == Token(SECRET.encode()).view_key


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_may_read_is_warned_of(token_file: str, mode: int) -> None:
    Path(token_file).chmod(mode)
    warning = read_token(token_file)[1]
    assert warning is not None
    assert f"chmod 600 {token_file}" in warning
    assert stat.S_IMODE(Path(token_file).stat().st_mode) == mode


@pytest.mark.parametrize("content", [b"", b"\n\n", b"short", b"x" * 5000])
def test_a_file_without_a_token_is_told_with_how_to_make_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(BadTokenFile, match=r"a token has 16 to 4096.*token_hex"):
        read_token(str(path))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    for name in ("none", "pipe", ".", "\0", "~nobody-at-all/x"):
        with pytest.raises(BadTokenFile, match="token_file"):
            read_token(str(tmp_path / name) if not name.startswith("~") else name)
    assert time.monotonic() - began < 10
