"""cluster/kubernetes/role.yaml: what launches and the commands that we show need, and nothing beyond it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from paddle._launch.backends import pods
from paddle._launch.backends.pods import PodCrew
from paddle._launch.errors import NodeError
from paddle._launch.events import Answered, NodeEnded, NodeFailed
from paddle._launch.kubernetes import after, kubectl, removal, whereabouts, whole
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan
from tests.fresh import ROOT
from tests.launch.kubernetes.jobs import planned, workspace
from tests.launch.kubernetes.rights import FOLDER, Right, commands, granted, needed
from tests.launch.kubernetes.test_watching import pod
from tests.waiting import until

PACKAGE = Path(kubectl.__file__).parents[1]
PAGES = (ROOT / "docs" / "kubernetes.md", ROOT / "docs" / "kubernetes_cn.md")
Call = tuple[tuple[str, ...], str]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Every call of kubectl, none of which is carried out: one pod runs, and the others are missing."""
    made: list[Call] = []

    def ask(self: Kubectl, *words: str, given: str | None = None, within_s: float = 0.0) -> str:
        made.append((words, given or ""))
        return ""

    def read(self: Kubectl, *words: str, within_s: float = 0.0) -> Any:
        made.append((words, ""))
        return {"items": [pod("pserver", "job1-pserver-0", state={"running": {}})]}

    def begin(self: Kubectl, *words: str, errors: Any = None) -> Any:
        made.append((words, ""))
        raise NodeError("there is no cluster")

    for name, function in (("ask", ask), ("read", read), ("begin", begin)):
        monkeypatch.setattr(Kubectl, name, function)
    return made


def of_a_launch(launch: LaunchPlan, calls: list[Call]) -> None:
    """Have a crew do all that it can be asked for."""
    posted: list[object] = []
    crew = PodCrew(launch, posted.append)
    for phase in (Phase.REACH, Phase.DELIVER, Phase.OPEN, Phase.COLLECT):
        for node in launch.nodes:
            crew.step(node.node, phase)
        until(lambda phase=phase: said(posted, launch, phase), f"{phase} of each node")
    crew.stop(0, 1.0)
    crew.kill(0)
    until(lambda: any(isinstance(each, NodeEnded) for each in posted), "the end of the node")
    for verb, what in (("get", "events"), ("exec", "job1-pserver-0"), ("logs", "-f")):
        until(lambda verb=verb, what=what: any(words[:2] == (verb, what) for words, _ in calls), verb)
    crew.close()


def said(posted: list[object], launch: LaunchPlan, phase: Phase) -> bool:
    """Whether each node has done its part, or could not: there is no cluster."""
    done = {each.node for each in posted if isinstance(each, Answered) and each.phase is phase}
    return len(done | {each.node for each in posted if isinstance(each, NodeFailed)}) == len(launch.nodes)


def of_pages(given: str) -> set[Right]:
    """What the commands need that we show."""
    shown = [text for page in PAGES for text in re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL)]
    shown += re.findall(
        r"^# {5}((?:kubectl|openssl) .*)$", (FOLDER / "word2vec.yaml").read_text(), re.MULTILINE
    )
    found = [words for text in shown for words in commands(text)]
    assert len(found) > 2 * len(PAGES)
    return {right for words in found for right in needed(words, given)}


def asked_in_sources() -> set[str]:
    """First words of all calls of kubectl that stand in the launcher's sources."""
    texts = [path.read_text() for path in PACKAGE.rglob("*.py")]
    found = {word for text in texts for word in re.findall(r"ubectl\.(?:ask|read|begin)\(\s*\"(\w+)\"", text)}
    return found | {"exec"}  # line.py has its words in a variable


def test_what_is_granted_is_what_launches_and_our_pages_ask_for(
    calls: list[Call], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("--pserver_num=1", "--trainer_num=2", "--snapshot_dir=snapshots")
    launch = planned(workspace(tmp_path / "package"), *flags)
    monkeypatch.setattr(pods, "_LOOK_S", 0.01)
    of_a_launch(whereabouts.settled(launch, {}), calls)
    assert list(after.standing(launch))
    assert list(after.printed(launch))
    assert list(after.end(launch))
    assert {words[0] for words, _ in calls} == asked_in_sources()
    used = {right for words, given in calls for right in needed(words, given)}
    assert used | of_pages(whole.text(launch)) == granted()
    assert not {right for right in used if right[2] in ("patch", "update", "watch", "deletecollection")}


def test_what_a_user_is_told_to_type_is_granted(tmp_path: Path) -> None:
    told = removal.by_hand(planned(workspace(tmp_path / "package"), "--namespace=training"))
    (words,) = commands(told.partition("By hand: ")[2])
    assert words[:2] == ["--namespace=training", "delete"]
    assert needed(words[1:]) <= granted()
