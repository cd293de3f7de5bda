"""Pservers that encrypt, over real connections: who is trusted, who is told what, what a listener sees."""

from __future__ import annotations

import http.client
import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange
from paddle._launch.authority import Authority
from paddle._pserver.errors import (
    BadTlsFile,
    NotAuthorized,
    NotTrusted,
    ShardUnreachable,
    TlsMismatch,
    TrainerCountMismatch,
)
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trust.tls import read_certificate, read_trust
from paddle._pserver.trust.tls_socket import TlsSocket
from paddle._pserver.trust.token_file import read_token
from tests.cluster.wire import Wire
from tests.waiting import PATIENCE_S, until

from ..conftest import MODEL, ONES, Pservers, Start, start, update, values_of
from ..papers import ADDRESSES, Files
from ..test_equality import gradients_of
from ..trainer.test_client import silent

TOKEN = "5ec7e7-5ec7e7-5ec7e7-5ec7e7"


@pytest.fixture
def papers(tmp_path: Path) -> Files:
    return Files(tmp_path / "job", Authority("job", datetime.now(UTC)).issue(ADDRESSES))


@pytest.fixture
def secret(start_pservers: Start, papers: Files) -> Pservers:
    return start_pservers(certificate=papers.certificate)


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text(TOKEN)
    return str(path)


def trained(exchange: Exchange) -> dict[str, np.ndarray]:
    """What three steps of a model with everything in it make of its values."""
    arrays = exchange.start(MODEL, update("adam"), values_of(MODEL, 1))
    exchange.begin_pass(0)
    for step in range(3):
        exchange.prefetch({"emb": np.arange(50), "emb2": np.arange(7)})
        exchange.step(gradients_of(MODEL, 10 + step), 4)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


def test_training_over_tls_is_local_training_bit_for_bit(start_pservers: Start, papers: Files) -> None:
    pservers = start_pservers(hosts=2, ports_num_for_sparse=1, certificate=papers.certificate)
    (remote,) = pservers.train(trained, tls_ca=papers.ca)
    local = trained(LocalExchange())
    for name, values in local.items():
        assert np.array_equal(remote[name], values), name


def test_trainers_train_over_tls(secret: Pservers, papers: Files) -> None:
    def run(exchange: Exchange) -> Any:
        start(exchange)
        return exchange.step(ONES, 1).version

    assert secret.train(run, tls_ca=papers.ca) == [1]
    assert secret.statuses() == [0]


def test_a_trainer_that_is_refused_over_tls_hears_why(secret: Pservers, papers: Files) -> None:
    with pytest.raises(TrainerCountMismatch, match="num_gradient_servers=1"):
        start(secret.exchange(0, tls_ca=papers.ca, num_gradient_servers=3))


def six_steps(exchange: Exchange, disturb: Callable[[], None] = lambda: None) -> np.ndarray:
    """What they make of a dense parameter."""
    values = exchange.start(*_alike())["w"]
    exchange.begin_pass(0)
    for step in range(6):
        exchange.step({"w": np.full(300, 0.1 + step, np.float32)}, 1)
        disturb()
    exchange.end_pass(0)
    exchange.fetch()
    return values.copy()


def test_a_connection_that_is_cut_comes_back_over_tls_and_no_bit_is_different(
    start_pservers: Start, tmp_path: Path
) -> None:
    own = Files(tmp_path / "own", Authority("job", datetime.now(UTC)).issue(["127.0.0.3"]))
    pservers = start_pservers(ports_num_for_sparse=0, certificate=own.certificate)
    with wire(pservers) as between:
        pservers.hosts = ("127.0.0.3",)
        notices: list[str] = []
        (remote,) = pservers.train(
            lambda exchange: six_steps(exchange, between.cut), tls_ca=own.ca, notice=notices.append
        )
    assert len(notices) >= 6, "it was cut each time"
    assert np.array_equal(remote, six_steps(LocalExchange()))


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_key_that_has_encrypted_enough_is_changed_by_another_connection_and_no_bit_is_different(
    comes_back: bool, secret: Pservers, papers: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = itertools.cycle([False, False, True])
    sent: list[int] = []

    def is_worn(own: TlsSocket) -> bool:
        sent.append(own._sent)
        return next(turns)

    monkeypatch.setattr(TlsSocket, "is_worn", property(is_worn))
    notices: list[str] = []
    options = {} if comes_back else {"reconnect_timeout_s": 0.0}
    (remote,) = secret.train(six_steps, tls_ca=papers.ca, notice=notices.append, **options)
    assert any("a key has encrypted as much as one should. Trying" in text for text in notices) == comes_back
    assert np.array_equal(remote, six_steps(LocalExchange()))
    assert sent[:3] == [1, 2, 3][: len(sent)], "each question is a record"
    assert secret.statuses() == [0]


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_record_that_is_said_to_be_longer_than_it_is_is_found_long_before_the_deadline(
    start_pservers: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Nobody sees it: one side waits for the rest, the other for an answer, which call_timeout_s is for."""
    monkeypatch.setattr("paddle._pserver.trainer.sign.SILENT_S", 0.1)
    own = Files(tmp_path / "own", Authority("job", datetime.now(UTC)).issue(["127.0.0.3"]))
    pservers = start_pservers(ports_num_for_sparse=0, certificate=own.certificate)

    def run(exchange: Exchange, disturb: Callable[[], None]) -> np.ndarray:
        values = exchange.start(*_alike())["w"]
        exchange.begin_pass(0)
        for step in range(3):
            disturb()
            exchange.step({"w": np.full(300, 0.1 + step, np.float32)}, 1)
        exchange.end_pass(0)
        exchange.fetch()
        return values.copy()

    with wire(pservers) as between:
        pservers.hosts = ("127.0.0.3",)
        notices: list[str] = []
        (remote,) = pservers.train(
            lambda exchange: run(exchange, lambda: between.lengthens.add(way)),
            tls_ca=own.ca,
            notice=notices.append,
        )
        assert not between.lengthens, "each was on its way"
    assert len([text for text in notices if "Trying to come back" in text]) >= 3
    assert np.array_equal(remote, run(LocalExchange(), lambda: None))


def test_a_trainer_trusts_no_other_authority(
    secret: Pservers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = Files(tmp_path / "other", Authority("job", datetime.now(UTC)).issue(ADDRESSES))
    with pytest.raises(NotTrusted, match=r"does not trust: .*PADDLE_TLS_CA"):
        start(secret.exchange(0, tls_ca=other.ca))
    turned_away = "turned away a connection from 127.0.0.1: TLS: TLSV1_ALERT"
    until(lambda: turned_away in caplog.text, "the pserver to say so")


@pytest.mark.parametrize(
    ("age", "addresses", "saying"),
    [
        (timedelta(days=6 * 365), ADDRESSES, "expired"),
        (timedelta(days=-2), ADDRESSES, "not yet valid"),
        (timedelta(0), ("127.0.0.9", "node9"), "not valid for '127.0.0.1'"),
    ],
)
def test_a_certificate_that_is_not_of_today_or_of_this_host_is_told(
    start_pservers: Start, tmp_path: Path, age: timedelta, addresses: tuple[str, ...], saying: str
) -> None:
    own = Files(tmp_path / "own", Authority("job", datetime.now(UTC) - age).issue(addresses))
    pservers = start_pservers(certificate=own.certificate)
    with pytest.raises(NotTrusted, match=saying):
        start(pservers.exchange(0, tls_ca=own.ca))


def test_a_trainer_that_does_not_encrypt_is_told_by_a_pserver_that_does(
    secret: Pservers, token_file: str, caplog: pytest.LogCaptureFixture
) -> None:
    for options in ({}, {"token_file": token_file}):
        with pytest.raises(TlsMismatch, match=r"speaks TLS only.*PADDLE_TLS_CA"):
            start(secret.exchange(0, **options))
    assert "turned away a connection from 127.0.0.1: it does not speak TLS" in caplog.text


def test_a_trainer_that_encrypts_is_told_by_a_pserver_that_does_not(
    start_pservers: Start, papers: Files, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TlsMismatch, match=r"speaks no TLS.*--tls_cert"):
        start(start_pservers().exchange(0, tls_ca=papers.ca))
    assert "it speaks TLS, and this pserver does not" in caplog.text


def test_a_connection_that_breaks_in_the_handshake_is_tried_again(papers: Files) -> None:
    with silent(b"") as port:
        pretender = Pservers(("127.0.0.1",), port, 1, 0, 1)
        with pytest.raises(ShardUnreachable, match="no pserver answers"):
            start(pretender.exchange(0, tls_ca=papers.ca, connect_timeout_s=0.3))


def test_a_page_is_seen_over_https_and_no_other_way(secret: Pservers, papers: Files) -> None:
    connection = http.client.HTTPSConnection("localhost", secret.port, context=read_trust(papers.ca))
    connection.request("GET", "/healthz")
    assert connection.getresponse().read() == b"ok\n"
    connection.close()
    plain = http.client.HTTPConnection("127.0.0.1", secret.port)
    plain.request("GET", "/healthz")
    answer = plain.getresponse()
    assert (answer.status, answer.read()) == (426, b"this pserver speaks TLS: https:\n")
    plain.close()


# In between.


@contextmanager
def wire(pservers: Pservers) -> Iterator[Wire]:
    """A wire at 127.0.0.3, and trainers that are sent there."""
    between = Wire("127.0.0.3", (pservers.port,), "127.0.0.1")
    try:
        yield between
    finally:
        between.close()


def showing(wire: Wire, value: float, token: str = TOKEN) -> list[str]:
    """What a listener on the wire has learned."""
    words = {
        "a value": np.float32(value).tobytes() * 8,
        "the token": token.encode(),
        "a proof": b"Paddle-HMAC",
    }
    return [what for what, word in words.items() if word in bytes(wire.seen)]


def exchanged(pservers: Pservers, **options: Any) -> float:
    """One step of a model whose values are all alike; gives one."""

    def run(exchange: Exchange) -> float:
        values = exchange.start(*_alike())
        exchange.step({"w": np.full(300, 0.123, np.float32)}, 1)
        return float(values["w"][0])

    return float(pservers.train(run, **options)[0])


def _alike() -> Any:
    from ..conftest import DENSE_ONLY

    return DENSE_ONLY, update(), {"w": np.full(300, 7.77, np.float32)}


def test_who_listens_in_between_sees_neither_token_nor_values(
    start_pservers: Start, tmp_path: Path, token_file: str
) -> None:
    own = Files(tmp_path / "own", Authority("job", datetime.now(UTC)).issue(["127.0.0.3"]))
    pservers = start_pservers(certificate=own.certificate, token=read_token(token_file)[0])
    with wire(pservers) as between:
        pservers.hosts = ("127.0.0.3",)
        value = exchanged(pservers, tls_ca=own.ca, token_file=token_file)
        assert len(between.seen) > 4 * 1200, "all went through it, though it is at another address"
        assert [showing(between, seen) for seen in (7.77, 0.123, value)] == [[], [], []]


def test_the_same_listener_sees_all_of_what_is_plain(start_pservers: Start) -> None:
    pservers = start_pservers()
    with wire(pservers) as between:
        pservers.hosts = ("127.0.0.3",)
        value = exchanged(pservers)
        assert [showing(between, seen) for seen in (7.77, 0.123, value)] == [["a value"]] * 3


def test_who_is_in_between_with_another_certificate_can_pass_on_no_proof(
    start_pservers: Start, tmp_path: Path, token_file: str
) -> None:
    """It is of an authority that the trainer trusts, and for the right host; only the token tells."""
    authority = Authority("all jobs", datetime.now(UTC))
    own = Files(tmp_path / "own", authority.issue(["127.0.0.1"]))
    stolen = Files(tmp_path / "stolen", authority.issue(["127.0.0.3"]))
    pservers = start_pservers(certificate=own.certificate, token=read_token(token_file)[0])
    with Relay("127.0.0.3", pservers.port, stolen.certificate.context, own.ca) as relay:
        pservers.hosts = ("127.0.0.3",)
        with pytest.raises(NotAuthorized, match="another token than this trainer"):
            start(pservers.exchange(0, tls_ca=own.ca, token_file=token_file))
        assert b"Paddle-HMAC nonce=" in relay.seen, "it reads and passes on what it likes"


class Relay:
    """Ends TLS on both sides of it and passes on what is said, one connection at a time."""

    def __init__(self, host: str, port: int, shown: ssl.SSLContext, ca: str) -> None:
        self.seen = bytearray()
        self._port, self._shown, self._trust = port, shown, read_trust(ca)
        self._listener = socket.create_server((host, port))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Relay:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.join(PATIENCE_S)
        self._listener.close()

    def _serve(self) -> None:
        plain, _ = self._listener.accept()
        with self._shown.wrap_socket(plain, server_side=True) as near:
            raw = socket.create_connection(("127.0.0.1", self._port))
            with self._trust.wrap_socket(raw, server_hostname="127.0.0.1") as far:
                while request := near.recv(1 << 16):  # a question, then an answer
                    self.seen += request
                    far.sendall(request)
                    near.sendall(far.recv(1 << 16))


# Files.


def test_files_that_are_none_are_told_with_how_to_make_one(papers: Files, tmp_path: Path) -> None:
    other = Files(tmp_path / "other", Authority("job", datetime.now(UTC)).issue(ADDRESSES))
    empty = tmp_path / "empty"
    empty.touch()
    for certificate, key in (
        (papers.cert, ""),
        ("", papers.key),
        (papers.cert, other.key),
        (papers.key, papers.cert),
        (str(empty), papers.key),
        ("/no/such", papers.key),
        (papers.cert, str(tmp_path)),
        (papers.cert, "\0"),
    ):
        with pytest.raises(BadTlsFile, match=r"tls_.*openssl req"):
            read_certificate(certificate, key)
    for authority in (str(empty), papers.key, "/no/such", str(tmp_path), "~nobody-at-all/x"):
        with pytest.raises(BadTlsFile, match=r"tls_ca.*openssl req"):
            read_trust(authority)


def test_a_key_that_others_may_read_is_warned_of(papers: Files) -> None:
    assert read_certificate(papers.cert, papers.key)[1] is None
    Path(papers.key).chmod(0o640)
    assert f"chmod 600 {papers.key}" in str(read_certificate(papers.cert, papers.key)[1])


def test_a_key_with_a_password_asks_nobody_for_it(tmp_path: Path, papers: Files) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(Path(papers.key).read_bytes(), None)
    locked = tmp_path / "locked"
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    with pytest.raises(BadTlsFile, match="password"):
        read_certificate(papers.cert, str(locked))
