"""Flags of upstream's: who is asked, and what they are not about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import paddle.fluid as fluid
from paddle._program import carrier, upstream_flags
from paddle._pserver.service import endpoint


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    upstream_flags._set.clear()


def test_what_a_program_sets_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAGS_rpc_deadline", "5000")
    assert upstream_flags.deadline_s(180.0) == 5.0
    assert fluid.get_flags("FLAGS_rpc_deadline") == {"FLAGS_rpc_deadline": "5000"}
    fluid.set_flags({"FLAGS_rpc_deadline": 7000})
    assert upstream_flags.deadline_s(180.0) == 7.0
    assert fluid.get_flags(["FLAGS_rpc_deadline"]) == {"FLAGS_rpc_deadline": 7000}
    monkeypatch.delenv("FLAGS_rpc_deadline")
    fluid.set_flags({"FLAGS_rpc_deadline": "soon"})
    assert upstream_flags.deadline_s(180.0) == 180.0


def test_a_flag_that_nobody_set_is_what_it_is_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of paddlepaddle 1.8.5 for CPUs."""
    monkeypatch.delenv("FLAGS_check_nan_inf", raising=False)
    asked = ["FLAGS_eager_delete_tensor_gb", "FLAGS_check_nan_inf", "FLAGS_paddle_num_threads"]
    assert fluid.get_flags(asked) == dict(zip(asked, (0.0, False, 1), strict=True))
    monkeypatch.setenv("FLAGS_check_nan_inf", "1")
    monkeypatch.setenv("FLAGS_eager_delete_tensor_gb", "2.5")
    fluid.set_flags({"FLAGS_paddle_num_threads": 4})
    assert fluid.get_flags(asked) == dict(zip(asked, (2.5, True, 4), strict=True))
    assert fluid.get_flags("FLAGS_of_nobody") == {"FLAGS_of_nobody": None}


def test_how_long_a_call_may_take_is_not_how_long_a_server_misses_a_trainer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Any] = []

    def serve(options: Any, *others: Any, **named: Any) -> bool:
        begun.append(options)
        return True

    monkeypatch.setenv("FLAGS_rpc_deadline", "5000")
    monkeypatch.setattr(endpoint, "serve", serve)
    carrier.serve("127.0.0.1:6170", 2)
    assert begun[0].barrier_timeout_s == 600.0


def test_places_are_counted_by_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPU_NUM", "0")
    with pytest.raises(ValueError, match="CPU_NUM is '0'"):
        upstream_flags.cpu_count()
    monkeypatch.setenv("CPU_NUM", "")
    assert upstream_flags.cpu_count() == 1
