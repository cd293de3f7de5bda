"""TLS: what a pserver shows, whom a trainer trusts, and the files that both come from.

A pserver has a certificate. A trainer knows whose signature it must have, and goes by the host that it was
told: a certificate for another one is none. Who the trainer is, the token says (auth.py); its proof names the
certificate that the trainer saw, so that nobody in between can pass it on.

It must never know a session, and shows nothing of a key. Guarantee: a file from which nothing comes is told
by name, with how to make one, before anything is served or asked.
"""

from __future__ import annotations

import hashlib
import re
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path

from paddle._pserver.errors import BadTlsFile

HANDSHAKE_S = 10.0
FIRST_BYTE = b"\x16"  # of a connection that begins with TLS; no text begins so

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_HOW = (
    "One that is its own authority is made with `openssl req -x509 -newkey ec -pkeyopt "
    "ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=job -addext subjectAltName=IP:10.0.0.1,DNS:node1 "
    "-keyout job.key -out job.crt`: pservers get --tls_cert=job.crt --tls_key=job.key, trainers "
    "PADDLE_TLS_CA=job.crt"
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a pserver shows, ready to be used. ``name``: what it is called in a proof."""

    context: ssl.SSLContext
    name: str


def read_certificate(certificate: str, key: str) -> tuple[Certificate, str | None]:
    """From the files of a certificate (and those that lead to its authority) and of its key, and a warning
    where others may read the key. Raises BadTlsFile."""
    if not certificate or not key:
        raise BadTlsFile(f"tls_cert and tls_key need each other, and one of them is missing. {_HOW}.")
    context = _context(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0  # nobody comes back by one
    try:
        found = _CERTIFICATE.search(_text(certificate, "tls_cert"))
        if found is None:
            raise BadTlsFile(f"tls_cert {certificate} has no certificate in PEM. {_HOW}.")
        _text(key, "tls_key")
        context.load_cert_chain(_expanded(certificate), _expanded(key), password=_no_password)
        mode = _expanded(key).stat().st_mode
    except (ssl.SSLError, ValueError, OSError) as error:
        why = getattr(error, "reason", None) or error
        both = f"tls_cert {certificate} and tls_key {key}"
        raise BadTlsFile(f"{both} are not a pair: {why}. {_HOW}.") from error
    return Certificate(context, name_of(ssl.PEM_cert_to_DER_cert(found[0]))), _warning(key, mode)


def read_trust(authority: str) -> ssl.SSLContext:
    """Whom a trainer trusts: the certificates in a file. Raises BadTlsFile."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=_text(authority, "tls_ca"))
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise BadTlsFile(f"tls_ca {authority} has no certificate in PEM: {why}. {_HOW}.") from error
    return context


def name_of(certificate: bytes) -> str:
    """How both sides call a certificate (DER) in a proof."""
    return f"sha256:{hashlib.sha256(certificate).hexdigest()}"


def _context(protocol: int) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def _expanded(path: str) -> Path:
    return Path(path).expanduser()


def _text(path: str, flag: str) -> str:
    try:
        file = _expanded(path)
        if not file.is_file():
            raise BadTlsFile(f"{flag} {path} is not a file. {_HOW}.")
        return file.read_text("latin-1")
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadTlsFile(f"cannot read {flag} {path}: {why}. {_HOW}.") from error


def _no_password() -> str:
    raise ValueError("the key has a password, which nobody is there to give")


def _warning(path: str, mode: int) -> str | None:
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return None
    return f"others on this machine may read the key in {path}: `chmod 600 {path}`"
