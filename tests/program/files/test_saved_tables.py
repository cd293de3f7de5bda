"""``fluid.save`` and ``fluid.load`` of programs that have tables without a height."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.errors import MissingFile, NotInitialized
from paddle._program.running.open_table import table_of
from paddle.fluid import optimizer
from tests.program.test_open_tables import batches, network


def trained(scope: fluid.Scope, steps: int) -> tuple[fluid.Program, list[float]]:
    """A program of which the scope has what it is after some steps, and its losses."""
    main, startup, loss = network(lambda: optimizer.Adam(0.05))
    executor = fluid.Executor()
    executor.run(startup, scope=scope)
    return main, more(main, loss.name, scope, slice(0, steps))


def more(main: fluid.Program, loss: str, scope: fluid.Scope, which: slice) -> list[float]:
    executor = fluid.Executor()
    own = batches(0, 1, 8)[which]
    return [executor.run(main, feed=each, fetch_list=[loss], scope=scope)[0].item() for each in own]


LOSS = "mean_0.tmp_0"


@pytest.mark.parametrize("save", [fluid.save, paddle.static.save])
def test_training_goes_on_from_what_was_saved_with_its_rows(tmp_path: Path, save: object) -> None:
    with fluid.scope_guard(fluid.Scope()):
        scope = fluid.global_scope()
        main, _ = trained(scope, 4)
        assert callable(save)
        save(main, str(tmp_path / "model"))
        expected = more(main, LOSS, scope, slice(4, 8))
    assert {"model.pdparams", "model.pdopt", "model.pdmodel", "model.pdtables"} == {
        each.name for each in tmp_path.iterdir()
    }
    with fluid.scope_guard(fluid.Scope()):
        scope = fluid.global_scope()
        again, _ = trained(scope, 0)
        fluid.load(again, str(tmp_path / "model"))
        np.testing.assert_allclose(more(again, LOSS, scope, slice(4, 8)), expected, rtol=1e-5)


def test_a_folder_of_files_is_loaded_with_its_tables_too(tmp_path: Path) -> None:
    with fluid.scope_guard(fluid.Scope()):
        main, _ = trained(fluid.global_scope(), 3)
        fluid.io.save_persistables(fluid.Executor(), str(tmp_path / "all"), main)
        table = table_of(fluid.global_scope(), "emb")
        assert table is not None
        saved = table.rows()
    with fluid.scope_guard(fluid.Scope()):
        again, _ = trained(fluid.global_scope(), 0)
        fluid.load(again, str(tmp_path / "all"))
        found = table_of(fluid.global_scope(), "emb")
        assert found is not None and found.given is not None
        np.testing.assert_array_equal(found.given.sorted().ids, saved.sorted().ids)
    with pytest.warns(UserWarning, match=r"all has tables \(emb_txt\), whose rows are not arrays"):
        state = fluid.io.load_program_state(str(tmp_path / "all"))
    assert "w" in state and not any(name.startswith("emb_txt") for name in state)


def test_a_table_that_was_not_begun_and_one_that_was_not_saved_are_named(tmp_path: Path) -> None:
    main, _, _ = network(lambda: optimizer.SGD(0.1))
    with fluid.scope_guard(fluid.Scope()), pytest.raises(NotInitialized, match="table 'emb' is not begun"):
        fluid.save(main, str(tmp_path / "model"))
    with fluid.scope_guard(fluid.Scope()):
        main, _ = trained(fluid.global_scope(), 1)
        fluid.save(main, str(tmp_path / "model"))
        (tmp_path / "model.pdtables" / "emb_txt").rename(tmp_path / "elsewhere")
        with pytest.raises(MissingFile, match=r"no folder .*emb_txt, from which the rows of table 'emb'"):
            fluid.load(main, str(tmp_path / "model"))
