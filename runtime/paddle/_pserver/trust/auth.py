"""Auth: how a trainer and a pserver show each other that they have the job's token, and never say it.

    trainer    GET /v1/session
    pserver    401  WWW-Authenticate: Paddle-HMAC nonce=N
    trainer    GET /v1/session  Authorization: Paddle-HMAC nonce=N, client=C, proof=P
    pserver    101  Authentication-Info: Paddle-HMAC proof=Q

N and C are 32 bytes of chance, P and Q are HMAC-SHA256 under the token over whose proof it is, the place (the
pserver's address and port, as either side sees them on its own end of the connection), N and C. So a proof is
good for one question of one pserver, and one that was made for another place is good for nothing. Where the
connection is encrypted, the certificate that either side knows of stands in place of the address: who is in
between has another one, and address translation does no harm.

1.  A nonce is good once, for ``NONCE_S``, for the host that asked. No more than ``MAX_NONCES`` are
    outstanding: then the oldest one is forgotten.
2.  Whoever asks pays: a host may ask ``BURST`` times at once, and ``REFILL_PER_S`` times a second; a proof
    that is right is paid back. Of hosts ``MAX_HOSTS`` are remembered, those that asked last. What one host
    does costs another nothing, where a host is an IPv4 address, or an IPv6 network of 64 bits.
3.  Who only wants to look needs the view key, which follows from the token and lets nobody train: it travels
    as it is, and may be overheard.

It must never know a socket, a shard, or what is trained; time and chance are arguments. Guarantee: a proof is
compared in a time that does not depend on where it is wrong, memory is bounded whatever is asked, and no
text, error or repr has the token.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal, get_args

SCHEME = "Paddle-HMAC"
NONCE_S = 10.0
MAX_NONCES = 4096
BURST = 64
REFILL_PER_S = 2.0
MAX_HOSTS = 4096

Reason = Literal["malformed", "unknown_nonce", "wrong_proof", "wrong_key", "too_often"]
REASONS: tuple[Reason, ...] = get_args(Reason)

_DIGITS = "([0-9a-f]{64})"
_CHALLENGE = re.compile(rf"{SCHEME} nonce={_DIGITS}")
_PROOF = re.compile(rf"{SCHEME} nonce={_DIGITS}, client={_DIGITS}, proof={_DIGITS}")
_INFO = re.compile(rf"{SCHEME} proof={_DIGITS}")


class Token:
    """What all processes of a job know, and nobody else."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "Token(...)"

    def proof(self, whose: Literal["trainer", "pserver"], place: str, nonce: str, client: str) -> bytes:
        """What only somebody with the token can say."""
        return hmac.digest(self._key, f"paddle {whose}\n{place}\n{nonce}\n{client}".encode(), "sha256")

    @property
    def view_key(self) -> str:
        """What lets somebody look."""
        return hmac.digest(self._key, b"paddle view", "sha256").hex()


@dataclass(frozen=True, slots=True)
class Challenge:
    """Prove it, with this ``header``."""

    header: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """Come in; ``header``: this side's proof."""

    header: str


@dataclass(frozen=True, slots=True)
class Denied:
    """Why not; ``retry_s``: when asking again makes sense, 0 for at once or never."""

    reason: Reason
    retry_s: float = 0.0


class Gate:
    """The pserver's side of one port. ``chance()`` gives 32 bytes that nobody can foresee; ``certificate``:
    how the one that it shows is called, where it has one."""

    def __init__(self, token: Token, chance: Callable[[], bytes], certificate: str = "") -> None:
        self.certificate = certificate
        self.challenges = self.admitted = 0
        self.denied: Counter[Reason] = Counter()
        self._token, self._chance = token, chance
        self._nonces: OrderedDict[str, tuple[str, float]] = OrderedDict()  # host and end, oldest first
        self._purses = Purses()

    def knock(self, header: str | None, peer: str, place: str, now: float) -> Challenge | Admitted | Denied:
        """Somebody at the address ``peer`` wants in; ``header``: of Authorization."""
        host = host_of(peer)
        if header is None:
            return self._challenge(host, now)
        found = _PROOF.fullmatch(header)
        if found is None:
            return self._deny("malformed", host, now)
        nonce, client, proof = found.groups()
        if not self._redeem(nonce, host, now):
            return self._deny("unknown_nonce", host, now)
        if not hmac.compare_digest(bytes.fromhex(proof), self._token.proof("trainer", place, nonce, client)):
            self.denied["wrong_proof"] += 1  # the challenge was paid for
            return Denied("wrong_proof")
        self._purses.pay_back(host)
        self.admitted += 1
        return Admitted(f"{SCHEME} proof={self._token.proof('pserver', place, nonce, client).hex()}")

    def may_look(self, header: str | None, peer: str, now: float) -> bool:
        """Whether ``header`` brings the view key, as a Bearer's or as a password."""
        if header is None:
            return False
        wait_s = self._purses.pay(host_of(peer), now)
        if wait_s > 0:
            self.denied["too_often"] += 1
            return False
        if not hmac.compare_digest(_key_in(header), self._token.view_key.encode()):
            self.denied["wrong_key"] += 1
            return False
        self._purses.pay_back(host_of(peer))
        return True

    def _challenge(self, host: str, now: float) -> Challenge | Denied:
        wait_s = self._purses.pay(host, now)
        if wait_s > 0:
            return self._deny_for(wait_s)
        self._forget(now)
        nonce = self._chance().hex()
        self._nonces[nonce] = (host, now + NONCE_S)
        self.challenges += 1
        return Challenge(f"{SCHEME} nonce={nonce}")

    def _forget(self, now: float) -> None:
        """Make room for one more."""
        while self._nonces:
            oldest = next(iter(self._nonces))
            if self._nonces[oldest][1] > now and len(self._nonces) < MAX_NONCES:
                break
            del self._nonces[oldest]

    def _redeem(self, nonce: str, host: str, now: float) -> bool:
        owner, end = self._nonces.pop(nonce, ("", 0.0))
        return owner == host and now < end

    def _deny(self, reason: Reason, host: str, now: float) -> Denied:
        wait_s = self._purses.pay(host, now)
        if wait_s > 0:
            return self._deny_for(wait_s)
        self.denied[reason] += 1
        return Denied(reason)

    def _deny_for(self, wait_s: float) -> Denied:
        self.denied["too_often"] += 1
        return Denied("too_often", wait_s)


class Purses:
    """How often each host may still ask: rule 2."""

    def __init__(self) -> None:
        self._purses: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and since when

    def __len__(self) -> int:
        return len(self._purses)

    def pay(self, host: str, now: float) -> float:
        """Ask once: 0 if it may, else the seconds until it may."""
        left, since = self._purses.pop(host, (float(BURST), now))
        left = min(float(BURST), left + max(0.0, now - since) * REFILL_PER_S)
        allowed = left >= 1
        self._purses[host] = (left - allowed, now)
        if len(self._purses) > MAX_HOSTS:
            self._purses.popitem(last=False)
        return 0.0 if allowed else (1 - left) / REFILL_PER_S

    def pay_back(self, host: str) -> None:
        """It had a right to ask."""
        if host in self._purses:
            left, since = self._purses[host]
            self._purses[host] = (min(float(BURST), left + 1), since)


class Prover:
    """The trainer's side of one connection. ``chance``: 32 bytes that nobody can foresee."""

    def __init__(self, token: Token, place: str, chance: bytes) -> None:
        self._token, self._place, self._client = token, place, chance.hex()
        self._nonce = ""

    def answer(self, challenge: str) -> str | None:
        """The header Authorization for a header WWW-Authenticate; None for one that is none of ours."""
        found = _CHALLENGE.fullmatch(challenge)
        if found is None:
            return None
        self._nonce = found[1]
        proof = self._token.proof("trainer", self._place, self._nonce, self._client).hex()
        return f"{SCHEME} nonce={self._nonce}, client={self._client}, proof={proof}"

    def believes(self, info: str) -> bool:
        """Whether the header Authentication-Info shows that the other side has the token."""
        found = _INFO.fullmatch(info)
        expected = self._token.proof("pserver", self._place, self._nonce, self._client)
        return found is not None and hmac.compare_digest(bytes.fromhex(found[1]), expected)


def place_of(address: str, port: int) -> str:
    """How both sides write where the pserver is: ``address``, or how its certificate is called."""
    return f"{plain(address)} {port}"


def plain(address: str) -> str:
    """One spelling for every address: IPv4 as itself where a socket shows it within IPv6."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str((isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip)


def host_of(peer: str) -> str:
    """Whom a limit is for."""
    address = plain(peer)
    return str(ip_network(f"{address}/64", strict=False)) if ":" in address else address


def _key_in(header: str) -> bytes:
    """The view key that a header brings; of Basic the password."""
    scheme, _, given = header.partition(" ")
    if scheme.lower() == "bearer":
        return given.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(given, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
