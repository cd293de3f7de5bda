"""The authority of one job: what it signs is good for a node, and for nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from paddle._launch.authority import Authority, Papers

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def verified(papers: Papers, authority: str, name: x509.GeneralName, when: datetime = NOW) -> None:
    """By another program than the one that trainers use, which also asks for all that a standard wants."""
    store = Store(x509.load_pem_x509_certificates(authority.encode()))
    verifier = PolicyBuilder().store(store).time(when).build_server_verifier(name)
    verifier.verify(x509.load_pem_x509_certificate(papers.certificate.encode()), [])


def test_a_node_is_known_by_each_of_its_addresses_and_by_no_other() -> None:
    from ipaddress import ip_address

    papers = Authority("JOB1", NOW).issue(["10.0.0.1", "node1", "fd00::1"])
    for name in (
        x509.IPAddress(ip_address("10.0.0.1")),
        x509.IPAddress(ip_address("fd00::1")),
        x509.DNSName("node1"),
    ):
        verified(papers, papers.authority, name)
    for name in (x509.IPAddress(ip_address("10.0.0.2")), x509.DNSName("node2")):
        with pytest.raises(VerificationError):
            verified(papers, papers.authority, name)


def test_another_jobs_authority_is_another_one() -> None:
    one, other = Authority("JOB1", NOW), Authority("JOB1", NOW)
    with pytest.raises(VerificationError):
        verified(one.issue(["node1"]), other.issue(["node1"]).authority, x509.DNSName("node1"))


def test_clocks_may_differ_by_a_day_and_a_job_may_take_years() -> None:
    papers = Authority("JOB1", NOW).issue(["node1"])
    for when in (NOW - timedelta(hours=23), NOW + timedelta(days=4 * 365)):
        verified(papers, papers.authority, x509.DNSName("node1"), when)
    with pytest.raises(VerificationError):
        verified(papers, papers.authority, x509.DNSName("node1"), NOW - timedelta(days=2))


def test_what_a_node_has_signs_for_nobody() -> None:
    authority = Authority("JOB1", NOW)
    papers, again = authority.issue(["node1"]), authority.issue(["node1"])
    certificate = x509.load_pem_x509_certificate(papers.certificate.encode())
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    with pytest.raises((ValueError, InvalidSignature)):
        x509.load_pem_x509_certificate(again.certificate.encode()).verify_directly_issued_by(certificate)
    assert papers.key != again.key
    key = load_pem_private_key(papers.key.encode(), None)
    assert key.public_key() == certificate.public_key()
    assert papers.key not in repr(papers)
