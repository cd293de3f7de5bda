"""Nobody else is there, and all that travels is encrypted, by papers as a launched job has them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.safety.exchange import Papers, exchanging
from benchmarks.worker import Work
from paddle._launch.authority import Authority


def prepare(settings: Mapping[str, Any]) -> Work:
    """A trainer's exchange of one parameter with one pserver."""
    issued = Authority("benchmark", datetime.now(UTC)).issue(["127.0.0.1"])
    with tempfile.TemporaryDirectory() as folder:  # both sides have read them when this returns
        texts = {"certificate": issued.certificate, "key": issued.key, "authority": issued.authority}
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        return exchanging(settings, Papers(**{name: str(Path(folder) / name) for name in texts}))
