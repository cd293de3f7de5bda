"""Steps that a program writes itself: what they compute, and that their gradients are derivatives."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.errors import EngineError, FeedError, ShapeError
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.program import Program, Variable
from paddle._engine.registry import Run
from paddle._engine.scope import Scope
from paddle._engine.single import Single
from paddle._engine.steps import kinds
from paddle._engine.steps.recurrence import Recurrence
from paddle._engine.steps.tape import Values

OFFSETS = np.array([0, 2, 2, 7, 8])  # the second sequence is empty
SEEN = np.array([0, 3, 4, 4, 6])  # and another one the third attends to
INNER = np.array([0, 2, 3, 3, 6, 7, 7, 9, 10])  # eight inner sequences, for the rows of OFFSETS
RUNS = {"offsets": OFFSETS, "seen": SEEN, "inner": INNER}


class Written:
    """A program of which all that is computed with are parameters, so that all of it has gradients."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.runs = {name: self.builder.data(name, (-1,), "int64") for name in RUNS}

    def parameter(self, name: str, *shape: int, of: Builder | None = None) -> Variable:
        return (of or self.builder).parameter(name, shape, Normal(0.0, 0.5))

    def rows(self, name: str, runs: str, width: int) -> Variable:
        return self.parameter(name, RUNS[runs][-1], width)

    def cost(self, *outputs: Variable) -> Variable:
        """A number for each output, no two alike."""
        op = self.builder.op
        parts = []
        for number, out in enumerate(outputs):
            weight = self.parameter(f"cost{number}", out.shape[1], 1)
            parts.append(op("reduce_sum", X=op("tanh", X=op("mul", X=out, Y=weight))))
        return op("sum", X=parts)


def values_of(program: Program, arrays: dict[str, np.ndarray], role: str) -> dict[str, np.ndarray]:
    """All values of a program, computed one operator after another, in the dtype of what is given."""
    values, run = dict(arrays), Run()
    for operator in program.main.operators:
        if role == "all" or operator.role == role:
            Single._run(operator, values, run)
    return values


def check_gradients(program: Program, cost: Variable, eps: float = 1e-6) -> None:
    """Hold all gradients against central differences, in float64."""
    rng = np.random.default_rng(11)
    arrays: dict[str, np.ndarray] = dict(RUNS)
    for parameter in program.parameters():
        arrays[parameter.name] = rng.normal(0, 0.5, parameter.shape)
    pairs = append_backward(program, cost)
    found = values_of(program, arrays, "all")
    assert {parameter.name for parameter, _ in pairs} == {each.name for each in program.parameters()}
    for parameter, gradient in pairs:
        array = arrays[parameter.name]
        for place in rng.permutation(array.size)[:12]:
            was, flat = array.flat[place], array.reshape(-1)
            both = []
            for moved in (eps, -eps):
                flat[place] = was + moved
                both.append(float(values_of(program, arrays, "forward")[cost.name].sum()))
            flat[place] = was
            slope = (both[0] - both[1]) / (2 * eps)
            assert found[gradient.name].flat[place] == pytest.approx(slope, rel=1e-5, abs=1e-7), (
                parameter.name
            )


def simple(written: Written, is_reverse: bool) -> list[Variable]:
    """tanh(x W + h U + b), from a boot."""
    recurrence = Recurrence(written.builder, is_reverse)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    former = recurrence.memory(3, written.parameter("boot", 4, 3))
    step, op = recurrence.step, recurrence.step.op
    w, u = written.parameter("w", 2, 3, of=step), written.parameter("u", 3, 3, of=step)
    reached = op("sum", X=[op("mul", X=x, Y=w), op("mul", X=former, Y=u)])
    now = op("tanh", X=op("elementwise_add", X=reached, Y=written.parameter("b", 1, 3, of=step)))
    recurrence.remember(former, now)
    said = op("sigmoid", X=op("mul", X=now, Y=written.parameter("v", 3, 2, of=step)))
    return recurrence.done([said, former])


def attention(written: Written, is_reverse: bool) -> list[Variable]:
    """A GRU that looks at another sequence, weighed by what it remembers."""
    recurrence = Recurrence(written.builder, is_reverse)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    seen, ends = recurrence.static_runs(written.rows("s", "seen", 3), written.runs["seen"])
    constant = recurrence.static(written.parameter("c", 4, 2))
    former = recurrence.memory(3)
    step, op = recurrence.step, recurrence.step.op
    asked = op("mul", X=former, Y=written.parameter("q", 3, 3, of=step))
    asked = op("sequence_expand", X=asked, Offsets=ends, Like=seen)
    scores = op("tanh", X=op("elementwise_add", X=asked, Y=seen))
    weights = op("mul", X=scores, Y=written.parameter("k", 3, 1, of=step))
    weights = op("sequence_softmax", X=weights, Offsets=ends)
    context = op(
        "sequence_pool", {"pooltype": "sum"}, X=op("elementwise_mul", X=seen, Y=weights), Offsets=ends
    )
    together = op("concat", X=[context, op("elementwise_mul", X=x, Y=constant)])
    reached = op("mul", X=together, Y=written.parameter("w", 5, 9, of=step))
    u, b = written.parameter("u", 3, 9, of=step), written.parameter("b", 1, 9, of=step)
    now = op("gru_step", X=reached, State=former, Weight=u, Bias=b)
    recurrence.remember(former, now)
    return recurrence.done([now, context])


def two_states(written: Written, is_reverse: bool) -> list[Variable]:
    """An LSTM, of which state and hidden value are both remembered and said; and what has no memory."""
    recurrence = Recurrence(written.builder, is_reverse)
    x = recurrence.each(written.rows("x", "offsets", 8), written.runs["offsets"])
    hidden, state = recurrence.memory(2, written.parameter("boot", 4, 2)), recurrence.memory(2, start=0.5)
    step, op = recurrence.step, recurrence.step.op
    reached = op("sum", X=[x, op("mul", X=hidden, Y=written.parameter("w", 2, 8, of=step))])
    made = step.ops("lstm_step", X=reached, State=state, Bias=written.parameter("p", 1, 6, of=step))
    recurrence.remember(hidden, made["Out"])
    recurrence.remember(state, made["Next"])
    apart = op("square", X=x)
    return recurrence.done([made["Next"], made["Out"], apart])


def delayed(written: Written, is_reverse: bool) -> list[Variable]:
    """What an input was one moment earlier: a loop in which nothing is computed."""
    recurrence = Recurrence(written.builder, is_reverse)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    former = recurrence.memory(2, written.parameter("boot", 4, 2))
    recurrence.remember(former, recurrence.step.op("scale", {"scale": 2.0}, X=x))
    return recurrence.done([former])


def of_sequences(written: Written, is_reverse: bool) -> list[Variable]:
    """At each moment a sequence, walked along from what is remembered of the one before."""
    recurrence = Recurrence(written.builder, is_reverse)
    rows, ends = recurrence.inner(
        written.rows("x", "inner", 2), written.runs["inner"], written.runs["offsets"]
    )
    former = recurrence.memory(3, written.parameter("boot", 4, 3))
    step = recurrence.step
    within = Recurrence(step)
    word, hidden = within.each(rows, ends), within.memory(3, former)
    op, inner = within.step.op, within.step
    w, u = written.parameter("w", 2, 3, of=inner), written.parameter("u", 3, 3, of=inner)
    made = op("tanh", X=op("sum", X=[op("mul", X=word, Y=w), op("mul", X=hidden, Y=u)]))
    within.remember(hidden, made)
    (words,) = within.done([made])
    best = step.op("sequence_pool", {"pooltype": "average"}, X=words, Offsets=ends)
    last = step.op("sum", X=[best, former])
    recurrence.remember(former, last)
    return recurrence.done([last, words])


WAYS: list[Callable[[Written, bool], list[Variable]]] = [simple, attention, two_states, delayed, of_sequences]


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_gradients_are_derivatives(way: Callable, is_reverse: bool) -> None:
    written = Written()
    check_gradients(written.builder.program, written.cost(*way(written, is_reverse)))


@pytest.mark.parametrize("way", WAYS)
def test_gradients_in_a_test_are_those_of_training_where_nothing_is_dropped(
    way: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, found = Written(), []
    cost, program = written.cost(*way(written, False)), written.builder.program
    feed = {name: RUNS[name] for name in written.runs}
    scope = Scope()
    initialize(program, scope, seed=3)
    tested, executor = program.clone(for_test=True), Executor(scope)
    monkeypatch.setattr("paddle._engine.ops.loop.Values", values := Mock(wraps=Values))
    for each in (program, tested):
        values.reset_mock()
        executor.run(tested, feed, [cost])
        assert None not in [told.args[5] for told in values.call_args_list]  # it keeps what it needs alone
        pairs = append_backward(each, cost)
        found.append(executor.run(each, feed, [cost, *(gradient for _, gradient in pairs)]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("way", [simple, attention, of_sequences])
def test_gradients_are_the_same_where_no_operator_is_known_to_work_row_by_row(
    way: Callable, monkeypatch
) -> None:
    from paddle._engine.steps import partition

    monkeypatch.setattr(kinds, "ROWWISE", frozenset())
    monkeypatch.setattr(partition, "RUNWISE", frozenset())
    written = Written()
    check_gradients(written.builder.program, written.cost(*way(written, False)))


def fused_and_written(type: str, is_reverse: bool) -> tuple[Program, Variable, Variable]:
    """A layer of the engine, and the same as a step, of the same parameters, one of them before it."""
    builder = Builder()
    gates = {"lstm": 4, "gru": 3}[type]
    given, offsets = builder.data("x", (-1, gates * 3)), builder.data("offsets", (-1,), "int64")
    x = builder.op("elementwise_mul", X=given, Y=builder.parameter("scale", (1, gates * 3), Normal(1, 0.5)))
    shapes = {"w": (3, gates * 3), "b": (1, gates * 3)} | ({"peep": (1, 9)} if type == "lstm" else {})
    own = {name: builder.parameter(name, shape, Normal(0, 0.5)) for name, shape in shapes.items()}
    bias = builder.op("concat", X=[own["b"], own["peep"]]) if type == "lstm" else own["b"]
    fused = builder.op(type, {"is_reverse": is_reverse}, X=x, Weight=own["w"], Bias=bias, Offsets=offsets)
    recurrence = Recurrence(builder, is_reverse)
    each, hidden = recurrence.each(x, offsets), recurrence.memory(3)
    step, op = recurrence.step, recurrence.step.op
    own = {name: step.parameter(name, shape, Normal(0, 0.5)) for name, shape in shapes.items()}
    if type == "gru":
        now = op("gru_step", X=each, State=hidden, Weight=own["w"], Bias=own["b"])
    else:
        state = recurrence.memory(3)
        reached = op("elementwise_add", X=op("mul", X=hidden, Y=own["w"]), Y=own["b"])
        reached = op("elementwise_add", X=reached, Y=each)
        now, next = [*step.ops("lstm_step", X=reached, State=state, Bias=own["peep"]).values()][:2]
        recurrence.remember(state, next)
    recurrence.remember(hidden, now)
    return builder.program, fused, recurrence.done([now])[0]


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("type", ["gru", "lstm"])
def test_a_layer_written_as_a_step_is_the_fused_one(type: str, is_reverse: bool) -> None:
    program, fused, written = fused_and_written(type, is_reverse)
    x = np.random.default_rng(1).normal(size=(8, {"gru": 9, "lstm": 12}[type])).astype(np.float32)
    found = []
    for output in (fused, written):
        own = program.clone()
        builder = Builder(own)
        cost = builder.op("reduce_sum", X=builder.op("square", X=output))
        pairs = append_backward(own, cost)
        scope = Scope()
        initialize(own, scope, seed=3)
        feed = {"x": x, "offsets": OFFSETS}
        executor = Executor(scope)
        found.append(executor.run(own, feed, [output, *(gradient for _, gradient in pairs)]))
        laid = executor.plan_text(own, feed, [gradient for _, gradient in pairs])
        assert (f"over {type}" in laid) == (output is fused), "what reaches the gates lies over these"
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def loop_of(program: Program) -> list[str]:
    (operator,) = [each for each in program.main.operators if each.type == "recurrent"]
    return [each.type for each in operator.attrs["loop"].operators]


def test_only_what_goes_round_is_run_moment_by_moment() -> None:
    written = Written()
    simple(written, False)
    program = written.builder.program
    assert loop_of(program) == ["mul", "sum", "elementwise_add", "tanh"]
    types = [each.type for each in program.main.operators]
    assert types == ["mul", "recurrent", "mul", "sigmoid"]  # x W before, what is said of the state behind


def test_without_a_memory_there_is_no_loop() -> None:
    written = Written()
    recurrence = Recurrence(written.builder)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    constant = recurrence.static(written.parameter("c", 4, 2))
    recurrence.done([recurrence.step.op("elementwise_add", X=x, Y=constant)])
    assert [each.type for each in written.builder.program.main.operators] == [
        "sequence_expand",
        "elementwise_add",
    ]


def test_batches_of_all_shapes_share_one_tape() -> None:
    program, fused, written = fused_and_written("gru", False)
    scope = Scope()
    initialize(program, scope, seed=3)
    executor = Executor(scope)
    rng = np.random.default_rng(2)
    for offsets in (
        [0, 3],
        [0, 9, 9, 30],
        [0, 1, 4],
        [0, 3],
        [0, 20, 21],
        [0, 0],
        [0, 9, 9, 30],
        [0, 4, 4, 30],
    ):
        feed = {"x": rng.normal(size=(offsets[-1], 9)).astype(np.float32), "offsets": np.array(offsets)}
        one, other = executor.run(program, feed, [fused, written])
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def dropping(is_remembered: bool) -> tuple[Program, Variable]:
    builder = Builder()
    x, offsets = builder.data("x", (-1, 50)), builder.data("offsets", (-1,), "int64")
    recurrence = Recurrence(builder)
    recurrence.each(x, offsets)
    ones = recurrence.memory(50, start=1.0)
    dropped = recurrence.step.op("dropout", X=ones)
    recurrence.remember(ones, recurrence.step.op("relu", X=ones) if not is_remembered else dropped)
    return builder.program, recurrence.done([dropped])[0]


def test_each_moment_drops_anew_and_a_test_drops_nothing() -> None:
    feed = {"x": np.zeros((8, 50), np.float32), "offsets": OFFSETS}
    program, out = dropping(is_remembered=True)
    (rows,) = Executor(Scope()).run(program, feed, [out])
    kept = rows[2:7].mean(1)
    assert (np.diff(kept) < 0).all(), "what is dropped stays so, and more goes with every moment"
    (rows,) = Executor(Scope()).run(program.clone(for_test=True), feed, [out])
    np.testing.assert_allclose(rows[2:7, 0], 0.5 ** np.arange(1, 6))
    np.testing.assert_allclose(rows[[0, 2, 7]], 0.5)


def test_sequences_of_unequal_lengths_are_not_walked_along_together() -> None:
    written = Written()
    recurrence = Recurrence(written.builder)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    other = recurrence.each(written.parameter("y", 8, 2), written.runs["seen"])
    former = recurrence.memory(2)
    now = recurrence.step.op("sum", X=[x, other, former])
    recurrence.remember(former, now)
    (out,) = recurrence.done([now])
    arrays = {each.name: np.ones(each.shape) for each in written.builder.program.parameters()}
    with pytest.raises(FeedError, match="unequal lengths"):
        values_of(written.builder.program, arrays | RUNS | {"seen": np.array([0, 2, 2, 6, 8])}, "forward")
    found = values_of(written.builder.program, arrays | RUNS | {"seen": OFFSETS}, "forward")[out.name]
    np.testing.assert_array_equal(found[:, 0], [2, 4, 2, 4, 6, 8, 10, 2])


def test_what_is_not_said_of_a_memory_is_asked_for() -> None:
    written = Written()
    recurrence = Recurrence(written.builder)
    recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    former = recurrence.memory(3)
    with pytest.raises(EngineError, match="call remember"):
        recurrence.done([former])
    with pytest.raises(EngineError, match="no input to walk along"):
        Recurrence(written.builder).done([])
    with pytest.raises(ShapeError, match="cannot be of"):
        recurrence.remember(former, recurrence.memory(4))


def test_a_step_that_mixes_its_sequences_is_refused() -> None:
    written = Written()
    recurrence = Recurrence(written.builder)
    x = recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    former = recurrence.memory(2)
    mean = recurrence.step.op("reduce_sum", X=x)
    recurrence.remember(former, recurrence.step.op("elementwise_add", X=former, Y=mean))
    with pytest.raises(ShapeError, match="not to be mixed"):
        recurrence.done([former])


def test_a_step_holds_nothing_that_a_run_does_once() -> None:
    written = Written()
    recurrence = Recurrence(written.builder)
    recurrence.each(written.rows("x", "offsets", 2), written.runs["offsets"])
    rows, ends = recurrence.static_runs(written.rows("s", "seen", 2), written.runs["seen"])
    windows = recurrence.step.ops("sequence_strides", {"stride": 2}, Offsets=ends)
    former = recurrence.memory(2)
    pooled = recurrence.step.op("sequence_pool", X=rows, Offsets=windows["Out"])
    recurrence.remember(former, recurrence.step.op("sum", X=[former, pooled]))
    with pytest.raises(ShapeError, match="cannot stand in a step"):
        recurrence.done([former])


def test_the_kinds_of_operators_are_operators() -> None:
    from paddle._engine import registry

    assert set(registry.table()) >= kinds.ROWWISE | kinds.RUNWISE


def test_a_printed_plan_says_what_is_run_at_each_moment() -> None:
    program, fused, written = fused_and_written("gru", False)
    scope = Scope()
    initialize(program, scope, seed=3)
    feed = {"x": np.zeros((8, 9), np.float32), "offsets": OFFSETS}
    text = Executor(scope).plan_text(program, feed, [fused, written])
    assert "each moment: gru_step_0.out, gru_step_0.gates, gru_step_0.kept = gru_step(" in text
