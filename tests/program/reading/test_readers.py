"""Programs read by themselves what a generator gives, pass after pass, until EOFException."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.errors import BadArgument
from paddle._program.reading.data_loader import DataLoader
from paddle._program.reading.end import EOFException
from paddle._program.reading.loader import PyReader
from paddle._program.reading.variables import (
    create_py_reader_by_data,
    double_buffer,
    py_reader,
    read_file,
)
from paddle._program.running.lod_tensor import LoDTensor
from tests.counting import calls_of


def data() -> list[Any]:
    return [fluid.layers.data("x", [2]), fluid.layers.data("y", [1], dtype="int64")]


def numbers(of: int) -> Callable[[], Iterator[Any]]:
    def samples() -> Iterator[Any]:
        for number in range(of):
            yield np.full(2, number), number

    return samples


def runs(loader: Any, fetch: list[Any]) -> list[list[Any]]:
    """What a pass fetches."""
    exe, found = fluid.Executor(), []
    loader.start()
    with pytest.raises(EOFException):
        while True:
            found.append([each.tolist() for each in exe.run(fetch_list=fetch)])
    with pytest.raises(EOFException):
        exe.run(fetch_list=fetch)
    loader.reset()
    return found


def test_the_run_that_finds_no_batch_is_counted_by_schedules() -> None:
    """As PaddlePaddle 1.8.5 does: its counter is moved before the reader is asked."""
    loader = DataLoader.from_generator(data(), capacity=2, iterable=False)
    loader.set_sample_generator(numbers(4), batch_size=2)
    rate = fluid.layers.exponential_decay(0.8, 1, 0.5)
    later = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True)
    fluid.layers.increment(later)
    fluid.Executor().run(fluid.default_startup_program())
    first, second = (runs(loader, [rate, later]) for _ in range(2))
    assert first == [[[pytest.approx(0.8 / 2**step)], [step + 1.0]] for step in (0, 1)]
    # two runs without a batch between the passes; what counts behind the reader has not seen them
    assert second == [[[pytest.approx(0.8 / 2**step)], [step - 1.0]] for step in (4, 5)]


@pytest.mark.parametrize("kind", ["sample", "sample_list", "batch"])
def test_a_pass_is_all_batches_and_then_eof(kind: str) -> None:
    x, y = data()
    loader = DataLoader.from_generator(feed_list=[x, y], capacity=8, iterable=False)
    mean = fluid.layers.mean(x)
    if kind == "sample":
        loader.set_sample_generator(numbers(5), batch_size=2, drop_last=False)
    elif kind == "sample_list":
        loader.set_sample_list_generator(paddle.batch(numbers(5), 2))
    else:
        loader.set_batch_generator(
            lambda: (
                (np.repeat(part, 2).reshape(-1, 2), part.reshape(-1, 1))
                for part in np.split(np.arange(5), [2, 4])
            )
        )
    for _ in range(2):
        found = runs(loader, [mean, y])
        assert [mean for mean, _ in found] == [[0.5], [2.5], [4.0]]
        assert [y for _, y in found] == [[[0], [1]], [[2], [3]], [[4]]]


@pytest.mark.parametrize(
    "samples",
    [[1, 2, 3], [(1,), (2,), (3,)], [[1], [2], [3]], [1, (2,), [3]], list(np.arange(1, 4))],
    ids=str,
)
def test_a_sample_of_one_field_may_come_bare(samples: list[Any]) -> None:
    loader = DataLoader.from_generator(feed_list=[data()[1]], iterable=True)
    loader.set_sample_generator(lambda: iter(samples), batch_size=2, drop_last=False)
    assert [np.array(feed["y"]).tolist() for (feed,) in loader] == [[[1], [2]], [[3]]]
    loader.set_sample_generator(lambda: iter([1, (2, 3)]), batch_size=2)
    with pytest.raises(AssertionError, match="sample 1 has 2 fields"):
        list(loader)


@pytest.mark.parametrize("sample", [(np.ones(2), 1), [np.ones(2), 1]], ids=str)
def test_a_sample_more_of_a_generator_costs_no_call_more(sample: Any) -> None:
    def read(many: int) -> int:
        loader = DataLoader.from_generator(feed_list=data(), iterable=True)
        loader.set_sample_generator(lambda: iter([sample] * many), batch_size=many)
        reader = loader.queue  # which is read by a thread where that is worth it
        return calls_of(lambda: list(map(reader._feeder, reader._batches())))

    assert read(16) == read(512)


def test_a_pass_may_be_left_and_begun_anew() -> None:
    x, y = data()
    loader = DataLoader.from_generator(feed_list=[x, y], capacity=8, iterable=False)
    loader.set_sample_generator(numbers(100), batch_size=1)
    exe = fluid.Executor()
    for _ in range(2):
        loader.start()
        assert [exe.run(fetch_list=[y])[0].item() for _ in range(3)] == [0, 1, 2]
        with pytest.raises(BadArgument, match="was started already"):
            loader.start()
        loader.reset()
    with pytest.raises(BadArgument, match="was not started"):
        exe.run(fetch_list=[y])


def test_an_error_of_the_generator_comes_out_of_the_run_whose_batch_was_to_come() -> None:
    x, y = data()

    def samples() -> Iterator[Any]:
        yield np.zeros(2), 0
        raise KeyError("no such word")

    loader = DataLoader.from_generator(feed_list=[x, y], capacity=8, iterable=False)
    loader.set_sample_generator(samples, batch_size=1)
    exe = fluid.Executor()
    loader.start()
    exe.run(fetch_list=[y])
    with pytest.raises(KeyError, match="no such word") as error:
        exe.run(fetch_list=[y])
    assert error.traceback[-1].name == "samples"
    loader.reset()
    loader.set_batch_generator(lambda: iter([[np.zeros((1, 2))]]))
    loader.start()
    with pytest.raises(ValueError, match="1 arrays, and feed_list has 2 variables: x, y"):
        exe.run(fetch_list=[y])
    loader.reset()


def test_the_next_batch_is_read_while_a_step_is_computed_and_never_beside_the_program() -> None:
    x, y = data()
    computing, seen = threading.Event(), []

    def samples() -> Iterator[Any]:
        for number in range(50):
            seen.append((number, computing.is_set()))
            yield np.zeros(2), number

    loader = DataLoader.from_generator(feed_list=[x, y], capacity=8, iterable=False)
    loader.set_sample_generator(samples, batch_size=1)
    exe = fluid.Executor()
    loader.start()
    for step in range(50):
        exe.run(fetch_list=[y])
        assert len(seen) <= step + 2
    loader.reset()
    assert [number for number, _ in seen] == list(range(50))


def test_what_is_iterated_is_fed() -> None:
    x, y = data()
    loader = PyReader(feed_list=[x, y], capacity=4, iterable=True)
    loader.decorate_sample_list_generator(paddle.batch(numbers(4), 2), places=[None])
    exe = fluid.Executor()
    found = [exe.run(feed=feed, fetch_list=[y])[0].ravel().tolist() for feed in loader()]
    assert found == [[0, 1], [2, 3]]
    several = DataLoader.from_generator(feed_list=[x, y], return_list=True)
    several.set_sample_list_generator(paddle.batch(numbers(5), 1), places=[None, None])
    assert [len(group) for group in several] == [2, 2]
    with pytest.raises(BadArgument, match="iterable=False"):
        several.start()


def test_a_py_reader_has_variables_of_its_own() -> None:
    reader = double_buffer(
        py_reader(capacity=4, shapes=[(-1, 2), (-1, 1)], dtypes=["float32", "int64"], lod_levels=[0, 1])
    )
    dense, words = read_file(reader)
    total = fluid.layers.mean(dense)
    reader.decorate_paddle_reader(
        lambda: iter([[(np.ones(2), [[1], [2]]), (np.ones(2), [[3]])], [(np.zeros(2), [[4]])]])
    )
    exe = fluid.Executor()
    test = fluid.default_main_program().clone(for_test=True)
    reader.start()
    mean, tensor = exe.run(fetch_list=[total, words], return_numpy=False)
    assert isinstance(tensor, LoDTensor)
    assert (np.array(mean).item(), tensor.recursive_sequence_lengths()) == (1.0, [[2, 1]])
    assert exe.run(test, fetch_list=[total])[0].item() == 0.0
    with pytest.raises(EOFException):
        exe.run(fetch_list=[total])
    reader.reset()


def test_a_reader_of_variables_that_there_are_gives_these() -> None:
    x, y = data()
    reader = create_py_reader_by_data(capacity=2, feed_list=[x, y])
    assert read_file(reader) == [x, y]
    reader.decorate_batch_generator(lambda: iter([(np.ones((1, 2)), np.ones((1, 1)))]))
    assert runs(reader, [y]) == [[[[1]]]]
    assert [op.type for op in fluid.default_main_program().global_block().ops] == ["read"]
    with pytest.raises(BadArgument, match="read_file takes"):
        read_file(x)


def test_networks_of_one_name_read_of_readers_of_their_own_in_any_scope() -> None:
    made = []
    for of in (2, 3):
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
            x, y = data()
            loader = DataLoader.from_generator(feed_list=[x, y], capacity=8, iterable=False)
            loader.set_sample_generator(numbers(of), batch_size=1)
            made.append((loader, fluid.default_main_program(), y))
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.executor.Scope()):
        for loader, program, y in made:
            loader.start()
            assert exe.run(program, fetch_list=[y])[0].item() == 0
        for (_, program, y), left in zip(made, (1, 2), strict=True):
            assert [exe.run(program, fetch_list=[y])[0].item() for _ in range(left)] == list(
                range(1, left + 1)
            )
            with pytest.raises(EOFException):
                exe.run(program, fetch_list=[y])
    for loader, _, _ in made:
        loader.reset()


def test_a_queue_says_how_many_batches_wait() -> None:
    x, _ = data()
    mean = fluid.layers.mean(x)
    loader = DataLoader.from_generator([x], capacity=4, iterable=False)
    loader.set_batch_generator(lambda: iter([[np.ones((1, 2), np.float32)]] * 3))
    exe = fluid.Executor()
    assert loader.queue.size() == 0
    loader.start()
    sizes = []
    with pytest.raises(EOFException):
        while True:
            exe.run(fetch_list=[mean])
            sizes.append(loader.queue.size())
    assert len(sizes) == 3 and set(sizes) <= {0, 1} and sizes[-1] == 0
    loader.reset()
    assert loader.queue.size() == 0
    assert py_reader(4, [(-1, 1)], ["float32"]).queue.size() == 0


def test_the_samples_of_a_batch_may_be_zipped() -> None:
    loader = DataLoader.from_generator(data(), iterable=True)
    loader.set_sample_list_generator(lambda: iter([zip(np.ones((2, 2)), [[3], [4]], strict=True)]))
    ((feed,),) = loader()
    assert np.array(feed["y"]).tolist() == [[3], [4]]
