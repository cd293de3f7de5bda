"""Proving to have the token: the gate and the prover, without a network; time and chance by hand."""

from __future__ import annotations

import base64
import hashlib
import hmac
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._pserver.trust.auth import (
    BURST,
    MAX_HOSTS,
    MAX_NONCES,
    NONCE_S,
    REFILL_PER_S,
    Admitted,
    Challenge,
    Denied,
    Gate,
    Prover,
    Purses,
    Token,
    host_of,
    place_of,
    plain,
)

KEY = b"a token of a job, in a test"
TOKEN, OTHER = Token(KEY), Token(b"the token of another job")
PLACE, PEER = place_of("10.0.0.1", 7164), "10.0.0.9"


def a_gate(token: Token = TOKEN) -> Gate:
    numbers = count(1)
    return Gate(token, lambda: next(numbers).to_bytes(32, "big"))


def challenge(gate: Gate, peer: str = PEER, now: float = 0.0) -> str:
    answer = gate.knock(None, peer, PLACE, now)
    assert isinstance(answer, Challenge)
    return answer.header


def proof(header: str, token: Token = TOKEN, place: str = PLACE) -> str:
    answer = Prover(token, place, b"c" * 32).answer(header)
    assert answer is not None
    return answer


def reason(answer: object) -> str:
    assert isinstance(answer, Denied)
    return answer.reason


@given(key=st.binary(min_size=1), chance=st.binary(min_size=32, max_size=32), port=st.integers(1, 65535))
def test_both_sides_with_one_token_believe_each_other(key: bytes, chance: bytes, port: int) -> None:
    place = place_of("::ffff:10.0.0.1", port)
    gate, prover = a_gate(Token(key)), Prover(Token(key), place_of("10.0.0.1", port), chance)
    asked = gate.knock(None, PEER, place, 0.0)
    assert isinstance(asked, Challenge)
    admitted = gate.knock(prover.answer(asked.header), PEER, place, 1.0)
    assert isinstance(admitted, Admitted)
    assert prover.believes(admitted.header)
    assert (gate.challenges, gate.admitted, gate.denied) == (1, 1, {})


def test_the_proof_is_hmac_sha256_over_side_place_and_both_nonces() -> None:
    said = proof(challenge(a_gate()))
    nonce, client = f"{1:064x}", (b"c" * 32).hex()
    text = f"paddle trainer\n10.0.0.1 7164\n{nonce}\n{client}"
    digest = hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()
    assert said == f"Paddle-HMAC nonce={nonce}, client={client}, proof={digest}"


@given(mine=st.binary(min_size=1), its=st.binary(min_size=1))
def test_with_two_tokens_neither_believes_the_other(mine: bytes, its: bytes) -> None:
    # HMAC pads a short key with zeros, and hashes a long one: no token is made of either.
    if mine.rstrip(b"\0") == its.rstrip(b"\0"):
        return
    gate, prover = a_gate(Token(mine)), Prover(Token(its), PLACE, b"c" * 32)
    header = challenge(gate)
    assert reason(gate.knock(prover.answer(header), PEER, PLACE, 0.0)) == "wrong_proof"
    forged = gate._token.proof("pserver", PLACE, header[-64:], (b"c" * 32).hex()).hex()
    assert not prover.believes(f"Paddle-HMAC proof={forged}")


def test_a_nonce_is_good_once() -> None:
    gate = a_gate()
    said = proof(challenge(gate))
    assert isinstance(gate.knock(said, PEER, PLACE, 1.0), Admitted)
    assert reason(gate.knock(said, PEER, PLACE, 1.0)) == "unknown_nonce"


def test_a_nonce_that_was_answered_wrongly_is_used_up() -> None:
    gate = a_gate()
    header = challenge(gate)
    assert reason(gate.knock(proof(header, OTHER), PEER, PLACE, 1.0)) == "wrong_proof"
    assert reason(gate.knock(proof(header), PEER, PLACE, 1.0)) == "unknown_nonce"


def test_a_nonce_is_good_for_a_while_and_for_who_asked() -> None:
    gate = a_gate()
    late, others = proof(challenge(gate)), proof(challenge(gate))
    assert reason(gate.knock(late, PEER, PLACE, NONCE_S)) == "unknown_nonce"
    assert reason(gate.knock(others, "10.0.0.8", PLACE, 1.0)) == "unknown_nonce"


@pytest.mark.parametrize("elsewhere", [place_of("10.0.0.2", 7164), place_of("10.0.0.1", 7165)])
def test_a_proof_for_another_pserver_is_good_for_nothing(elsewhere: str) -> None:
    gate = a_gate()
    assert reason(gate.knock(proof(challenge(gate), place=elsewhere), PEER, PLACE, 0.0)) == "wrong_proof"


def test_a_trainers_own_proof_is_not_believed_when_it_comes_back() -> None:
    gate = a_gate()
    prover = Prover(TOKEN, PLACE, b"c" * 32)
    said = prover.answer(challenge(gate))
    assert said is not None
    assert not prover.believes(f"Paddle-HMAC proof={said[-64:]}")


def test_a_thousand_tries_are_refused_and_few_of_them_looked_at() -> None:
    gate = a_gate()
    for _ in range(1000):
        asked = gate.knock(None, PEER, PLACE, 5.0)
        if isinstance(asked, Challenge):
            assert reason(gate.knock(proof(asked.header, OTHER), PEER, PLACE, 5.0)) == "wrong_proof"
        else:
            assert reason(asked) == "too_often"
            assert asked.retry_s <= 1 / REFILL_PER_S
    assert gate.admitted == 0
    assert gate.denied == {"wrong_proof": BURST, "too_often": 1000 - BURST}
    assert isinstance(gate.knock(proof(challenge(gate, "10.0.0.8")), "10.0.0.8", PLACE, 5.0), Admitted)
    assert isinstance(gate.knock(None, PEER, PLACE, 5.0 + 1 / REFILL_PER_S), Challenge), "later it may again"


def test_whoever_has_the_token_may_come_as_often_as_it_likes() -> None:
    gate = a_gate()
    for _ in range(10 * BURST):
        assert isinstance(gate.knock(proof(challenge(gate)), PEER, PLACE, 0.0), Admitted)


def test_challenges_that_nobody_answers_are_bounded() -> None:
    gate = a_gate()
    first = proof(challenge(gate, "10.1.0.0"))
    for number in range(MAX_NONCES):
        challenge(gate, f"10.2.{number // 250}.{number % 250}")
        assert len(gate._nonces) <= MAX_NONCES
    assert reason(gate.knock(first, "10.1.0.0", PLACE, 0.0)) == "unknown_nonce"
    challenge(gate, now=NONCE_S)
    assert len(gate._nonces) == 1


def test_hosts_that_are_remembered_are_bounded() -> None:
    purses = Purses()
    for number in range(2 * MAX_HOSTS):
        assert purses.pay(str(number), 0.0) == 0.0
        assert len(purses) <= MAX_HOSTS
    purses.pay_back("never seen")
    assert len(purses) <= MAX_HOSTS


@given(st.lists(st.tuples(st.floats(0, 5), st.booleans()), max_size=200))
def test_a_host_asks_no_more_than_its_burst_and_what_time_gives(steps: list[tuple[float, bool]]) -> None:
    purses, now, asked = Purses(), 0.0, 0
    for seconds, has_right in steps:
        now += seconds
        wait_s = purses.pay("host", now)
        if wait_s == 0.0:
            asked += 1
            if has_right:
                asked -= 1
                purses.pay_back("host")
        else:
            assert 0 < wait_s <= 1 / REFILL_PER_S
        assert asked <= BURST + now * REFILL_PER_S + 1e-6


@given(
    st.text()
    | st.text().map("Paddle-HMAC {}".format)
    | st.from_regex(r"Paddle-HMAC nonce=[0-9a-f]{0,70}, client=[0-9a-fA-F]{60,66}, proof=.*")
)
def test_any_header_that_is_no_proof_is_refused(header: str) -> None:
    gate = a_gate()
    assert reason(gate.knock(header, PEER, PLACE, 0.0)) in ("malformed", "unknown_nonce")
    assert Prover(TOKEN, PLACE, b"c" * 32).answer(header) is None
    assert not Prover(TOKEN, PLACE, b"c" * 32).believes(header)


@pytest.mark.parametrize("peer", ["10.0.0.9", "not an address", "", "fe80::1%eth0", "2001:db8::7"])
def test_whatever_a_peer_is_called_it_has_a_limit(peer: str) -> None:
    gate = a_gate()
    for _ in range(BURST):
        assert reason(gate.knock("nonsense", peer, PLACE, 0.0)) == "malformed"
    assert reason(gate.knock("nonsense", peer, PLACE, 0.0)) == "too_often"


def test_addresses_have_one_spelling_and_a_network_of_ipv6_is_one_host() -> None:
    assert plain("::ffff:10.0.0.1") == "10.0.0.1"
    assert plain("FE80::1%eth0") == "fe80::1"
    assert host_of("2001:db8::1") == host_of("2001:db8::ffff:2") != host_of("2001:db8:0:1::1")
    assert host_of("::ffff:10.0.0.1") == "10.0.0.1" != host_of("10.0.0.2")


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"me:{password}".encode()).decode()


@pytest.mark.parametrize(
    "header", [f"Bearer {TOKEN.view_key}", f"bearer {TOKEN.view_key}", basic(TOKEN.view_key)]
)
def test_the_view_key_lets_look(header: str) -> None:
    gate = a_gate()
    assert all(gate.may_look(header, PEER, 0.0) for _ in range(3 * BURST))


@given(
    st.text() | st.text().map(basic) | st.text().map("Bearer {}".format) | st.text().map("Basic {}".format)
)
def test_nothing_else_lets_look(header: str) -> None:
    gate = a_gate()
    assert not gate.may_look(header, PEER, 0.0)
    assert gate.denied == {"wrong_key": 1}
    assert not gate.may_look(None, PEER, 0.0)


def test_the_token_itself_does_not_let_look_and_the_view_key_does_not_let_train() -> None:
    gate = a_gate()
    assert not gate.may_look(f"Bearer {KEY.decode()}", PEER, 0.0)
    impostor = Token(TOKEN.view_key.encode())
    assert reason(gate.knock(proof(challenge(gate), impostor), PEER, PLACE, 0.0)) == "wrong_proof"


def test_guesses_of_the_view_key_are_limited() -> None:
    gate = a_gate()
    assert not any(gate.may_look(f"Bearer {number}", PEER, 0.0) for number in range(1000))
    assert gate.denied == {"wrong_key": BURST, "too_often": 1000 - BURST}


def test_a_token_shows_itself_nowhere() -> None:
    assert KEY.decode() not in f"{TOKEN!r} {TOKEN} {a_gate()!r} {vars(a_gate())!r}"
    assert not hasattr(TOKEN, "__dict__")
