"""Every test writes a network of its own, in a process that nobody told anything."""

import os
from collections import Counter
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    from paddle.v2 import _flags, config_base

    monkeypatch.setattr(_flags, "_settled", None)
    monkeypatch.setattr(config_base, "_names_given", Counter())
    with patch.dict(os.environ):  # which init changes, too
        for name in list(os.environ):
            if name.startswith(("PADDLE_", "GLOG_", "DISABLE_PLOT")):
                del os.environ[name]
        yield
