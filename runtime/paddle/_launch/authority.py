"""A certificate authority for one job: its trainers trust it alone, and its pservers have what it signed.

Its key exists only here, in memory, and is gone with this object; nobody can sign for the job later. It must
never know where what it makes is kept.

Guarantee: a certificate is good for the addresses of one node, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CLOCKS_DIFFER = timedelta(days=1)
_LASTS = timedelta(days=5 * 365)  # longer than any job: what ends it is that its key is gone


@dataclass(frozen=True, slots=True)
class Papers:
    """What a node is given, in PEM. ``authority``: whom trainers trust; the other two are its pserver's."""

    authority: str
    certificate: str
    key: str = field(repr=False)


class Authority:
    """See the module's text. ``job``: its name, for people; ``now``: with its time zone."""

    def __init__(self, job: str, now: datetime) -> None:
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority of {job}"[:64])])
        self._certificate = (
            self._begun(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def issue(self, addresses: Sequence[str]) -> Papers:
        """The papers of a node that is reached at ``addresses``: names, IPv4 or IPv6."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pserver")])
        certificate = (
            self._begun(name, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([_written(a) for a in addresses]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Papers(_pem(self._certificate), _pem(certificate), private.decode())

    def _begun(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCKS_DIFFER)
            .not_valid_after(self._now + _LASTS)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(signer, critical=False)
        )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _written(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
