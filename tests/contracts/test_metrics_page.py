"""docs/metrics.md describes every metric, and no other."""

import re
from pathlib import Path

from paddle._pserver.service.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]


def test_every_metric_is_described_with_its_type_and_nothing_else_is() -> None:
    page = (ROOT / "docs/metrics.md").read_text()
    described = re.findall(r"^\| `(paddle_pserver_\w+)` \| (\w+) \|", page, re.MULTILINE)
    assert described == [(metric.name, metric.kind) for metric in METRICS]
