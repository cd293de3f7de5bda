"""Who comes to a real pserver without the token of its job, or with what is no proof of it any more: he is
refused and counted by why, no more often than a host may ask; nobody is shown the token, or held up."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.errors import NotAuthorized
from paddle._pserver.protocol.messages import PROTOCOL, Declare, Hello, Push, Seed
from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import BURST, REASONS, REFILL_PER_S, SCHEME, Prover, Token, place_of
from tests.cluster.by_hand import trainer
from tests.faults.lying_open import everywhere, files, showing
from tests.faults.peers.lone_pserver import Server, server, token_file
from tests.faults.toxic import Link, Links
from tests.ports import free_port
from tests.pserver.hostile import of
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.patient]

MODEL = (ParameterSpec(name="w", shape=(4,)),)
ONES = np.ones(4, np.float32)
UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0))
ELSEWHERE = "127.0.0.9"
TRIES = 1000
WRONG = "an0ther-" * 8


@pytest.fixture(autouse=True)
def nobody_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody comes over TCP: what is asked by the name of a shard is this machine's."""
    monkeypatch.setattr(nearby, "connect", lambda *place: None)


@contextlib.contextmanager
def trained(running: Server, **options: Any) -> Iterator[np.ndarray]:
    """What a trainer has after three steps, which stays as long."""
    exchange = running.exchange(0, **options)
    try:
        values = exchange.start(MODEL, UPDATE, {"w": ONES})["w"]
        for _ in range(3):
            exchange.step({"w": ONES}, 1)
        yield values
    finally:
        exchange.close("it has seen enough")


def comes(running: Server, **options: Any) -> None:
    with trained(running, **options):
        pass


def denied(running: Server) -> dict[str, int]:
    """How often, for each reason."""
    found = {labels[len('reason="') : -1]: count for labels, count in running.counted("denied_total").items()}
    assert set(found) == set(REASONS)
    return {reason: count for reason, count in found.items() if count}


class Caller(http.client.HTTPConnection):
    """Somebody of a host who asks a pserver."""

    def __init__(self, running: Server, host: str = "127.0.0.1") -> None:
        super().__init__("127.0.0.1", running.port, timeout=PATIENCE_S, source_address=(host, 0))

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, said: str | None = None) -> http.client.HTTPResponse:
        more = {} if said is None else {"Authorization": said, "Connection": "Upgrade", "Upgrade": UPGRADE}
        self.request("GET", SESSION_PATH, headers=more)
        answer = self.getresponse()
        if answer.status != 101:
            answer.read()
        return answer

    def proof(self, token: str) -> str:
        """The header that proves to have ``token``, once."""
        prover = Prover(Token(token.encode()), place_of("127.0.0.1", self.port), os.urandom(32))
        said = prover.answer(self.ask().headers["WWW-Authenticate"])
        assert said is not None
        return said


def test_no_token_another_one_and_an_old_proof_are_refused_and_counted(tmp_path: Path) -> None:
    with server(tmp_path / "job", 1) as running:
        with pytest.raises(NotAuthorized, match="with a token only, and this one has none"):
            comes(running, token_file="")
        assert denied(running) == {}, "it was told what to bring, and went"
        with pytest.raises(NotAuthorized, match="another token than this trainer"):
            comes(running, token_file=token_file(tmp_path, WRONG))
        assert denied(running) == {"wrong_proof": 1}
        with Caller(running) as caller, Caller(running, ELSEWHERE) as other:
            said = caller.proof(running.secret)
            assert other.ask(said).status == 403, "a challenge is for whoever asked"
            said = caller.proof(running.secret)
            assert caller.ask(f"{said}x").status == 403
            assert caller.ask(f"{SCHEME} nonce=-1").status == 403
        assert denied(running) == {"wrong_proof": 1, "unknown_nonce": 1, "malformed": 2}
        assert running.counted("admitted_total") == {"": 0}
        assert running.counted("trainers")['state="joined"'] == 0
        with trained(running) as values:
            assert np.array_equal(values, -2 * ONES)


def test_a_hello_that_somebody_heard_and_says_again_is_nobodys(tmp_path: Path) -> None:
    """All that a trainer said, from its proof to its first gradient, word by word."""
    words = (
        of(Hello(PROTOCOL, 0, 1, "dense", "a"))
        + of(Declare(MODEL, UPDATE, 0, 1))
        + of(Seed(), ONES.tobytes())
        + of(Push(1, 0, 1), ONES.tobytes())
    )
    with server(tmp_path / "job", 1) as running:
        with Caller(running) as caller:
            head = f"GET {SESSION_PATH} HTTP/1.1\r\nHost: it\r\nConnection: Upgrade\r\nUpgrade: {UPGRADE}\r\n"
            said = f"{head}Authorization: {caller.proof(running.secret)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", running.port), PATIENCE_S) as first:
            first.sendall(said)
            assert first.recv(1 << 14).startswith(b"HTTP/1.1 101 ")
            first.sendall(words)
            until(lambda: running.counted("steps_total") == {"": 1}, "its gradient to count")
        for after in (b"", words):
            with socket.create_connection(("127.0.0.1", running.port), PATIENCE_S) as again:
                again.sendall(said + after)
                assert again.recv(1 << 14).startswith(b"HTTP/1.1 403 ")
        assert denied(running) == {"unknown_nonce": 2}
        assert running.counted("admitted_total") == {"": 1}
        assert running.counted("steps_total") == {"": 1}


def overheard(link: Link) -> bytearray:
    """What passes it from now on, both ways."""
    heard, passes = bytearray(), link._harmed

    def listening(data: bytes, *how: Any) -> bytes:
        heard.extend(data)
        return passes(data, *how)

    link._harmed = listening  # type: ignore[method-assign]
    return heard


def test_who_stands_between_hears_no_token_and_what_he_heard_lets_nobody_in(tmp_path: Path) -> None:
    with server(tmp_path / "job", 1) as running, Links() as links:
        link = links.add(("127.0.0.1", free_port(["127.0.0.1"], 1)), ("127.0.0.1", running.port))
        heard = overheard(link)
        with pytest.raises(NotAuthorized, match="or is behind an address that is not its own"):
            comes(running, port=link.at[1])
        (said,) = re.findall(rb"Authorization: (.*)\r\n", bytes(heard))
        with Caller(running) as caller:
            assert caller.ask(said.decode()).status == 403
        assert denied(running) == {"wrong_proof": 1, "unknown_nonce": 1}
        assert running.counted("admitted_total") == {"": 0}
        assert showing(running.secret.encode(), [("the wire", bytes(heard))]) == []


def test_a_thousand_tries_of_a_host_are_counted_few_are_looked_at_and_others_come_in(tmp_path: Path) -> None:
    seen = Counter[int]()
    with (
        server(tmp_path / "job", 1) as running,
        Caller(running, ELSEWHERE) as caller,
        contextlib.ExitStack() as stack,
    ):
        kinds = [
            lambda: None,  # nothing, and is challenged
            lambda: "Bearer x",
            lambda: f"{SCHEME} nonce={os.urandom(32).hex()}, client={0:064x}, proof={0:064x}",
        ]
        began = time.monotonic()
        seen[caller.ask(caller.proof(WRONG)).status] += 1
        challenged = 1
        for number in range(TRIES):
            said = kinds[number % len(kinds)]()
            answer = caller.ask(said)
            seen[answer.status] += 1
            challenged += answer.status == 401
            if answer.status == 429:
                assert int(answer.headers["Retry-After"]) >= 1
            if number == TRIES // 4:
                values = stack.enter_context(trained(running))
                assert np.array_equal(values, -2 * ONES)
                before = running.peaks()[0]
        paid = BURST + REFILL_PER_S * (time.monotonic() - began)
        assert set(seen) == {401, 403, 429}
        assert BURST <= seen[401] + seen[403] <= paid + 1
        found = denied(running)
        assert found["wrong_proof"] == 1
        assert found["too_often"] == seen[429]
        assert found["malformed"] + found["unknown_nonce"] + 1 == seen[403]
        assert running.counted("challenges_total") == {"": challenged + 1}, "and that of the trainer"
        assert running.counted("admitted_total") == {"": 1}
        assert running.peaks()[0] - before < 16 << 20
        assert running.log.read_text().count("refused a trainer at") == seen[403]


# It dumps where it is, as a debugger would.
TRAIN = """
import faulthandler, os, sys, time
import numpy as np
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.trainer.remote import RemoteExchange

exchange = RemoteExchange(
    ["127.0.0.1"], port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1, ports_num_for_sparse=0,
    num_gradient_servers=2, trainer_id=0, token_file=os.environ["PADDLE_TOKEN_FILE"])
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(), mode=ModeSpec(name="async"))
ones = {"w": np.ones(4, np.float32)}
exchange.start((ParameterSpec(name="w", shape=(4,)),), update, ones)
open("trains", "w").close()
while not os.path.exists("end"):
    time.sleep(0.01)
exchange.step(ones, 1)
faulthandler.dump_traceback(sys.stdout)
exchange.close()
"""
LOUD = {"PYTHONDEVMODE": "1", "PYTHONASYNCIODEBUG": "1", "PYTHONFAULTHANDLER": "1"}
PAGES = ("/", "/metrics", "/v1/status", "/healthz")


def test_no_process_of_a_job_that_is_started_by_hand_shows_the_token(tmp_path: Path) -> None:
    """However much they tell: one trains, one fails since it has another token, and the pserver crashes."""
    with server(tmp_path / "job", 2, **LOUD) as running:
        wrong = token_file(tmp_path, WRONG, "wrong")
        port = {"PADDLE_INIT_PORT": str(running.port), **LOUD}
        trains = trainer(tmp_path, TRAIN, PADDLE_TOKEN_FILE=running.token_file, **port)
        until((tmp_path / "trains").exists, "it to train")
        failed = trainer(tmp_path, TRAIN, PADDLE_TOKEN_FILE=wrong, **port).communicate(timeout=PATIENCE_S)[0]
        seen = list(everywhere())
        pages = [(path, running.page(path)) for path in PAGES]
        (tmp_path / "end").touch()
        trained = trains.communicate(timeout=PATIENCE_S)[0]
        assert trains.returncode == 0, trained
        shard = int(running.shards()[0].name)
        resource.prlimit(shard, resource.RLIMIT_CORE, (0, 0))  # its memory has the token
        os.kill(shard, signal.SIGABRT)
        assert running.process.wait(PATIENCE_S) == 128 + signal.SIGABRT
        logged = running.log.read_text()
    told = running.token_file.encode()
    assert len([place for place, content in seen if told in content and place.endswith("/cmdline")]) == 2
    assert len([place for place, content in seen if told in content and place.endswith("/environ")]) == 1
    assert "NotAuthorized" in failed
    assert "Fatal Python error: Aborted" in logged
    assert "most recent call first" in logged and "most recent call first" in trained
    shown = [*seen, *pages, ("trained", trained.encode()), ("failed", failed.encode()), *files(tmp_path)]
    assert showing(running.secret.encode(), shown) == [running.token_file]
    assert showing(WRONG.encode(), shown) == [wrong]
    assert showing(Token(running.secret.encode()).view_key.encode(), shown) == []
