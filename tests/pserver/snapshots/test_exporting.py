"""Models from snapshots: what a trainer would have fetched, in the layouts of the originals."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paddle import __main__ as command
from paddle._engine.checkpoint import lod_tensor, sparse_text
from paddle._engine.exchange import AverageSpec, ParameterSpec, RowsSpec, RuleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN
from paddle._pserver.snapshots.storage import Folder
from paddle._pserver.tables.gradient import Rows
from paddle.v2.parameters import Parameters
from tests.cluster.by_hand import environment

from ..test_equality import MODEL, RULE_SPECS, update
from .test_offline import kept
from .test_resharding import OPEN_TABLE, cluster, train_open


def fetched(spec: UpdateSpec, steps: int, *, is_averaged: bool = False) -> dict[str, np.ndarray]:
    """What a trainer has after so many steps."""
    trained = cluster(MODEL, spec, 1, 1)
    trained.train(steps)
    dense, sparse = (model.tables for model in trained.models)
    values = dense.averages() if is_averaged else dense.values
    found = {s.parameter.name: values[s.span].reshape(s.parameter.shape) for s in dense.layout.segments}
    tables = {n: t.average() if is_averaged else t.refresh() for n, t in sparse.packed.items()}
    return found | tables


def assert_model(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].shape == values.shape
        assert found[name].tobytes() == values.tobytes(), name


@pytest.mark.parametrize("rule", sorted(RULE_SPECS))
def test_a_tar_file_has_what_a_trainer_would_have_fetched(tmp_path: Path, rule: str) -> None:
    spec = update(rule, l1_rate=0.001)
    kept(tmp_path / "old", cluster(MODEL, spec, 2, 2), 3, 7)
    assert command.main(["export", str(tmp_path / "old"), f"--to={tmp_path / 'model.tar'}"]) == 0
    with (tmp_path / "model.tar").open("rb") as file:
        found = Parameters.from_tar(file)
    assert found.keys() == [parameter.name for parameter in MODEL]
    assert_model({name: found.get(name) for name in found.keys()}, fetched(spec, 7))  # noqa: SIM118


def test_averages_are_those_of_a_trainer_too(tmp_path: Path) -> None:
    spec = update("adam", average=AverageSpec(window=0.5, min_window=2, max_window=4))
    kept(tmp_path / "old", cluster(MODEL, spec, 2, 2), 7)
    argv = ["export", str(tmp_path / "old"), "--format=persistables"]
    assert command.main([*argv, f"--to={tmp_path / 'averages'}", "--average"]) == 0
    assert command.main([*argv, f"--to={tmp_path / 'values'}"]) == 0
    for folder, is_averaged in (("averages", True), ("values", False)):
        found = {path.name: lod_tensor.read(path.open("rb")) for path in (tmp_path / folder).iterdir()}
        assert_model(found, fetched(spec, 7, is_averaged=is_averaged))


def test_one_file_holds_all_variables_in_the_order_of_their_names(tmp_path: Path) -> None:
    spec = update("momentum")
    kept(tmp_path / "old", cluster(MODEL, spec, 2, 2), 4)
    assert command.main(["export", str(tmp_path), f"--to={tmp_path / 'all'}", "--format=combined"]) == 0
    expected = fetched(spec, 4)
    with (tmp_path / "all").open("rb") as file:
        found = dict(zip(sorted(expected), lod_tensor.read_all(file), strict=True))
    assert_model(found, expected)


def test_a_running_job_is_exported_as_it_is(tmp_path: Path) -> None:
    spec = update("sgd")
    kept(tmp_path / "old", cluster(MODEL, spec, 2, 2), 4)
    pserver = Folder(tmp_path / "old" / "node-0" / "dense-0")
    assert command.main(["export", str(tmp_path / "old"), f"--to={tmp_path / 'model.tar'}"]) == 0
    pserver.close()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--format=zip"], "--format=zip is none of tar, persistables, combined"),
        (["--average"], "this job keeps no averages"),
        (["--nodes=3"], "no flag 'nodes'"),
    ],
)
def test_what_cannot_be_exported_is_said_and_nothing_is_made(
    tmp_path: Path, argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(tmp_path / "old", cluster(MODEL, update("sgd"), 2, 2), 4)
    assert command.main(["export", str(tmp_path / "old"), f"--to={tmp_path / 'model'}", *argv]) == 2
    assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", ["../w", "/tmp/w", "."])
def test_no_parameter_is_written_outside_the_folder(tmp_path: Path, name: str, capsys) -> None:
    model = (ParameterSpec(name=name, shape=(3,)),)
    old = cluster(model, update("sgd"), 2, 1)
    kept(tmp_path / "old", old, 1, model=model)
    argv = ["export", str(tmp_path / "old"), f"--to={tmp_path / 'model'}", "--format=persistables"]
    assert command.main(argv) == 2
    assert "a name that no file of the folder can have" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_place_where_no_file_can_be_is_named_as_it_was_asked_for(tmp_path: Path, capsys) -> None:
    kept(tmp_path / "old", cluster(MODEL, update("sgd"), 2, 2), 1)
    assert command.main(["export", str(tmp_path / "old"), "--to=/proc/model.tar"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("paddle export: /proc/model.tar could not be made: ")
    assert "/.model.tar." not in error


WITH_OPEN = (ParameterSpec(name="w", shape=(3, 5)), OPEN_TABLE)


@pytest.mark.parametrize("rule", ["momentum", "adam"])
def test_an_open_table_is_written_by_its_ids(
    tmp_path: Path, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.snapshots.exporting.rows_in_a_piece", lambda width: 4)
    old = cluster(WITH_OPEN, update(rule), 1, 3)
    train_open(old, range(1, 8))
    kept(tmp_path / "old", old, 7, model=WITH_OPEN)
    assert command.main(["export", str(tmp_path), f"--to={tmp_path / 'new'}", "--format=persistables"]) == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"w", "t_txt"}
    parts = [model.tables.open["t"].listed(None, 1000) for model in old.models[1:]]
    expected = {id: row.tolist() for p in parts for id, row in zip(p.ids.tolist(), p.values, strict=True)}
    ids, columns = sparse_text.read(tmp_path / "new" / "t_txt")
    rows = columns["Param"]
    assert dict(zip(ids.tolist(), rows.tolist(), strict=True)) == expected
    assert len(expected) > 12 and min(expected) < 0
    for block in range(3):
        meta = (tmp_path / "new" / "t_txt" / f"t.block{block}.meta").read_text()
        lines = (tmp_path / "new" / "t_txt" / f"t.block{block}.txt").read_text().splitlines()
        said = f"param=t\nshard_id={block}\nrow_names=Param\nrow_dims=3\ncount={len(lines)}\n#blocks=3\n"
        assert meta == said
        assert {int(line.split("\t")[0]) % 3 for line in lines} == {block}
        assert {tuple(line.split("\t")[1:4]) for line in lines} == {("1", "0", "1")}


def test_a_table_of_counted_rows_is_written_as_programs_save_it(tmp_path: Path) -> None:
    rule = RuleSpec(name="counted", options={"x_kind": 3.0, "threshold": 2.0})
    rows = RowsSpec(initial=RowInitial("uniform", -1, 1), rule=rule)
    model = (replace(OPEN_TABLE, shape=(OPEN, 5), rows=rows),)
    old = cluster(model, update("sgd"), 1, 2)
    for step in (1, 2):
        for table in (each.tables.open["t"] for each in old.models[1:]):
            every = np.arange(4 + step)
            ids = every[table.held.pick(every)]
            pushed = np.full((len(ids), 5), 10.0 * step, np.float32)
            table.apply([Rows(ids, pushed)], None, 0.1, step)
    old.steps = 2
    kept(tmp_path / "old", old, 2, model=model)
    assert command.main(["export", str(tmp_path), f"--to={tmp_path / 'new'}", "--format=persistables"]) == 0
    ids, columns = sparse_text.read(tmp_path / "new" / "t_txt")
    assert {name: each.shape[1] for name, each in columns.items()} == {
        "Param": 3, "Counts": 2, "Memory": 5, "Other": 5
    }  # fmt: skip
    found = {id: at for at, id in enumerate(ids.tolist())}
    assert columns["Counts"][[found[id] for id in range(6)], 0].tolist() == [30.0] * 5 + [20.0]
    for part in (each.tables.open["t"].listed(None, 100) for each in old.models[1:]):
        at = [found[id] for id in part.ids.tolist()]
        np.testing.assert_array_equal(columns["Param"][at], part.values[:, 2:])
        np.testing.assert_array_equal(columns["Memory"][at], part.slots["memory"])
        np.testing.assert_array_equal(columns["Other"][at], part.slots["other"])


@pytest.mark.parametrize("layout", ["tar", "combined"])
def test_where_open_tables_have_no_place_another_layout_is_named(tmp_path: Path, layout: str, capsys) -> None:
    kept(tmp_path / "old", cluster((OPEN_TABLE,), update("sgd"), 1, 2), 0, model=(OPEN_TABLE,))
    argv = ["export", str(tmp_path / "old"), f"--to={tmp_path / 'model'}", f"--format={layout}"]
    assert command.main(argv) == 2
    error = capsys.readouterr().err
    assert "'t' is a table without a height" in error and "--format=persistables" in error


# May use so much more memory of its own than it has once all is loaded.
BOUNDED = """
import resource, sys
from paddle import __main__ as command
from paddle._pserver.snapshots import offline

def own():
    fields = dict(line.split(":") for line in open("/proc/self/status"))
    return int(fields["VmData"].split()[0]) << 10

limit = own() + (32 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
sys.exit(command.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "argv", [["reshard", "--to=new", "--ports_num_for_sparse=3"], ["export", "--to=model.tar"]]
)
def test_a_state_larger_than_memory_is_worked_on(tmp_path: Path, argv: list[str]) -> None:
    model = (ParameterSpec(name="t", shape=(1 << 12, 1 << 12), sparse=True),)  # 64 MiB
    kept(tmp_path / "old", cluster(model, update("sgd"), 1, 2), 0, model=model)
    done = subprocess.run(
        [sys.executable, "-P", "-c", BOUNDED, *argv, "old"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
