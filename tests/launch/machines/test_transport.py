"""Connections to nodes: opened side by side with a bound, and every way in which one fails has its words."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from paramiko import (
    AuthenticationException,
    ChannelException,
    ECDSAKey,
    PasswordRequiredException,
    SSHException,
)
from paramiko.ssh_exception import NoValidConnectionsError

from paddle._launch.errors import (
    HostKeyChanged,
    HostKeyUnknown,
    LaunchError,
    LoginRefused,
    NodeError,
    NodeLost,
    NodeUnreachable,
)
from paddle._launch.machines import patience, transport, ways
from paddle._launch.machines.host_keys import Chain
from paddle._launch.machines.known_hosts import HostKey, Known
from paddle._launch.machines.refusals import Door, host_key, no_program
from paddle._launch.machines.transport import Stream, Transport
from paddle._launch.settings import Host
from tests.waiting import PATIENCE_S, until

DOOR = Door(user="root", host="10.0.0.2", port=2222, keys=("~/.ssh/id_rsa", "2 of the ssh agent"))
KEY = ECDSAKey.generate()


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), NodeUnreachable, ["has no address", "HOSTS"]),
        (
            ConnectionRefusedError(111, "refused"),
            NodeUnreachable,
            ["no sshd listens there", "user@host:sshport"],
        ),
        (
            NoValidConnectionsError({("10.0.0.2", 2222): ConnectionRefusedError(111, "refused")}),
            NodeUnreachable,
            ["no sshd listens there"],
        ),
        (
            NoValidConnectionsError({("10.0.0.2", 22): OSError(errno.EHOSTUNREACH, "No route to host")}),
            NodeUnreachable,
            ["No route to host", "Is the machine on"],
        ),
        (
            TimeoutError("timed out"),
            NodeUnreachable,
            ["no answer within 10 s", "`ssh -p 2222 root@10.0.0.2`"],
        ),
        (SSHException("Error reading SSH protocol banner"), NodeUnreachable, ["no sshd", "MaxStartups"]),
        (EOFError(), NodeUnreachable, ["EOFError"]),
        (ChannelException(2, "Connect failed"), NodeUnreachable, ["the jump host says", "Connect failed"]),
        (
            AuthenticationException("Authentication failed."),
            LoginRefused,
            ["Keys tried: ~/.ssh/id_rsa, 2 of the ssh agent", "ssh-copy-id", "Authentication failed. Keys"],
        ),
        (PasswordRequiredException("encrypted"), LoginRefused, ["passphrase", "ssh-add"]),
        (SSHException("No authentication methods available"), LoginRefused, ["nothing to log in with"]),
    ],
)
def test_every_failure_is_typed_and_says_what_to_do(error: Exception, kind: type, words: list[str]) -> None:
    found = ways.refusal(error, DOOR)
    assert type(found) is kind
    assert "root@10.0.0.2 port 2222" in str(found)
    for word in words:
        assert word in str(found)


SHOWN = HostKey(KEY.get_name(), KEY.get_base64())
OTHER = HostKey("ssh-ed25519", "AAAA")


def test_a_key_is_judged_by_all_that_is_known_of_a_host() -> None:
    usual = Path("/home-of/known_hosts")
    known, stale = Known(SHOWN, usual), Known(OTHER, usual)
    assert host_key("n1", SHOWN, [stale, known]) is None, "ssh believes any of them"
    unknown = host_key("[n1]:2222", SHOWN, [])
    assert isinstance(unknown, HostKeyUnknown)
    assert f"{SHOWN.kind} {KEY.fingerprint} for [n1]:2222. `fab trust` shows the keys" in str(unknown)
    changed = host_key("[n1]:2222", SHOWN, [stale], usual)
    assert isinstance(changed, HostKeyChanged)
    assert f"now shows {SHOWN}, and known_hosts of this machine has {OTHER}" in str(changed)
    assert "`ssh-keygen -R '[n1]:2222'`, and have the new one known, `fab trust`" in str(changed)
    assert f"`ssh-keygen -R n1 -f {usual}`" in str(host_key("n1", SHOWN, [stale]))
    for others in ([], [known], [stale]):
        revoked = host_key("n1", SHOWN, [Known(SHOWN, usual, is_revoked=True), *others])
        assert isinstance(revoked, HostKeyChanged)
        assert "is revoked" in str(revoked)


def test_a_python_that_is_too_old_is_told_by_its_version() -> None:
    said = str(no_program(1, "its Python /usr/bin/python3 is 3.9", ("python3",)))
    assert said.startswith("its Python /usr/bin/python3 is 3.9, and the oldest that will do is 3.11. Install")
    assert "NODE_PYTHON" in said


def test_no_python_is_told_apart_from_no_shell() -> None:
    assert "it has no Python: there is no /opt/python or python3" in str(
        no_program(127, "", ("/opt/python", "python3"))
    )
    shell = str(no_program(1, "This account is currently not available.", ("python3",)))
    assert "status 1: This account is currently not available. Its user needs a login shell" in shell


class FakeConnection:
    """A connection that opens when the test says so. ``now`` and ``most``: how many do at a time."""

    now = most = 0
    lock = threading.Lock()
    gate = threading.Event()
    failures: Callable[[str], Exception | None]

    def __init__(self, host: Host) -> None:
        self.host, self.user, self.port, self.gateway = host.name, host.user, 22, None
        self.connect_kwargs = {"allow_agent": False, "look_for_keys": False}
        self.is_connected = False
        self.client = self

    def open(self) -> None:
        kind = type(self)
        with kind.lock:
            kind.now += 1
            kind.most = max(kind.most, kind.now)
        assert kind.gate.wait(PATIENCE_S)
        with kind.lock:
            kind.now -= 1
        if error := kind.failures(self.host):
            raise error
        self.is_connected = True

    def close(self) -> None:
        self.is_connected = False


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeConnection]:
    class Fresh(FakeConnection):
        gate = threading.Event()
        failures = staticmethod(lambda _: None)

    monkeypatch.setattr(ways, "hops", lambda connection: iter([connection]))
    monkeypatch.setattr(ways, "connection", lambda host, _: Fresh(host))
    monkeypatch.setattr(patience, "_PAUSE_S", 0.001)
    monkeypatch.setattr(transport, "TURN_S", PATIENCE_S)
    return Fresh


@pytest.mark.parametrize("nodes", [1, 3, 64])
def test_nodes_are_opened_side_by_side_and_never_more_than_the_bound(fake, nodes: int) -> None:
    opener = Transport("known", parallel=16)
    lines: dict[int, object] = {}

    def go(node: int) -> None:
        lines[node] = opener.line(Host(f"n{node}", "root")).open()

    for node in range(nodes):
        threading.Thread(target=go, args=(node,), daemon=True).start()
    until(lambda: fake.now == min(nodes, 16), "as many as may")
    fake.gate.set()
    until(lambda: len(lines) == nodes, "all of them")
    assert fake.most == min(nodes, 16)


def test_one_that_fails_keeps_no_other_from_opening(fake) -> None:
    fake.gate.set()
    fake.failures = staticmethod(
        lambda host: ConnectionRefusedError(111, "refused") if host == "n1" else None
    )
    opener = Transport("known", parallel=1)
    with pytest.raises(NodeUnreachable, match=r"root@n1 port 22: the connection was refused"):
        opener.line(Host("n1", "root")).open()
    assert opener.line(Host("n2", "root")).open().is_open


def test_a_login_that_was_dropped_among_many_is_tried_again(fake) -> None:
    fake.gate.set()
    tries: list[str] = []

    def fails(host: str) -> Exception | None:
        tries.append(host)
        return SSHException("Error reading SSH protocol banner") if len(tries) < 3 else None

    fake.failures = staticmethod(fails)
    assert Transport("known").line(Host("n1", "root")).open().is_open
    assert len(tries) == 3


def test_what_was_called_off_is_not_opened(fake) -> None:
    opening = Transport("known").line(Host("n1", "root"))
    opening.call_off()
    with pytest.raises(NodeLost, match="the launch was stopped"):
        opening.open()
    assert fake.most == 0


def meet(host_keys: str, home: Path, monkeypatch: pytest.MonkeyPatch, ssh_port: int = 22) -> None:
    """Be shown KEY by a host."""
    monkeypatch.setenv("HOME", str(home))
    (hop,) = ways.hops(ways.connection(Host("n1", "root", ssh_port), host_keys))
    hop.client._policy.missing_host_key(None, "n1", KEY)


def test_an_unknown_host_is_refused(tmp_path, monkeypatch) -> None:
    with pytest.raises(HostKeyUnknown, match=r"\[n1\]:2222"):
        meet("known", tmp_path, monkeypatch, 2222)


def test_an_unknown_host_is_enrolled_where_new_ones_are_taken(tmp_path, monkeypatch) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(
        "Host *\n    UserKnownHostsFile ~/mine\n    HashKnownHosts no\n"
    )
    known = tmp_path / "mine"
    known.write_text("# no newline at its end")
    meet("new", tmp_path, monkeypatch)
    lines = known.read_text().splitlines()
    assert lines == ["# no newline at its end", f"n1 {KEY.get_name()} {KEY.get_base64()}"]


@pytest.mark.parametrize("host_keys", ["known", "new", "any"])
def test_a_host_that_changed_or_is_revoked_is_refused_whatever_is_said(
    tmp_path, monkeypatch, host_keys: str
) -> None:
    (tmp_path / ".ssh").mkdir()
    known = tmp_path / ".ssh" / "known_hosts"
    authority = "@cert-authority * ssh-ed25519 AAAA\n"
    for line in ("n1 ssh-ed25519 AAAA\n", f"@revoked * {KEY.get_name()} {KEY.get_base64()}\n"):
        known.write_text(authority + line)
        with pytest.raises(HostKeyChanged):
            meet(host_keys, tmp_path, monkeypatch)
        assert known.read_text() == authority + line
    known.write_text(f"{authority}n1 {KEY.get_name()} {KEY.get_base64()}\n")
    meet(host_keys, tmp_path, monkeypatch)


def test_any_host_is_taken_and_none_remembered(tmp_path, monkeypatch) -> None:
    meet("any", tmp_path, monkeypatch)
    assert not (tmp_path / ".ssh").exists()


def connection(config: str, home: Path, monkeypatch: pytest.MonkeyPatch, host: Host):
    monkeypatch.setenv("HOME", str(home))
    (home / ".ssh").mkdir()
    (home / ".ssh" / "config").write_text(config)
    return ways.connection(host, "known")


def test_names_users_ports_keys_and_jump_hosts_are_those_of_ssh(tmp_path, monkeypatch) -> None:
    config = """
Host gate
    HostName 10.0.0.254
    User door
    Port 2200
Host n*
    HostName 10.0.0.9
    Port 2222
    ProxyJump gate
    IdentityFile /keys/one
    IdentitiesOnly yes
"""
    (tmp_path / "home").mkdir()
    found = connection(config, tmp_path / "home", monkeypatch, Host("n1", "me"))
    assert (found.user, found.host, found.port) == ("me", "10.0.0.9", 2222)
    assert (found.connect_kwargs["key_filename"], found.connect_kwargs["allow_agent"]) == (
        ["/keys/one"],
        False,
    )
    hops = list(ways.hops(found))
    assert [(hop.host, hop.port) for hop in hops] == [("10.0.0.9", 2222), ("10.0.0.254", 2200)]
    for hop in hops:
        assert isinstance(hop.client._policy, ways.Verification), "Fabric's own takes any key"
        assert hop.connect_kwargs["banner_timeout"] == transport.CONNECT_S
    assert ways.door(found).name == "me@10.0.0.9 port 2222 by door@10.0.0.254:2200"


def test_a_port_in_hosts_goes_before_that_of_ssh(tmp_path, monkeypatch) -> None:
    (tmp_path / "home").mkdir()
    found = connection("Host n1\n    Port 2222\n", tmp_path / "home", monkeypatch, Host("n1", "me", 22))
    assert found.port == 22


def test_where_keys_are_to_be_kept_nowhere_that_is_said(tmp_path, monkeypatch) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host *\n    UserKnownHostsFile none\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(LaunchError, match=r"^UserKnownHostsFile is none in your ssh configuration"):
        Chain(Host("n1", "root"))
    with pytest.raises(LaunchError, match=r"^UserKnownHostsFile is none"):
        meet("new", tmp_path, monkeypatch)


def test_a_configuration_that_cannot_be_read_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host n1\n    Port twenty\n")
    with pytest.raises(NodeError, match=r"~/\.ssh/config or known_hosts of this machine"):
        Transport("known").line(Host("n1", "root")).open()


def test_ciphers_that_need_no_other_pass_for_a_checksum_come_first() -> None:
    one, other = socket.socketpair()
    with one, other:
        ciphers = ways.protocol((), one).get_security_options().ciphers
    kinds = ["gcm" in name for name in ciphers]
    assert kinds == sorted(kinds, reverse=True)
    assert kinds[0]
    assert not kinds[-1]


def test_what_is_small_does_not_wait_for_the_other_end_to_say_that_it_has_the_rest() -> None:
    with socket.socket() as one:
        ways.protocol((), one)
        assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class Ended:
    """A channel to which nothing can be sent any more; ``exit_status``: of its program, -1 where that is not
    known."""

    transport = None

    def __init__(self, exit_status: int) -> None:
        self.exit_status = exit_status

    def sendall(self, _: bytes) -> None:
        raise OSError("Socket is closed")


def test_a_program_that_has_ended_may_be_offered_what_it_does_not_hear() -> None:
    Stream(Ended(1)).offer(b"x")
    with pytest.raises(NodeLost, match="its connection broke: Socket is closed"):
        Stream(Ended(-1)).offer(b"x")
    with pytest.raises(NodeLost):
        Stream(Ended(1)).send(b"x")
