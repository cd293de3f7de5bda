"""What pages link to is there: files, and headings in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("workspace_template/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Of the headings of a page, as browsers of repositories make them."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    lost = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if ":" in name:
            continue
        to = page.parent / name if name else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            lost.append(link)
    assert lost == []


def test_the_index_of_decisions_has_each_once_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    titles = {path.name: path.read_text().splitlines()[0] for path in folder.glob("0*.md")}
    listed = re.findall(r"^- \[(.*)\]\((.*)\)$", (folder / "README.md").read_text(), re.MULTILINE)
    assert sorted((name, f"# {title}") for title, name in listed) == sorted(titles.items())


def test_a_decision_has_a_context_a_choice_and_a_price_in_one_form() -> None:
    for path in (ROOT / "docs" / "decisions").glob("0*.md"):
        text = path.read_text()
        assert re.match(rf"# {int(path.name[:4])}\. \S", text), path.name
        assert all(
            re.search(rf"^\*\*{part}\b", text, re.MULTILINE) for part in ("Context", "Choice", "Price")
        ), path.name
