"""`fab trust` asks only who is there, in words that can be checked, and says in the end what was done."""

from __future__ import annotations

import io
import json

import pytest

from paddle._launch.machines.known_hosts import HostKey
from paddle._launch.nodes.dialogue import Dialogue
from paddle._launch.nodes.trusting import Verdict
from paddle._launch.settings import Host

KEY = HostKey("ssh-ed25519", "AAAA")
NEW = Verdict(nodes=(0,), behind=(1, 2, 3), host="10.0.0.1", state="new", name="10.0.0.1", key=KEY)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def converse(stdin: io.StringIO | None, form: str = "text", *, yes: bool = False) -> tuple[bool, str, int]:
    said = io.StringIO()
    dialogue = Dialogue([Host("n1", "root")] * 4, form, yes=yes, stdin=stdin, stdout=said)
    is_right = dialogue.is_right([NEW])
    state, text = ("added", "/known_hosts") if is_right else ("declined", "")
    dialogue.tell(
        Verdict(
            nodes=NEW.nodes, behind=NEW.behind, host=NEW.host, state=state, name=NEW.name, key=KEY, text=text
        )
    )
    return is_right, said.getvalue(), dialogue.end(host_keys="known")


@pytest.mark.parametrize(
    ("answer", "is_right"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_only_a_yes_is_one(answer: str, is_right: bool) -> None:
    said_so, said, status = converse(Terminal(answer))
    assert (said_so, status) == (is_right, 0 if is_right else 1)
    shown = f"node 0 root@n1, jump host of nodes 1-3  10.0.0.1  {KEY}"
    assert f"{shown}  not known yet\n" in said
    assert "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" in said
    assert "Have this key known? [y/N] " in said
    assert f"{shown}  {'known now' if is_right else 'not known'}\n" in said


@pytest.mark.parametrize("stdin", [io.StringIO("y\n"), None])
def test_where_nobody_can_answer_nothing_is_asked(stdin: io.StringIO | None) -> None:
    said_so, said, status = converse(stdin)
    assert (said_so, status) == (False, 1)
    assert "[y/N]" not in said


def test_programs_get_json_and_are_asked_nothing() -> None:
    said_so, said, status = converse(Terminal("y\n"), "json")
    assert (said_so, status) == (False, 1)
    assert json.loads(said) == {
        "nodes": [0],
        "behind": [1, 2, 3],
        "host": "10.0.0.1",
        "name": "10.0.0.1",
        "kind": KEY.kind,
        "fingerprint": KEY.fingerprint,
        "state": "declined",
        "text": "",
    }


def test_yes_asks_nothing() -> None:
    said_so, said, status = converse(None, yes=True)
    assert (said_so, status) == (True, 0)
    assert "[y/N]" not in said


def ended(host_keys: str, *told: Verdict) -> str:
    said = io.StringIO()
    dialogue = Dialogue([Host("n1", "root")], "text", yes=True, stdin=None, stdout=said)
    for one in told:
        dialogue.tell(one)
    dialogue.end(host_keys=host_keys)
    return said.getvalue()


def test_the_end_says_what_was_done_and_what_there_is_still_to_do() -> None:
    added = Verdict(nodes=(0,), behind=(), host="n1", state="added", name="n1", key=KEY, text="/known_hosts")
    declined = Verdict(nodes=(0,), behind=(), host="n1", state="declined", name="n1", key=KEY)
    assert ended("known", added, added).endswith("2 keys added to /known_hosts\n")
    assert "nothing was added: nobody was here to ask" in ended("known", declined)
    assert "`fab trust --yes` takes them" in ended("known", declined)
    assert "write 'known' in conf.py" in ended("any", added)
    assert ended("any") == "all nodes are this machine, which needs no host key\n"


def test_what_a_host_says_is_not_obeyed_by_a_terminal() -> None:
    failed = Verdict(nodes=(0,), behind=(), host="n1", state="failed", text="\x1b[2J\x07gone")
    assert ended("known", failed) == "node 0 root@n1  \\x07gone\n"
