"""Recurrent layers are saved in operators of the original, and compute the same when they are read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadProgram

L = fluid.layers
Network = Callable[[], tuple[list[Any], Any]]


def words(name: str = "words", lod_level: int = 1) -> Any:
    return L.data(name, [4], lod_level=lod_level)


def walks() -> tuple[list[Any], Any]:
    """Two inputs, a memory that begins with a number, and one more that is computed from it."""
    x, y, rnn = words(), words("others"), L.DynamicRNN()
    with rnn.block():
        step, other = rnn.step_input(x), rnn.step_input(y)
        before = rnn.memory(shape=[5], value=0.5)
        after = L.fc([step, other, before], 5, act="tanh")
        rnn.update_memory(before, after)
        rnn.output(after, L.scale(after, 2.0))
    first, second = rnn()
    return [x, y], L.concat([L.sequence_last_step(first), L.sequence_pool(second, "max")], axis=1)


def walks_with_what_stays() -> tuple[list[Any], Any]:
    """A memory that begins with rows, a row and a sequence for each, and a row that was not announced."""
    x, row, unsaid, source = words(), L.data("row", [3]), L.data("unsaid", [3]), words("source")
    begin, rnn = L.fc(row, 5), L.DynamicRNN()
    with rnn.block():
        step, stays, looks = rnn.step_input(x), rnn.static_input(row), rnn.static_input(source)
        before = rnn.memory(init=begin, need_reorder=True)
        seen = L.sequence_pool(L.elementwise_mul(looks, L.sequence_expand(L.fc(before, 4), looks)), "sum")
        after = L.fc([step, stays, unsaid, seen, before], 5, act="tanh")
        rnn.update_memory(before, after)
        rnn.output(after)
    return [x, row, unsaid, source], rnn()


def steps() -> tuple[list[Any], Any]:
    """Along the first axis; the block reads what it walks along as a whole, too."""
    x, rnn = L.data("x", [3, 2, 4], append_batch_size=False), L.StaticRNN()
    with rnn.step():
        step = rnn.step_input(x)
        before = rnn.memory(shape=[-1, 5], batch_ref=step, init_value=0.25)
        after = L.fc([step, before], 5, act="tanh") + L.reduce_mean(x)
        rnn.update_memory(before, after)
        rnn.step_output(after)
        rnn.step_output(step)
    first, second = rnn()
    return [x], L.concat([first, second], axis=2)


def costs() -> tuple[list[Any], Any]:
    x, y = L.data("row", [3]), L.data("unsaid", [3])
    return [x, y], L.square_error_cost(L.fc(x, 3), y)


NETWORKS = [walks, walks_with_what_stays, steps, costs]


def feeds() -> dict[str, Any]:
    random = np.random.default_rng(1)
    place, lengths = fluid.CPUPlace(), [[2, 4, 1]]
    rows = {name: random.normal(size=(7, 4)).astype("float32") for name in ("words", "others")}
    found = {name: fluid.create_lod_tensor(each, lengths, place) for name, each in rows.items()}
    source = random.normal(size=(6, 4)).astype("float32")
    return {
        **found,
        "source": fluid.create_lod_tensor(source, [[3, 1, 2]], place),
        "row": random.normal(size=(3, 3)).astype("float32"),
        "unsaid": random.normal(size=(3, 3)).astype("float32"),
        "x": random.normal(size=(3, 2, 4)).astype("float32"),
    }


def saved(network: Network, folder: Path) -> np.ndarray:
    """What it computes, once it was saved."""
    given, out = network()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fed = {each.name: feeds()[each.name] for each in given}
    (found,) = exe.run(feed=fed, fetch_list=[out], return_numpy=False)
    fluid.io.save_inference_model(str(folder), list(fed), [out], exe)
    return np.asarray(found)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.__name__)
def test_what_was_saved_computes_the_same(network: Network, tmp_path: Path) -> None:
    wanted = saved(network, tmp_path)
    program = fluid.Program.parse_from_string((tmp_path / "__model__").read_bytes())
    written = {op.type for block in program.blocks for op in block.ops}
    assert written.isdisjoint({"dynamic_recurrent", "square_error_cost"})
    with fluid.scope_guard(fluid.executor.Scope()):
        exe = fluid.Executor()
        program, names, targets = fluid.io.load_inference_model(str(tmp_path), exe)
        fed = {name: feeds()[name] for name in names}
        (found,) = exe.run(program, feed=fed, fetch_list=targets, return_numpy=False)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6)
        fluid.io.save_inference_model(str(tmp_path / "again"), names, targets, exe, program)


def test_the_program_that_was_saved_is_as_it_was(tmp_path: Path) -> None:
    given, _ = walks()
    before = str(fluid.default_main_program())
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    target = fluid.default_main_program().global_block().ops[-1].output("Out")[0]
    variable = fluid.default_main_program().global_block().var(target)
    fluid.io.save_inference_model(str(tmp_path), [each.name for each in given], [variable], exe)
    assert str(fluid.default_main_program()) == before


def test_a_walk_along_sequences_of_sequences_is_refused_by_name(tmp_path: Path) -> None:
    x, rnn = words(lod_level=2), L.DynamicRNN()
    with rnn.block():
        rnn.output(L.sequence_pool(rnn.step_input(x), "sum"))
    out = rnn()
    exe = fluid.Executor()
    with pytest.raises(BadProgram, match="DynamicRNN over sequences of sequences"):
        fluid.io.save_inference_model(str(tmp_path), ["words"], [out], exe)
    assert list(tmp_path.iterdir()) == []
