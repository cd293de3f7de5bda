"""Stretches: parameters that are updated as one, to the bits of each by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from paddle._engine.exchange import AverageSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.placement import dense_layout
from paddle._pserver.tables.gradient import MOVED, Gradient
from paddle._pserver.tables.tables import Tables

PARAMETERS = (
    ParameterSpec(name="a", shape=(3, 4)),
    ParameterSpec(name="b", shape=(5,)),
    ParameterSpec(name="own rate", shape=(7,), learning_rate=0.5),
    ParameterSpec(name="c", shape=(1,)),
    ParameterSpec(name="clipped", shape=(2, 2), gradient_clipping_threshold=0.1),
    ParameterSpec(name="d", shape=(2, 2)),
    ParameterSpec(name="e", shape=(9,)),
)
AVERAGE = AverageSpec(window=0.5, min_window=1, max_window=10)


def tables(rule: str, average: AverageSpec | None = None, **options: float) -> Tables:
    spec = RuleSpec(name=rule, options=options)
    update = UpdateSpec(rule=spec, schedule=ScheduleSpec(learning_rate=0.1), l2_rate=0.01, average=average)
    layout = dense_layout(PARAMETERS, 0, 1, whole=rule == "lamb")
    made = Tables(update, layout, [])
    made.values[:] = np.linspace(-1, 1, layout.size, dtype=np.float32)
    return made


def gradients(size: int) -> Sequence[np.ndarray]:
    return np.random.default_rng(0).normal(size=(3, size)).astype(np.float32)


@pytest.mark.parametrize("average", [None, AVERAGE])
@pytest.mark.parametrize(
    ("rule", "options"),
    [("sgd", {}), ("momentum", {"momentum": 0.9}), ("adagrad", {}), ("adam", {}), ("lamb", {})],
)
def test_one_gradient_for_all_gives_the_bits_of_one_for_each(rule, options, average) -> None:
    one, each = tables(rule, average, **options), tables(rule, average, **options)
    for step, whole in enumerate(gradients(one.values.size), 1):
        pieces = [whole[segment.span] for segment in one.layout.segments]
        one.apply([Gradient(pieces, (), whole)], samples=step, passes=0, step=step)
        each.apply([Gradient(pieces)], samples=step, passes=0, step=step)
    assert one.state().keys() == each.state().keys()
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, each.state()[name], err_msg=name)


@pytest.mark.parametrize("is_one", [True, False])
def test_each_goes_by_its_own_learning_rate(is_one: bool) -> None:
    """Alone, or with neighbours that have the same."""
    rates = {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.25}
    parameters = [ParameterSpec(name=name, shape=(3,), learning_rate=rate) for name, rate in rates.items()]
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.25))
    layout = dense_layout(parameters, 0, 1)
    made = Tables(update, layout, [])
    whole = np.full(layout.size, 0.0625, np.float32)
    pieces = [whole[segment.span] for segment in layout.segments]
    made.apply([Gradient(pieces, (), whole if is_one else None)], samples=1, passes=0, step=1)
    moved = {s.parameter.name: set((-64 * made.values[s.span]).tolist()) for s in layout.segments}
    assert moved == {name: {rate} for name, rate in rates.items()}


def test_those_updated_alike_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from paddle._engine.rules.vector import Vector

    sizes: list[int] = []
    made = tables("sgd")
    monkeypatch.setattr(Vector, "step", lambda self, gradient, rate, step: sizes.append(gradient.size))
    whole = np.ones(made.values.size, np.float32)
    made.apply([Gradient((), (), whole)], samples=1, passes=0, step=1)
    assert sizes == [17, 7, 1, 4, 13]


def test_a_parameter_that_its_trainer_has_moved_stays() -> None:
    made = tables("sgd")
    before = made.values.copy()
    pieces = [np.ones(segment.size, np.float32) for segment in made.layout.segments]
    pieces[2] = MOVED
    made.apply([Gradient(pieces)], samples=1, passes=0, step=1)
    changed = {
        s.parameter.name for s in made.layout.segments if (made.values[s.span] != before[s.span]).all()
    }
    assert changed == {parameter.name for parameter in PARAMETERS} - {"own rate"}


def test_only_plain_descent_is_lent() -> None:
    assert tables("sgd").plain() == {}  # of all there is L2
    plain = UpdateSpec(rule=RuleSpec(name="momentum"), schedule=ScheduleSpec(learning_rate=0.1))
    layout = dense_layout(PARAMETERS, 0, 1)
    lent = Tables(plain, layout, []).plain()
    assert lent == {p.name: p.learning_rate for p in PARAMETERS if p.name != "clipped"}
    for rule, options, average in (
        ("momentum", {"momentum": 0.9}, None),
        ("adam", {}, None),
        ("sgd", {}, AVERAGE),
    ):
        spec = UpdateSpec(
            rule=RuleSpec(name=rule, options=options),
            schedule=ScheduleSpec(learning_rate=0.1),
            average=average,
        )
        assert Tables(spec, layout, []).plain() == {}
