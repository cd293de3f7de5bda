"""`fab install`, `clean`, `check` and `collect` beside a node that lies: it is told, and the others go on.

Node 1 lies; what it says becomes no path, no number that cannot be, no traceback, no command of a terminal.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from paddle._launch.agent.answers import BEAT, SIGN, line_of
from paddle._launch.agent.premises import look
from paddle._launch.backends import carrier
from paddle._launch.digests import DigestCache
from paddle._launch.errors import JobError, LaunchError
from paddle._launch.jobs.collecting import collect
from paddle._launch.machines import arrivals
from paddle._launch.machines.conversation import Conversation
from paddle._launch.nodes.checking import Wish, check
from paddle._launch.nodes.commands import settings_of
from paddle._launch.nodes.findings import State, Table
from paddle._launch.plan import LaunchPlan
from paddle._launch.settings import Host
from paddle._launch.upkeep import picking, receipts
from paddle._launch.upkeep.account import Account
from paddle._launch.upkeep.cleaning import Cleaning, Listing
from paddle._launch.upkeep.installing import Installation, Outcome
from paddle._launch.upkeep.interpreter import Interpreter
from paddle._launch.upkeep.wheelhouse import Wheelhouses
from tests.launch.machines.simulated import BELONGING, Net, Program
from tests.launch.nodes.visits import SEEN
from tests.launch.upkeep import wheels

HOSTS = [Host(f"n{node}", "root") for node in range(3)]
COMMANDS = "\x1b]0;yours\x07\x1b[2Jgone\x9b31m"
HOUSE = re.compile(r"cp3\d+t?-\w+-(glibc|musl)-\d+\.\d+-[0-9a-f]{12}")
Lie = Callable[[Program], None]


def says(*parts: bytes) -> Lie:
    """One that says this, whatever it is asked."""

    def lie(program: Program) -> None:
        program.order()
        for part in parts:
            program.say(part)

    return lie


def answers(words: dict[str, object], **how: object) -> Lie:
    return says(line_of({**words, **how}))


def for_ever(part: bytes) -> Lie:
    def lie(program: Program) -> None:
        for data in itertools.repeat(part):
            program.say(data)

    return lie


def slow(program: Program) -> None:
    """It beats, and never comes to an answer."""
    for_ever(BEAT + b"\n")(program)


NONSENSE: dict[str, Lie] = {
    "no word": says(),
    "no answer": says(b"Welcome!\n", b'{"python": 1}\n'),
    "no object": says(SIGN + b"[" * 70_000 + b"\n"),
    "no json": says(SIGN + b"\xff\n"),
    "another object": answers({"done": "yes", "failed": 1, "belonging": 1, "strange": 1}),
    "a line without an end": for_ever(b"x" * (1 << 16)),
    "lines without an end": for_ever(f"{COMMANDS}\n".encode() * 1000),
    "answers without an end": for_ever(line_of({"doing": "x", "strange": "x"}) * 1000),
}


def in_words(lines: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a terminal gets."""
    shown = Account(HOSTS, "text")
    for line in lines:
        shown.say(line)
    said = capsys.readouterr().out
    assert not set("\x1b\x07\x9b") & set(said)
    assert len(said) < 100_000
    return said


# fab install


@pytest.fixture
def install(
    net: Net, plan: LaunchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[Outcome]]:
    """Install on three nodes; what pip would fetch is there."""
    wheels.unpacker(tmp_path / "shop")
    fetched: list[Interpreter] = []

    def fetch(wanted: Sequence[str], kind: Interpreter, folder: Path) -> None:
        fetched.append(kind)
        shutil.copytree(tmp_path / "shop", folder, dirs_exist_ok=True)

    monkeypatch.setattr(picking, "fetch", fetch)

    def run() -> list[Outcome]:
        assert plan.remote
        digests = DigestCache(tmp_path / "digests")
        houses = Wheelhouses(tmp_path / "houses", [], {}, digests)
        before = {*tmp_path.iterdir(), tmp_path / "houses", tmp_path / "disks", tmp_path / "digests"}
        installation = Installation(
            replace(plan.remote, pythons=("python3",)),
            HOSTS,
            houses,
            digests,
            pythons=["python3"],
            modules=[],
            hear=Account(HOSTS, "text").hear,
        )
        outcomes = installation.run()
        assert {*tmp_path.iterdir()} <= before
        assert all(HOUSE.fullmatch(house.name) for house in (tmp_path / "houses").iterdir())
        return outcomes

    return run


def lies_of_premises() -> dict[str, Lie]:
    honest = look(Path("/srv"))
    return {
        **NONSENSE,
        "a path in libc": answers(honest, libc=["glibc", "2.36-abc/../../../../evil"]),
        "no version of libc": answers(honest, libc=["glibc", "x"]),
        "a path in abi": answers(honest, abi="cp311/../../../../evil"),
        "a path in machine": answers(honest, machine="../../../evil"),
        "a command in python": answers(honest, python=f"/{COMMANDS}\n"),
        "no room that can be": answers(honest, free=10**400),
        "another python": answers(honest, implementation="pypy"),
    }


@pytest.mark.parametrize("lie", lies_of_premises().values(), ids=lies_of_premises())
def test_what_lies_of_its_python_is_not_installed_and_the_others_are(
    net: Net, install: Callable[[], list[Outcome]], capsys: pytest.CaptureFixture[str], lie: Lie
) -> None:
    net.lies["n1", "agent.premises"] = lie
    outcomes = install()
    assert [outcome.furnished is not None for outcome in outcomes] == [True, False, True]
    said = in_words(list(receipts.of_installation(outcomes, ["n0", "n1", "n2"])), capsys)
    assert f"node 1 (n1): {outcomes[1].trouble[:20]}" in said
    assert not any(line.startswith("LaunchError") or "Error:" in line for line in said.splitlines())


@pytest.mark.parametrize(
    "lie",
    [
        *NONSENSE.values(),
        answers({"failed": COMMANDS, "refused": True}),
        answers({"failed": "x" * 100_000}),
        says(line_of({"doing": COMMANDS}) * 100),
    ],
)
def test_what_lies_of_its_installation_is_not_installed_and_the_others_are(
    net: Net, install: Callable[[], list[Outcome]], capsys: pytest.CaptureFixture[str], lie: Lie
) -> None:
    net.lies["n1", "agent.installer"] = lie
    outcomes = install()
    assert [outcome.furnished is not None for outcome in outcomes] == [True, False, True]
    shown = capsys.readouterr().out
    assert not set("\x1b\x07\x9b") & set(shown)
    assert len(shown) < 200_000
    in_words([outcomes[1].trouble], capsys)


def test_who_only_beats_is_given_up_in_time(
    net: Net, install: Callable[[], list[Outcome]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Conversation.ask, "__defaults__", (1.0,))
    net.lies["n1", "agent.premises"] = slow
    outcomes = install()
    assert [outcome.furnished is not None for outcome in outcomes] == [True, False, True]
    assert "did not answer within" in outcomes[1].trouble


# fab clean


def cleaning() -> Cleaning:
    return Cleaning(
        Path("/srv"),
        HOSTS,
        "known",
        runtimes=[],
        pythons=["python3"],
        is_all=False,
        hear=Account(HOSTS, "text").hear,
    )


LISTINGS = [
    {"size": 10**400},
    {"size": -1},
    {"used_s": 1e400},
    {"number": "x"},
    {"need": "mine"},
    {"path": 5},
    {"holds": ["x" * 10_000]},
]


@pytest.mark.parametrize(
    "lie",
    [*NONSENSE.values(), *(answers({"belonging": {**BELONGING, **how}}) for how in LISTINGS)],
)
def test_what_lies_of_what_it_has_is_told_and_the_others_are_cleaned(
    net: Net, capsys: pytest.CaptureFixture[str], lie: Lie
) -> None:
    net.lies["n1", "agent.cleaner"] = lie
    looked = cleaning().look()
    good = {node: one for node, one in looked.items() if isinstance(one, Listing) and one.goes}
    assert list(good) == [0, 2]
    names = ["n0", "n1", "n2"]
    in_words(list(receipts.of_listing(looked, names, Path("/srv"), 2e9)), capsys)
    removals = cleaning().remove(good)
    assert "removed 1 kB" in in_words(list(receipts.of_removal(removals, names)), capsys)
    assert all(json.dumps(receipts.listing_as_data(node, "x", one)) for node, one in looked.items())


@pytest.mark.parametrize(
    "lie",
    [
        answers({"removed": "JOB1", "size": 10**400}),
        answers({"removed": "JOB1", "size": -1}),
        answers({"removed": ["JOB1"]}),
        answers({"left": COMMANDS, "why": COMMANDS}),
    ],
)
def test_what_lies_of_what_it_removed_is_told(net: Net, capsys: pytest.CaptureFixture[str], lie: Lie) -> None:
    good = {node: one for node, one in cleaning().look().items() if isinstance(one, Listing)}
    net.lies["n1", "agent.cleaner"] = lie
    removals = cleaning().remove(good)
    assert [not isinstance(removals[node], LaunchError) for node in (0, 2)] == [True, True]
    said = in_words(list(receipts.of_removal(removals, ["n0", "n1", "n2"])), capsys)
    assert "understood" in said or "stays: " in said


# fab check


def lies_of_survey() -> dict[str, Lie]:
    seen = to_builtins(SEEN)
    return {
        **NONSENSE,
        "no room that can be": answers(seen, disk={**seen["disk"], "total": 10**400}),
        "a load without end": answers(seen, load=1e400),
        "a version of digits": answers(seen, facts={**seen["facts"], "packages": {"numpy": "9" * 5000}}),
        "a command of a process": answers(seen, jobs={"JOB1": {"1; rm": "x"}}),
        "a clock that stands": says(line_of(seen), line_of({"now": 1e400})),
    }


@pytest.mark.parametrize("lie", lies_of_survey().values(), ids=lies_of_survey())
def test_what_lies_to_a_check_is_told_and_the_others_are_judged(
    net: Net, tmp_path: Path, capsys: pytest.CaptureFixture[str], lie: Lie
) -> None:
    net.lies["n1", "agent.survey"] = lie
    (tmp_path / "conf.py").write_text(
        "HOSTS = ['root@n0', 'root@n1', 'root@n2']\nROOT_DIR = '/srv'\nPADDLE_NIC = 'eth0'\n"
    )
    (tmp_path / "runtime" / "paddle").mkdir(parents=True)
    wish = Wish(
        settings=settings_of(str(tmp_path / "conf.py"), ""),
        package=None,
        deployed=None,
        live=(),
        runtime=tmp_path / "runtime",
    )
    found = list(check(wish))
    assert {one.node for one in found if one.what in ("ssh", "python") and one.state is State.FAIL} == {1}
    assert {one.node for one in found if one.what == "ssh" and one.state is State.OK} == {0, 2}
    in_words(list(Table(["n0", "n1", "n2"], width=100, is_coloured=False, whole=True).lines(found)), capsys)


# fab collect

FILE = {"kind": "file", "path": "train.log", "mode": 0o644, "mtime_ns": 0, "size": 2}
BODY = b"\0\0\0\2ab\0\0\0\0"
END = line_of({"kind": "end"})


def sends(*parts: bytes | dict[str, object]) -> Lie:
    return says(*(part if isinstance(part, bytes) else line_of(part) for part in parts))


REFUSED: dict[str, Lie] = {
    **NONSENSE,
    "a path that leads out": sends({**FILE, "path": "../../out"}, BODY, END),
    "a path from the root": sends({**FILE, "path": "/tmp/out"}, BODY, END),
    "a file through a link": sends(
        {"kind": "link", "path": "l", "target": "/tmp"}, {**FILE, "path": "l/x"}, BODY, END
    ),
    "a file that grows": sends(FILE, b"\0\0\0\2ab\0\0\0\2cd\0\0\0\0", END),
    "a file without an end": for_ever(line_of(FILE) + BODY),
    "more than a disk": sends({**FILE, "size": 10**400}, BODY, END),
    "a name of a device": sends({**FILE, "kind": "device"}, END),
    "half of it": sends(FILE, b"\0\0\0\2a"),
    "files without an end": for_ever(
        b"".join(line_of({"kind": "special", "path": f"{number}"}) for number in range(1000))
    ),
}


def collected(plan: LaunchPlan) -> tuple[list[str], str]:
    """Collect from three nodes; gives what is said, and why it failed."""
    job = replace(plan, package=None, nodes=plan.nodes[:3])
    (plan.home / "log").mkdir(exist_ok=True)
    lines: list[str] = []
    try:
        lines.extend(collect(job, carrier))
    except JobError as error:
        return lines, str(error)
    return lines, ""


@pytest.mark.parametrize("lie", REFUSED.values(), ids=REFUSED)
def test_what_lies_of_its_logs_leaves_nothing_here_and_those_of_others_come(
    net: Net,
    plan: LaunchPlan,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lie: Lie,
) -> None:
    monkeypatch.setattr(arrivals, "MOST_ENTRIES", 5000)
    _deployed(net)
    before = {*tmp_path.iterdir()}
    net.lies["n1", "agent.sender"] = lie
    lines, failed = collected(plan)
    said = in_words([*lines, failed], capsys)
    assert len(lines) < 20
    assert {path.name for path in (plan.home / "log").glob("node-*")} == {"node-0", "node-2"}
    assert "node 1: cannot collect /srv/JOB1/log" in said
    assert {*tmp_path.iterdir()} == before
    assert not Path("/tmp/out").exists()


def _deployed(net: Net) -> None:
    """The workspace is there on all, and honest nodes have a log."""

    def probe(program: Program) -> None:
        addresses = {name: ["10.0.0.1"] for name in program.order()["names"]}
        facts = {**to_builtins(SEEN.facts), "is_there": True, "has_program": True}
        program.answer(**{**facts, "addresses": addresses})

    for host in HOSTS:
        net.lies[host.name, "agent.probe"] = probe
        net.lies[host.name, "agent.sender"] = sends(FILE, BODY, END)


def test_a_name_with_commands_for_a_terminal_comes_as_a_name_and_is_told_as_words(
    net: Net, plan: LaunchPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    _deployed(net)
    link = {"kind": "link", "path": COMMANDS, "target": f"/{COMMANDS}"}
    net.lies["n1", "agent.sender"] = sends(link, {**FILE, "path": f"a{COMMANDS}"}, BODY, END)
    lines, failed = collected(plan)
    said = in_words(lines, capsys)
    assert "node 1: gone\\x9b31m is not collected: it is a link that leads elsewhere" in said
    assert failed == ""
    assert [path.name for path in (plan.home / "log" / "node-1").iterdir()] == [f"a{COMMANDS}"]
