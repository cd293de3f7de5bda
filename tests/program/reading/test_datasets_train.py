"""exe.train_from_dataset runs a program on each batch of a dataset once, by real threads."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._data.lines import BadLine
from paddle._data.setters import DatasetFactory
from paddle._program.reading.data_loader import DataLoader
from paddle._program.reading.training import FetchHandler

W = np.array([1.0, -2.0, 0.5])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    random = np.random.default_rng(0)
    names = []
    for number in range(4):
        rows = [(x, x @ W) for x in random.normal(size=(80, 3))]
        text = "".join(f"3 {' '.join(map(str, x.tolist()))} 1 {y}\n" for x, y in rows)
        names.append(str(tmp_path / f"part-{number}"))
        Path(names[-1]).write_text(text)
    return names


def network() -> tuple[list[Any], Any]:
    x, y = fluid.layers.data("x", [3]), fluid.layers.data("y", [1])
    return [x, y], fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(x, 1), y))


def dataset(use_var: list[Any], files: list[str], kind: str = "QueueDataset") -> Any:
    made = DatasetFactory().create_dataset(kind)
    made.set_use_var(use_var)
    made.set_batch_size(10)
    made.set_filelist(files)
    if kind == "InMemoryDataset":
        made.load_into_memory()
    return made


def weights(name: str = "fc_0.w_0") -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor()).ravel()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_every_batch_of_the_files_is_learned_once(files: list[str], threads: int, kind: str) -> None:
    used, _ = network()
    x = (
        fluid.default_main_program().global_block().var("x")
    )  # whose weights' gradient is x, whatever they are
    fluid.optimizer.SGD(learning_rate=0.1).minimize(fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="w")))
    fluid.default_startup_program().random_seed = 3
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    before = weights("w")
    exe.train_from_dataset(fluid.default_main_program(), dataset(used, files, kind), thread=threads)
    lines = [line.split()[1:4] for name in files for line in Path(name).read_text().splitlines()]
    np.testing.assert_allclose(weights("w"), before - 0.1 * np.sum(np.array(lines, float), 0) / 10, atol=1e-5)


def test_one_thread_does_what_runs_do(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    used, loss = network()
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    fluid.default_startup_program().random_seed = 3
    exe.run(fluid.default_startup_program())
    for feed in DataLoader.from_dataset(dataset(used, files)):
        exe.run(feed=feed)
    found = [weights()]
    with fluid.scope_guard(fluid.executor.Scope()):
        exe.run(fluid.default_startup_program())
        exe.train_from_dataset(
            dataset=dataset(used, files), fetch_list=[loss], fetch_info=["cost"], print_period=16
        )
        found.append(weights())
    np.testing.assert_array_equal(found[0], found[1])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("], ")[2].rpartition("[")[0] for line in lines] == [
        "batch: [16], cost[1]:",
        "batch: [32], cost[1]:",
    ]


def test_what_is_shown_reads_as_in_the_log_of_2_6_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = fluid.layers.data("x", [3])
    half, huge = fluid.layers.fill_constant([4], "float32", 0.5), fluid.layers.fill_constant([1], "int64", 7)
    (tmp_path / "part").write_text("3 1.5 -2 0.00012345678\n3 1 100000 1234567\n")
    fluid.Executor().train_from_dataset(
        fluid.default_main_program(),
        dataset([x], [str(tmp_path / "part")]),
        fetch_list=[x, half, huge, x > 1, fluid.layers.log(x * 0.0)],
        fetch_info=["Epoch 0 Var x", "half", "id", "more", "far"],
        print_period=1,
    )
    time, _, rest = capsys.readouterr().out.partition(", ")
    assert re.fullmatch(r"time: \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]", time)
    assert rest == (
        "batch: [1], Epoch 0 Var x[6]:[1.5 -2 0.000123457 1 100000 1.23457e+06], half[4]:[0.5 0.5 0.5 0.5], "
        "id[1]:[7], more[6]:[1 0 0 0 1 1], far[6]:[-inf -inf -inf -inf -inf -inf]\n"
    )


def test_a_pass_behind_release_memory_is_on_no_batch_and_is_said(files: list[str]) -> None:
    used, loss = network()
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    held = dataset(used, files, "InMemoryDataset")
    held.release_memory()
    before = weights()
    with pytest.warns(UserWarning, match="holds nothing after release_memory") as said:
        exe.train_from_dataset(dataset=held, thread=2)
    assert [one.filename for one in said if one.category is UserWarning] == [__file__]
    np.testing.assert_array_equal(weights(), before)
    held.load_into_memory()
    exe.train_from_dataset(dataset=held)
    assert (weights() != before).all()


def test_what_outlives_a_run_is_counted_once_a_batch(files: list[str]) -> None:
    used, loss = network()
    counter = (
        fluid.default_main_program()
        .global_block()
        .create_var("counter", shape=(1,), dtype="float32", persistable=True)
    )
    fluid.default_main_program().global_block().append_op(
        type="elementwise_add", inputs={"X": [counter], "Y": [one(loss)]}, outputs={"Out": [counter]}
    )
    fluid.optimizer.SGD(learning_rate=0.01).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.global_scope().var("counter").get_tensor().set(np.zeros(1, np.float32))
    exe.train_from_dataset(dataset=dataset(used, files), thread=4)
    assert np.array(fluid.global_scope().find_var("counter").get_tensor()).item() == 32


def one(loss: Any) -> Any:
    block = fluid.default_main_program().global_block()
    made = block.create_var("one", shape=(1,), dtype="float32")
    block.append_op(
        type="scale", inputs={"X": [loss]}, outputs={"Out": [made]}, attrs={"scale": 0.0, "bias": 1.0}
    )
    return made


def test_infer_learns_nothing_and_shows(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    used, loss = network()
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    before = weights()
    exe.infer_from_dataset(
        fluid.default_main_program(), dataset(used, files), fetch_list=[loss], print_period=8
    )
    np.testing.assert_array_equal(weights(), before)
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_handler_sees_values_while_it_goes_on(files: list[str]) -> None:
    used, loss = network()
    seen = []

    class Seen(FetchHandler):
        def handler(self, res_dict: dict[str, Any]) -> None:
            seen.append(res_dict["cost"].item())

    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.train_from_dataset(dataset=dataset(used, files), fetch_handler=Seen({"cost": loss}, period_secs=0))
    assert len(seen) == 32

    class Listed(FetchHandler):
        def handler(self, res_dict: Any) -> None:
            seen.append(res_dict[0].item())

    listed = Listed(fetch_target_names=[loss.name], period_secs=0)
    exe.train_from_dataset(dataset=dataset(used, files[:1]), fetch_handler=listed)
    assert len(seen) == 40


def test_an_error_of_one_thread_ends_all(files: list[str]) -> None:
    used, _ = network()
    Path(files[2]).write_text("3 1 2 3\n")
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(BadLine, match="part-2, line 1: slot y"):
        exe.train_from_dataset(dataset=dataset(used, files), thread=4)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("train-")]
    with pytest.raises(RuntimeError, match="dataset is needed"):
        exe.train_from_dataset()
