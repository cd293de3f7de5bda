"""Keys become known as ssh would write them, and nothing else in the file changes, whatever happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from paramiko import ECDSAKey, HostKeys

from paddle._launch.errors import LaunchError
from paddle._launch.machines import known_hosts
from paddle._launch.machines.known_hosts import Entry, HostKey, Known, add, file_to_write, find, hashed_name

KEY = ECDSAKey.generate()


SHOWN = HostKey(KEY.get_name(), KEY.get_base64())


def entry(name: str) -> Entry:
    return Entry(name, SHOWN)


def test_a_new_file_and_its_folder_are_their_users_alone(tmp_path: Path) -> None:
    place = tmp_path / ".ssh" / "known_hosts"
    assert add(place, [entry("n1"), entry("[n2]:2222")], hashed=False) == 2
    assert place.read_text() == "".join(
        f"{name} {KEY.get_name()} {KEY.get_base64()}\n" for name in ("n1", "[n2]:2222")
    )
    assert [stat.S_IMODE(path.stat().st_mode) for path in (place, place.parent)] == [0o600, 0o700]


@pytest.mark.parametrize("hashed", [True, False])
def test_what_is_there_stays_and_is_not_added_again(tmp_path: Path, hashed: bool) -> None:
    place = tmp_path / "known_hosts"
    before = "# mine\n@cert-authority *.example.org ssh-rsa AAAA\nn0 ssh-ed25519 AAAA comment"  # no line end
    place.write_text(before)
    place.chmod(0o640)
    assert add(place, [entry("n1")], hashed=hashed) == 1
    after = place.read_text()
    assert after.startswith(f"{before}\n")
    assert ("n1 " in after) != hashed
    assert find([place], "n1") == (Known(SHOWN, place),)
    for again in (True, False):
        assert add(place, [entry("n1"), entry("n1")], hashed=again) == 0
    assert place.read_text() == after
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["known_hosts"]


def test_a_host_that_stands_beside_others_in_a_line_is_known(tmp_path: Path) -> None:
    place = tmp_path / "known_hosts"
    place.write_text(
        f"n0,n1 {KEY.get_name()} {KEY.get_base64()}\n|1|x|y {KEY.get_name()} {KEY.get_base64()}\n"
    )
    assert add(place, [entry("n1")], hashed=False) == 0
    assert add(place, [entry("n2")], hashed=False) == 1


def keys(text: str, name: str, folder: Path) -> list[tuple[str, bool]]:
    (folder / "file").write_text(text)
    return [(known.key.key, known.is_revoked) for known in find([folder / "file"], name)]


@pytest.mark.parametrize(
    ("names", "meant", "not_meant"),
    [
        ("n1", ["n1", "N1"], ["n11", "xn1", "[n1]:2222"]),
        ("n0,N1", ["n0", "n1"], ["n2"]),
        ("n*", ["n1", "n"], ["m1", "[n1]:2222"]),
        ("n?", ["n1"], ["n", "n11"]),
        ("[n*]:2222", ["[n1]:2222"], ["n1", "[n1]:22"]),
        ("*,!n1", ["n2"], ["n1"]),
        ("10.0.0.1", ["10.0.0.1"], ["10x0.0.1", "10.0.0.10"]),
        (hashed_name("[n1]:2222", b"salt" * 5), ["[n1]:2222"], ["n1", "[n2]:2222"]),
        ("|1|not|base64", [], ["n1"]),
        ("|1|", [], ["n1"]),
    ],
)
def test_names_mean_what_they_mean_to_ssh(
    names: str, meant: list[str], not_meant: list[str], tmp_path
) -> None:
    text = f"{names} ssh-ed25519 AAAA a comment\n"
    assert all(keys(text, name, tmp_path) == [("AAAA", False)] for name in meant)
    assert all(keys(text, name, tmp_path) == [] for name in not_meant)


def test_marks_comments_and_what_is_no_line_are_read_as_ssh_reads_them(tmp_path: Path) -> None:
    text = """
# n1 ssh-ed25519 COMMENT
@cert-authority * ssh-ed25519 AUTHORITY
@revoked * ssh-ed25519 REVOKED
@unknown n1 ssh-ed25519 UNKNOWN
n1 ssh-ed25519
n1\tssh-ed25519  TABS
n1 ssh-rsa OTHER
"""
    assert keys(text, "n1", tmp_path) == [("REVOKED", True), ("TABS", False), ("OTHER", False)]


def test_ssh_itself_finds_what_was_added(tmp_path: Path) -> None:
    for hashed in (True, False):
        place = tmp_path / f"known_hosts-{hashed}"
        add(place, [entry("[n1]:2222")], hashed=hashed)
        assert HostKeys(str(place)).lookup("[n1]:2222")[KEY.get_name()] == KEY
        if shutil.which("ssh-keygen"):
            command = ["ssh-keygen", "-l", "-F", "[n1]:2222", "-f", place]
            assert (
                KEY.fingerprint in subprocess.run(command, capture_output=True, text=True, check=True).stdout
            )


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    link = tmp_path / "known_hosts"
    link.symlink_to("dotfiles/known_hosts")
    add(file_to_write(str(link)), [entry("n1")], hashed=False)
    assert link.is_symlink()
    assert "n1" in (tmp_path / "dotfiles" / "known_hosts").read_text()


def test_many_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    place = tmp_path / "known_hosts"
    names = [f"n{number}" for number in range(16)]
    threads = [
        threading.Thread(target=add, args=(place, [entry(name)]), kwargs={"hashed": False}) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {line.split()[0] for line in place.read_text().splitlines()} == set(names)


def test_what_ssh_adds_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "known_hosts"
    place.write_text("")
    replacement, tries = known_hosts._replacement, []

    @contextlib.contextmanager
    def slow(where: Path, content: bytes) -> Iterator[Path]:
        tries.append(content)
        with replacement(where, content) as whole:
            if len(tries) == 1:
                with place.open("a") as ssh:
                    ssh.write("of-ssh ssh-ed25519 AAAA\n")
            yield whole

    monkeypatch.setattr(known_hosts, "_replacement", slow)
    add(place, [entry("n1")], hashed=False)
    assert [line.split()[0] for line in place.read_text().splitlines()] == ["of-ssh", "n1"]


@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_where_it_cannot_be_written_it_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    place = tmp_path / "known_hosts"
    place.write_text("n0 ssh-ed25519 AAAA\n")

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(
        LaunchError, match=r"cannot write .*known_hosts: No space left on device. Nothing was"
    ):
        add(place, [entry("n1")], hashed=False)
    assert place.read_text() == "n0 ssh-ed25519 AAAA\n"
    assert [path.name for path in tmp_path.iterdir()] == ["known_hosts"]


def test_the_file_is_the_one_that_ssh_would_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert file_to_write("") == tmp_path / ".ssh" / "known_hosts"
    assert file_to_write("~/one /two") == tmp_path / "one"
    with pytest.raises(LaunchError, match="UserKnownHostsFile is none"):
        file_to_write("none")
