"""Files of records that programs write, open and read by themselves, as fluid had them up to 1.5."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.errors import BadArgument, BadFile, MissingFile
from paddle.fluid import layers

ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)


def _samples() -> Iterator[Any]:
    for number, row in enumerate(ROWS):
        yield row, list(range(number % 3 + 1))


def _converted(path: Path, size: int = 4, **how: Any) -> int:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [2])
        ids = layers.data("ids", [1], dtype="int64", lod_level=1)
        feeder = fluid.DataFeeder([x, ids], fluid.CPUPlace())
    return fluid.recordio_writer.convert_reader_to_recordio_file(
        str(path), paddle.batch(_samples, size), feeder, **how
    )


def _opened(*paths: Path, **how: Any) -> Any:
    names = [str(path) for path in paths]
    return layers.open_files(names, [(-1, 2), (-1, 1)], [0, 1], ["float32", "int64"], **how)


def _read(exe: Any, fetched: list[Any]) -> list[Any]:
    """What each run of a pass gives."""
    found = []
    with pytest.raises(fluid.core.EOFException):
        while True:
            found.append(exe.run(fetch_list=fetched, return_numpy=False))
    return found


def test_a_program_reads_the_files_that_it_opens_pass_by_pass(tmp_path: Path) -> None:
    assert _converted(tmp_path / "a.recordio", max_num_records=2) == 3
    reader = layers.double_buffer(_opened(tmp_path / "a.recordio"))
    x, ids = layers.read_file(reader)
    total = layers.reduce_sum(layers.fc(x, 1, param_attr=fluid.initializer.Constant(1.0), bias_attr=False))
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for _ in range(2):  # nobody starts it, and a pass begins behind the end of another
        found = _read(exe, [x, ids, total])
        np.testing.assert_array_equal(np.concatenate([np.asarray(run[0]) for run in found]), ROWS)
        assert [run[1].recursive_sequence_lengths() for run in found] == [
            [[1, 2, 3, 1]],
            [[2, 3, 1, 2]],
            [[3, 1]],
        ]
        np.testing.assert_allclose(sum(np.asarray(run[2]).item() for run in found), ROWS.sum())
    exe.run(fetch_list=[total])
    reader.reset()
    assert len(_read(exe, [total])) == 3


def test_a_reader_of_files_is_kept_by_the_program_that_reads_it(tmp_path: Path) -> None:
    _converted(tmp_path / "a.recordio", 10)

    def network() -> Any:
        return layers.reduce_sum(layers.read_file(_opened(tmp_path / "a.recordio", pass_num=3))[0])

    total = network()
    found = _read(fluid.Executor(), [total])
    assert [np.asarray(run[0]).item() for run in found] == [ROWS.sum()] * 3


def test_items_are_shuffled_and_put_together(tmp_path: Path) -> None:
    _converted(tmp_path / "a.recordio", 1)
    random.seed(3)
    shuffled = layers.shuffle(_opened(tmp_path / "a.recordio"), buffer_size=10)
    x, ids = layers.read_file(layers.batch(shuffled, batch_size=4))
    first, second = _read(fluid.Executor(), [x, ids])  # two are left, and dropped
    rows = np.concatenate([np.asarray(first[0]), np.asarray(second[0])])
    assert first[0].shape() == [4, 2] and len({tuple(row) for row in rows}) == 8
    assert rows.tolist() != ROWS[:8].tolist()
    lengths = [int(row[0]) // 2 % 3 + 1 for row in np.asarray(first[0])]
    assert first[1].recursive_sequence_lengths() == [lengths]
    with pytest.raises(BadArgument, match=r"fluid\.layers\.batch takes what open_files gave"):
        layers.batch(_samples, 2)


def test_random_numbers_need_no_file() -> None:
    reader = layers.random_data_generator(2.0, 3.0, [[4, 2], [4, 1]], [0, 0])
    x, y = layers.read_file(reader)
    found, other = fluid.Executor().run(fetch_list=[x, y])
    assert found.shape == (4, 2) and other.dtype == np.float32 and 2 <= found.min() <= found.max() <= 3


def test_several_files_are_written_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    x = layers.data("x", [2])
    feeder = fluid.DataFeeder([x], fluid.CPUPlace())
    rows = [[(row,)] for row in ROWS]
    written = fluid.recordio_writer.convert_reader_to_recordio_files(
        str(tmp_path / "a.recordio"), 4, lambda: rows, feeder
    )
    files = sorted(tmp_path.iterdir())
    assert written == 10 and [file.name for file in files] == [
        f"a-0000{number}.recordio" for number in range(3)
    ]
    read = layers.read_file(layers.open_recordio_file(str(files[2]), [(-1, 2)], [0], ["float32"]))
    assert [np.asarray(run[0]).tolist() for run in _read(fluid.Executor(), [read])] == ROWS[8:, None].tolist()
    files[2].write_bytes(files[2].read_bytes()[:-1])
    with pytest.raises(BadFile, match=r"a-00002\.recordio: ends inside"):
        fluid.Executor().run(fetch_list=[read])
    files[2].unlink()
    other = layers.read_file(layers.open_recordio_file(str(files[2]), [(-1, 2)], [0], ["float32"]))
    program = fluid.default_main_program().clone()
    with pytest.raises(MissingFile, match=r"there is no .*a-00002\.recordio"):
        fluid.Executor().run(program, feed={read.name: ROWS}, fetch_list=[other])


def test_a_writer_ends_its_records(tmp_path: Path) -> None:
    writer = fluid.core.RecordIOWriter(
        str(tmp_path / "a"), fluid.core.RecordIOWriter.Compressor.NoCompress, 1000
    )
    writer.append_tensor(ROWS)
    with pytest.raises(BadArgument, match="a record was begun"):
        writer.close()
    writer.complete_append_tensor()
    writer.close()
    header = np.frombuffer((tmp_path / "a").read_bytes()[:8], "<u4").tolist()
    assert header == [0x01020304, 1]  # the layout of fluid: the number of records comes first
