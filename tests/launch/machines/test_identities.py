"""Which key of an agent is one of the files that a connection is to log in with."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from hypothesis import given
from hypothesis import strategies as st

from paddle._launch.machines import identities
from tests.lab.home import make_key


class AgentKey:
    def __init__(self, shown: str) -> None:
        self.shown = shown

    def asbytes(self) -> bytes:
        return base64.b64decode(self.shown.split()[1])


@pytest.fixture
def having(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An agent that has these keys."""

    def has(*shown: str) -> None:
        keys = [AgentKey(one) for one in shown]
        monkeypatch.setattr(identities, "Agent", lambda: type("Agent", (), {"get_keys": lambda self: keys})())

    return has


def found(*files: Path) -> str | None:
    key: Any = identities.of_agent([str(file) for file in files])
    return key and str(key.shown)


def test_a_file_is_known_by_its_public_half_wherever_that_stands(having: Any, tmp_path: Path) -> None:
    one, two, other = (make_key(tmp_path / name) for name in ("one", "two", "other"))
    having(other, two, one)
    assert found(tmp_path / "two") == two
    (tmp_path / "two.pub").unlink()
    assert found(tmp_path / "none", tmp_path / "two", tmp_path / "one") == two, "it is in the file, too"
    key = load_ssh_private_key((tmp_path / "two").read_bytes(), None)
    locked = form.BestAvailableEncryption(b"secret")
    (tmp_path / "two").write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, locked))
    assert found(tmp_path / "two") == two, "also of one that has a passphrase"
    assert found(tmp_path / "one.pub") == one


def test_what_the_agent_does_not_have_or_is_no_key_is_none(having: Any, tmp_path: Path) -> None:
    make_key(tmp_path / "one")
    having(make_key(tmp_path / "other"))
    (tmp_path / "pem").write_text("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n")
    (tmp_path / "empty").write_text("")
    files = [tmp_path / name for name in ("one", "pem", "empty", "none")]
    assert found(*files, tmp_path) is None


@given(st.binary(max_size=200))
def test_whatever_a_file_holds_it_is_no_error(tmp_path_factory: Any, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("keys")
    (folder / "raw").write_bytes(data)
    body = base64.b64encode(identities._MAGIC + data).decode()
    (folder / "made").write_text(f"{identities._FIRST}\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    for name in ("raw", "made"):
        assert all(isinstance(public, bytes) for public in identities._public_halves(folder / name))
