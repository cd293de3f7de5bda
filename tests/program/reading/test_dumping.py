"""What is dumped of batches of a dataset, in the lines of the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle.fluid import layers

LINES = [f"1 a{n} 1 c{n} 1 {n / 4} 2 3 {2**63 + n} 1 -1" for n in range(3)]


def program() -> tuple[Any, Any, list[Any]]:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x, y = layers.data("x", [1]), layers.data("y", [1], dtype="int64")
        ids = layers.data("ids", [1], dtype="int64", lod_level=1)
        half = fluid.initializer.Constant(0.5)
        out = layers.fc(x, 2, param_attr=fluid.ParamAttr(name="w", initializer=half), bias_attr=False)
        fluid.optimizer.SGD(1.0).minimize(layers.mean(out))
    main._fleet_opt = {"dump_fields": ["x", "ids", "y", out.name, f"{out.name}@GRAD", "mean_0.tmp_0", "none"]}
    return main, startup, [x, ids, y]


def dataset(kind: Any, path: Path, variables: list[Any], **texts: bool) -> Any:
    made = kind()
    made.init(batch_size=2, thread_num=1, pipe_command="cat", use_var=variables)
    if texts:
        made.update_settings(**texts)
    made.set_filelist([str(path)])
    if hasattr(made, "load_into_memory"):
        made.load_into_memory()
    return made


def run(tmp_path: Path, held: Any, main: Any, startup: Any, **options: Any) -> list[str]:
    executor = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        executor.run(startup)
        main._fleet_opt.update({"dump_fields_path": str(tmp_path / "dumped" / "0"), **options})
        executor.train_from_dataset(main, held)
    (found,) = (tmp_path / "dumped" / "0").iterdir()
    return found.read_text().splitlines()


def test_each_sample_is_a_line_of_its_texts_and_of_variables_that_have_rows_of_it(tmp_path: Path) -> None:
    main, startup, variables = program()
    (tmp_path / "lines").write_text("\n".join(LINES) + "\n")
    texts = {"parse_ins_id": True, "parse_content": True}
    held = dataset(paddle.distributed.InMemoryDataset, tmp_path / "lines", variables, **texts)
    lines = run(tmp_path, held, main, startup, dump_param=["w", "none"])
    out = "fc_0.tmp_0"
    minus = 2**64 - 1
    assert lines == [
        f"a0\tc0\tx:1:0\tids:2:3:{2**63}\ty:1:{minus}\t{out}:2:0:0\t{out}@GRAD:2:0.25:0.25",
        f"a1\tc1\tx:1:0.25\tids:2:3:{2**63 + 1}\ty:1:{minus}\t{out}:2:0.125:0.125\t{out}@GRAD:2:0.25:0.25",
        "(0,w):0.4375:0.4375",
        f"a2\tc2\tx:1:0.5\tids:2:3:{2**63 + 2}\ty:1:{minus}\t{out}:2:0.21875:0.21875\t{out}@GRAD:2:0.5:0.5",
        "(1,w):0.1875:0.1875",
    ]
    held.local_shuffle()
    lines = run(tmp_path, held, main, startup, dump_fields_mode="a", dump_fields=["x"], dump_param=[])
    assert len(lines) == 8
    said = {f"a{n}\tc{n}\tx:1:{n / 4:g}" for n in range(3)}  # each text has gone with its sample
    assert set(lines[5:]) == said


def test_texts_are_empty_where_none_were_read_and_a_queue_has_none(tmp_path: Path) -> None:
    main, startup, variables = program()
    main._fleet_opt["dump_fields"] = ["x"]
    (tmp_path / "lines").write_text("".join(f"{line.split(' ', 4)[4]}\n" for line in LINES))
    held = dataset(paddle.distributed.InMemoryDataset, tmp_path / "lines", variables)
    assert run(tmp_path, held, main, startup)[1] == "\t\tx:1:0.25"
    queue = dataset(paddle.distributed.QueueDataset, tmp_path / "lines", variables)
    assert run(tmp_path, queue, main, startup)[1] == "\tx:1:0.25"


def test_what_infers_dumps_too_and_what_nobody_dumps_is_refused_by_its_key(tmp_path: Path) -> None:
    main, startup, variables = program()
    (tmp_path / "lines").write_text("".join(f"{line.split(' ', 4)[4]}\n" for line in LINES))
    held = dataset(paddle.distributed.InMemoryDataset, tmp_path / "lines", variables)
    executor = fluid.Executor()
    executor.run(startup)
    main._fleet_opt.update({"dump_fields_path": str(tmp_path / "dumped"), "mpi_rank": 3})
    executor.infer_from_dataset(main, held)
    assert "GRAD" not in (tmp_path / "dumped" / "part-003-00000").read_text()
    for key, value in (
        ("dump_converter", "gzip"),
        ("enable_random_dump", True),
        ("dump_fields_path", "afs:/a"),
    ):
        with pytest.raises(NotInThisRelease, match=key):
            run(tmp_path, held, main, startup, **{key: value})
        main._fleet_opt[key] = "" if key != "dump_fields_path" else str(tmp_path)
    assert np.asarray(fluid.global_scope().find_var("w").get_tensor()) == pytest.approx(0.5)
