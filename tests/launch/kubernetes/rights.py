"""What kubectl asks an API server for, by what it is asked; and what cluster/kubernetes/role.yaml grants.

As kubectl's own sources have it: a label is listed and what is found is deleted one after another; who waits
looks an object up, lists it and watches; an exec looks its pod up and is a GET from 1.30 on, a POST before.
What every user may do is left out: to ask for versions, and what one may do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.fresh import ROOT

FOLDER = ROOT / "cluster" / "kubernetes"
Right = tuple[str, str, str]  # group of the API, resource, verb

_GROUPS = {
    **dict.fromkeys(["pods", "services", "configmaps", "secrets", "persistentvolumeclaims", "events"], ""),
    "statefulsets": "apps",
    "jobs": "batch",
    "poddisruptionbudgets": "policy",
}
_WITH_VALUE = ("-l", "-o", "-f", "--selector")
_WAITING = ("get", "list", "watch")


def granted() -> set[Right]:
    """All that role.yaml grants."""
    role, _ = yaml.safe_load_all((FOLDER / "role.yaml").read_text())
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def needed(words: Sequence[str], given: str = "") -> set[Right]:
    """What a call of kubectl needs. ``given``: its standard input."""
    verb, *rest = words[: words.index("--")] if "--" in words else words
    plain, flags = _parted(rest)
    match verb:
        case "version" | "auth" | "config":
            return set()
        case "create" if "-f" not in flags:
            return _each([plain[0]], "create")
        case "create" | "apply":
            verbs = ["create"] if verb == "create" else ["get", "create"]
            return _each(_made(flags["-f"], given), *verbs)
        case "get":
            return _each(plain[0].split(","), "get" if plain[1:] else "list")
        case "logs":
            return _each(["pods"], "get" if plain else "list") | {("", "pods/log", "get")}
        case "exec" | "cp":
            return _each(["pods"], "get") | {("", "pods/exec", "get"), ("", "pods/exec", "create")}
        case "wait":
            return _each([plain[0].partition("/")[0]], *_WAITING)
        case "delete":
            return _deleted(plain, flags, given)
    raise AssertionError(f"nobody has said what kubectl {verb} needs")


def _deleted(plain: Sequence[str], flags: dict[str, str], given: str) -> set[Right]:
    verbs = ["delete"] if flags.get("--wait") == "false" else ["delete", *_WAITING]
    verbs += ["list"] if "-l" in flags else []
    if "-f" in flags:
        return _each(_made(flags["-f"], given), *verbs)
    kinds = [word.partition("/")[0] for word in plain] if "/" in plain[0] else plain[0].split(",")
    return _each(kinds, *verbs)


def _parted(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """What is named, and flags with their values."""
    plain: list[str] = []
    flags: dict[str, str] = {}
    given = iter(words)
    for word in given:
        name, equals, value = word.partition("=")
        if word in _WITH_VALUE:
            flags[word] = next(given)
        elif word.startswith("-"):
            flags[name] = value if equals else ""
        else:
            plain.append(word)
    return plain, flags


def _made(file: str, given: str) -> list[str]:
    text = given if file == "-" else Path(ROOT, file).read_text()
    documents: list[Any] = list(yaml.safe_load_all(text))
    return [document["kind"].lower() for document in documents if document]


def _each(kinds: Iterable[str], *verbs: str) -> set[Right]:
    return {(*_named(kind), verb) for kind in kinds for verb in verbs}


def _named(kind: str) -> tuple[str, str]:
    (found,) = [plural for plural in _GROUPS if kind in (plural, plural.removesuffix("s"))]
    return _GROUPS[found], found


def commands(text: str) -> Iterator[list[str]]:
    """The calls of kubectl among lines that a shell runs."""
    for line in text.replace("\\\n", " ").splitlines():
        for command in line.split("|"):
            words = command.split()
            if words and words[0] == "kubectl":
                yield words[1:]
