"""What `fab trust` says, and its one question; for people, or as JSON for programs, which are asked nothing.

It must never know SSH or a file. Guarantee: it never waits for an answer where there is nobody to give one,
and no byte that a host sent is obeyed by a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from paddle._launch.nodes import question
from paddle._launch.nodes.findings import numbers
from paddle._launch.nodes.trusting import Verdict
from paddle._launch.settings import Host
from paddle._streams import show
from paddle._visible import visible

_OWN = "`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`"
_WORDS = {"known": "known already", "new": "not known yet", "added": "known now", "declined": "not known"}


class Dialogue:
    """One of them."""

    def __init__(
        self, hosts: Sequence[Host], form: str, *, yes: bool, stdin: TextIO | None, stdout: TextIO
    ) -> None:
        self._hosts = hosts
        self._is_text = form == "text"
        self._yes = yes
        self._stdin = stdin
        self._stdout = stdout
        self._told: list[Verdict] = []
        self._was_asked = False

    def is_right(self, new: Sequence[Verdict]) -> bool:
        """Show keys, and ask whether they are those of the machines."""
        if self._yes:
            return True
        if not self._is_text or not question.is_asked(self._stdin):
            return False
        for told in new:
            self._say(self._line(told))
        self._was_asked = True
        self._say(f"So they answer to this machine now. On a machine itself {_OWN} says what its key is.")
        these = "this key" if len(new) == 1 else f"these {len(new)} keys"
        return question.ask(f"Have {these} known?", self._stdin, self._stdout)

    def tell(self, told: Verdict) -> None:
        """Say what became of a host."""
        self._told.append(told)
        self._say(self._line(told) if self._is_text else json.dumps(_as_data(told)))

    def end(self, *, host_keys: str) -> int:
        """Say what there is to say of all; gives the exit status."""
        states = [told.state for told in self._told]
        if self._is_text:
            for line in self._last_lines(host_keys):
                self._say(line)
        return int(any(state in ("declined", "changed", "failed") for state in states))

    def _last_lines(self, host_keys: str) -> list[str]:
        added = [told for told in self._told if told.state == "added"]
        lines = [] if self._told else ["all nodes are this machine, which needs no host key"]
        for place in dict.fromkeys(told.text for told in added):
            count = sum(told.text == place for told in added)
            lines.append(f"{count} key{'s' * (count > 1)} added to {place}")
        if any(told.state == "declined" for told in self._told) and not self._was_asked:
            lines.append(
                "nothing was added: nobody was here to ask. `fab trust` in a terminal asks; once you have "
                f"compared these with what {_OWN} says on the machines, `fab trust --yes` takes them."
            )
        if host_keys == "any" and self._told:
            lines.append("HOST_KEYS = 'any' takes whoever answers all the same: write 'known' in conf.py.")
        return lines

    def _line(self, told: Verdict) -> str:
        whose = [f"node {node} {self._hosts[node].user}@{self._hosts[node].name}" for node in told.nodes]
        if told.behind:
            whose.append(f"jump host of node{'s' * (len(told.behind) > 1)} {numbers(told.behind)}")
        parts = [", ".join(whose), told.name, str(told.key or ""), _WORDS.get(told.state) or told.text]
        return "  ".join(filter(None, parts))

    def _say(self, line: str) -> None:
        show(visible(line) if self._is_text else line, self._stdout)


def _as_data(told: Verdict) -> dict[str, Any]:
    return {
        "nodes": told.nodes,
        "behind": told.behind,
        "host": told.host,
        "name": told.name,
        "kind": told.key.kind if told.key else "",
        "fingerprint": told.key.fingerprint if told.key else "",
        "state": told.state,
        "text": told.text,
    }
