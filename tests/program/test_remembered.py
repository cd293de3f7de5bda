"""What optimizers remember, of a job whose servers have it: seen and saved as in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle import fluid
from paddle._program.carrier import Carrier, Cluster
from paddle._pserver.errors import ShardUnreachable
from paddle.fluid import layers, optimizer
from tests.pserver.service.endpoints import Endpoints

STEPS = 3
RULES = [lambda: optimizer.Adam(0.05), lambda: optimizer.Momentum(0.1, 0.9), lambda: optimizer.Adagrad(0.1)]
Made = tuple[fluid.Program, fluid.Program, Any]
FEEDS = [
    {"ids": ids, "label": (ids % 5).astype(np.float32)}
    for ids in np.random.default_rng(1).integers(0, 20, (2 * STEPS, 8, 1))
]


def network(made: Any, endpoints: Endpoints | None = None) -> Made:
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 3
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        ids, label = layers.data("ids", [1], dtype="int64"), layers.data("label", [1])
        rows = layers.embedding(ids, [20, 4], is_sparse=True, param_attr="emb")
        loss = layers.mean(layers.square_error_cost(layers.fc(layers.fc(rows, 600), 1), label))
        made().minimize(loss)
    if endpoints is not None:
        main._carrier = Carrier(Cluster(endpoints=tuple(endpoints.names)))
    return main, startup, loss


@contextmanager
def begun(made: Any, servers: int, folder: Path | None = None) -> Iterator[Made]:
    """A program in a scope of its own, alone or with so many servers; with what ``folder`` has."""
    endpoints = Endpoints(servers) if servers else None
    with fluid.scope_guard(fluid.Scope()):
        program = network(made, endpoints)
        fluid.Executor().run(program[1])
        if folder is not None:
            fluid.io.load_persistables(fluid.Executor(), str(folder), program[0])
        yield program
        if program[0]._carrier is not None:
            program[0]._carrier.close()
    assert endpoints is None or all(endpoints.outcomes())


def trained(program: Made, feeds: list[dict[str, np.ndarray]]) -> list[float]:
    executor = fluid.Executor()
    return [executor.run(program[0], feed=feed, fetch_list=[program[2]])[0].item() for feed in feeds]


@pytest.mark.parametrize("made", RULES)
def test_persistables_of_a_job_are_those_of_one_process(made: Any, tmp_path: Path) -> None:
    for servers in (0, 2):
        with begun(made, servers) as program:
            trained(program, FEEDS[:STEPS])
            fluid.io.save_persistables(fluid.Executor(), str(tmp_path / str(servers)), program[0])
            names = {each.name for each in program[0].list_vars() if each.persistable}
    saved = {path.name for path in (tmp_path / "2").iterdir()}
    assert saved == {path.name for path in (tmp_path / "0").iterdir()} and len(saved) > len(RULES)
    block = program[0].global_block()
    for name in names & saved:
        found, expected = (
            fluid.io.load_program_state(str(tmp_path / each), [block.var(name)])[name] for each in "20"
        )
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=name)
        assert expected.any(), name


@pytest.mark.parametrize(
    ("made", "before", "after"),
    [(RULES[0], 2, 1), (RULES[0], 2, 0), (RULES[0], 0, 2), (RULES[1], 2, 1), (RULES[2], 2, 1)],
)
def test_a_job_goes_on_from_persistables_whoever_saved_them(
    made: Any, before: int, after: int, tmp_path: Path
) -> None:
    with begun(made, 0) as program:
        expected = trained(program, FEEDS)
    with begun(made, before) as program:
        trained(program, FEEDS[:STEPS])
        fluid.io.save_persistables(fluid.Executor(), str(tmp_path), program[0])
    with begun(made, after, tmp_path) as program:
        np.testing.assert_allclose(trained(program, FEEDS[STEPS:]), expected[STEPS:], rtol=1e-5)


def test_accumulators_are_seen_live() -> None:
    with begun(lambda: optimizer.Adam(0.05, beta1=0.8), 2) as program:
        for step, feed in enumerate(FEEDS, 1):
            trained(program, [feed])
            scope = fluid.global_scope()
            power = scope.find_var("fc_0.w_0_beta1_pow_acc_0")
            moment = scope.find_var("fc_0.w_0_moment1_0")
            assert power is not None and moment is not None
            assert np.array(power.get_tensor())[0] == pytest.approx(0.8 ** (step + 1))
            assert np.array(moment.get_tensor()).any()


def test_who_saves_after_the_goodbye_is_told_that_it_is_late(tmp_path: Path) -> None:
    with begun(lambda: optimizer.Adam(0.05), 1) as program:
        trained(program, FEEDS[:1])
        program[0]._carrier.close()
        own = program[0].global_block().var("fc_0.w_0_moment1_0")
        with pytest.warns(UserWarning, match="has said goodbye to them"):
            fluid.io.save_vars(fluid.Executor(), str(tmp_path), program[0], vars=[own])


def test_after_the_goodbye_dense_parameters_are_saved_as_they_were_then_and_tables_named(
    tmp_path: Path,
) -> None:
    with begun(lambda: optimizer.SGD(0.05), 2) as program:
        trained(program, FEEDS)
        block, exe = program[0].global_block(), fluid.Executor()
        before = np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())
        program[0]._carrier.close()
        dense = [each for each in program[0].all_parameters() if each.name != "emb"]
        fluid.io.save_vars(exe, str(tmp_path), program[0], vars=dense)
        found = fluid.io.load_program_state(str(tmp_path), [block.var("fc_0.w_0")])["fc_0.w_0"]
        np.testing.assert_array_equal(found, before)
        with pytest.raises(RuntimeError, match=r"table 'emb' is kept by servers, .* said goodbye to them"):
            fluid.io.save_persistables(exe, str(tmp_path), program[0])
        with pytest.raises(ShardUnreachable, match=r"goodbye was said, by stop_worker\(\)"):
            trained(program, FEEDS[:1])


def test_so_many_steps_are_told_by_the_power_that_is_nothing_last(tmp_path: Path) -> None:
    """The power of 0.9 is nothing after 830 steps, when that of 0.999 has hardly begun to fall."""
    few = [{key: value[:1] for key, value in FEEDS[0].items()}] * 1000

    def made() -> Any:
        return optimizer.Adam(1e-4)

    with begun(made, 0) as program:
        trained(program, few)
        fluid.io.save_persistables(fluid.Executor(), str(tmp_path), program[0])
        expected = trained(program, FEEDS)
    with begun(made, 0, tmp_path) as program:
        np.testing.assert_allclose(trained(program, FEEDS), expected, rtol=1e-6)
