"""The page in a real browser, where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddle._pserver.service import report_page
from paddle._pserver.service.status import TableStatus

from ..shard.test_seeing import NASTY, seen, waiting

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no browser here")

NAMES = ("a_table_with_a_name_that_is_longer_than_a_telephone_is_wide.w0", NASTY)
LOOK = """
const page = document.querySelector("iframe").contentDocument, root = page.documentElement;
const texts = [...page.querySelectorAll("#tables td:first-child")].map((cell) => cell.textContent);
const seen = {wide: root.scrollWidth, scripts: page.scripts.length, texts, mode: page.compatMode};
document.body.innerHTML = "<pre></pre>";
document.querySelector("pre").textContent = JSON.stringify(seen);
"""


def looked_at(page: str, width: int, folder: Path) -> dict[str, Any]:
    """What a browser makes of ``page``, ``width`` pixels wide."""
    frame = f'<iframe srcdoc="{escape(page)}" style="width:{width}px;height:900px;border:0"></iframe>'
    around = folder / f"{width}.html"
    around.write_text(f"<!doctype html><body>{frame}<script>onload = () => {{ {LOOK} }}</script></body>")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, *flags, "--dump-dom", around.as_uri()], capture_output=True, text=True, timeout=120
    )
    found = re.search("<pre>(.*?)</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stderr
    return dict(json.loads(unescape(found[1])))


@pytest.mark.parametrize("width", [400, 1280])
def test_it_fits_on_a_telephone_and_no_name_is_obeyed(width: int, tmp_path: Path) -> None:
    tables = tuple(TableStatus(name=name, rows=123_456_789, width=64, bytes=1 << 34) for name in NAMES)
    report = msgspec.structs.replace(seen(waiting()), tables=tables, broken=NASTY)
    links = [(f"dense 127.0.0.1:{port}", f"http://127.0.0.1:{port}/") for port in range(7164, 7172)]
    page = report_page.html(report, links)
    found = looked_at(page, width, tmp_path)
    assert found["wide"] <= width
    assert found["scripts"] == 0
    assert found["texts"] == ["all dense ones", *NAMES]
    assert found["mode"] == "CSS1Compat"
