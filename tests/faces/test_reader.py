"""Readers and their decorators."""

import gzip
import multiprocessing
import os
import random
import signal
import sys
import threading

import numpy as np
import pytest

from paddle import reader
from paddle.batch import batch
from tests.waiting import PATIENCE_S


def counting(n):
    return lambda: iter(range(n))


def failing(n):
    def read():
        yield from range(n)
        raise OSError("the disk is gone")

    return read


def test_batches_hold_every_sample_once_and_the_last_is_shorter():
    assert list(batch(counting(5), 2)()) == [[0, 1], [2, 3], [4]]
    assert list(batch(counting(4), 2)()) == [[0, 1], [2, 3]]
    assert list(batch(counting(5), 2, drop_last=True)()) == [[0, 1], [2, 3]]


def test_a_batched_reader_starts_again_when_called_again():
    batched = batch(counting(3), 3)
    assert list(batched()) == list(batched()) == [[0, 1, 2]]


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ValueError, match="batch_size must be 1 or more"):
        batch(counting(3), 0)


def test_shuffling_less_than_nothing_is_refused():
    with pytest.raises(ValueError, match="buf_size must be 0 or more, it is -1"):
        reader.shuffle(counting(3), -1)


@pytest.mark.parametrize("size", [0, 1])
def test_samples_stay_in_order_where_none_waits_for_another(size):
    assert list(reader.shuffle(counting(10), size)()) == list(range(10))


def test_map_readers_passes_one_sample_of_each():
    assert list(reader.map_readers(lambda a, b: a * b, counting(4), counting(4))()) == [0, 1, 4, 9]


def test_chain_reads_one_after_the_other():
    assert list(reader.chain(counting(2), counting(3))()) == [0, 1, 0, 1, 2]


def test_compose_joins_tuples_and_values():
    pairs = lambda: iter([(1, 2), (3, 4)])  # noqa: E731
    assert list(reader.compose(pairs, counting(2), pairs)()) == [(1, 2, 0, 1, 2), (3, 4, 1, 3, 4)]


def test_compose_of_unequal_lengths_raises_unless_told_not_to():
    with pytest.raises(reader.ComposeNotAligned, match="after 2 samples"):
        list(reader.compose(counting(2), counting(3))())
    assert list(reader.compose(counting(2), counting(3), check_alignment=False)()) == [(0, 0), (1, 1)]


def test_compose_takes_none_for_a_sample():
    nones = lambda: iter([None, None])  # noqa: E731
    assert list(reader.compose(nones, counting(2))()) == [(None, 0), (None, 1)]


def test_shuffle_keeps_every_sample_and_mixes_only_within_its_buffer():
    random.seed(3)
    shuffled = list(reader.shuffle(counting(10), 4)())
    assert sorted(shuffled[:4]) == [0, 1, 2, 3] and sorted(shuffled) == list(range(10))
    assert shuffled != list(range(10))


def test_firstn_reads_no_further_than_n():
    assert list(reader.firstn(failing(3), 3)()) == [0, 1, 2]


def test_buffered_keeps_order_and_reads_again():
    buffered = reader.buffered(counting(100), 7)
    assert list(buffered()) == list(buffered()) == list(range(100))


def test_an_error_in_a_buffered_reader_reaches_who_iterates():
    samples = reader.buffered(failing(2), 5)()
    assert next(samples) == 0 and next(samples) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(samples)


def test_a_buffered_reader_that_is_left_early_ends_its_thread():
    before = set(threading.enumerate())
    samples = reader.buffered(counting(10**9), 2)()
    assert next(samples) == 0
    (thread,) = set(threading.enumerate()) - before
    samples.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("order", [True, False])
def test_xmap_readers_maps_every_sample(order):
    mapped = reader.xmap_readers(lambda x: x * x, counting(50), process_num=3, buffer_size=5, order=order)
    assert list(mapped()) == [x * x for x in range(50)]


def test_an_error_in_a_mapper_reaches_who_iterates():
    with pytest.raises(ZeroDivisionError):
        list(reader.xmap_readers(lambda x: 1 // (x - 7), counting(50), 3, 5)())


def test_xmap_readers_gives_what_came_before_an_error_first():
    mapped = reader.xmap_readers(lambda x: x * x, failing(3), process_num=2, buffer_size=9)()
    assert [next(mapped) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(OSError, match="the disk is gone"):
        next(mapped)


def test_xmap_readers_reads_in_a_thread_and_leaves_none_behind():
    def reading():
        for number in range(100):
            threads.add(threading.current_thread())
            yield number

    before, threads = set(threading.enumerate()), set()
    mapped = reader.xmap_readers(lambda x: -x, reading, 2, 5)()
    assert next(mapped) == 0 and threading.current_thread() not in threads
    mapped.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_cache_reads_once_and_anew_where_it_failed():
    calls = []

    def counted():
        calls.append(len(calls))
        return failing(2)() if len(calls) == 1 else iter(range(3))

    cached = reader.cache(counted)
    assert calls == []
    with pytest.raises(OSError, match="the disk is gone"):
        next(cached())
    assert list(cached()) == list(cached()) == [0, 1, 2] and len(calls) == 2


def test_multiprocess_reader_gives_all_samples_of_all_readers_each_in_its_order():
    readers = [lambda i=i: iter([(i, n) for n in range(50)]) for i in range(3)]
    joined = reader.multiprocess_reader(readers)
    for samples in (list(joined()), list(joined())):
        assert sorted(samples) == [(i, n) for i in range(3) for n in range(50)]
        assert all([n for i, n in samples if i == which] == list(range(50)) for which in range(3))
    assert multiprocessing.active_children() == []


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


@pytest.mark.parametrize(
    ("fail", "error", "text"),
    [
        (failing(2), OSError, "the disk is gone"),
        (lambda: raising(Unsendable("a", "b")), RuntimeError, "raised Unsendable: ab"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), RuntimeError, "in the middle of .* exit code -9"),
        (lambda: iter([lambda: None]), Exception, "pickle"),
    ],
)
def test_what_goes_wrong_in_a_process_that_reads_reaches_who_iterates(fail, error, text):
    joined = reader.multiprocess_reader([counting(10), fail])
    with pytest.raises(error, match=text):
        list(joined())
    assert multiprocessing.active_children() == []


def raising(error):
    raise error


def test_processes_that_read_end_when_nobody_iterates_any_more():
    samples = reader.multiprocess_reader([counting(10**9)] * 2, use_pipe=False, queue_size=10)()
    assert next(samples) == 0 and len(multiprocessing.active_children()) == 2
    samples.close()
    assert multiprocessing.active_children() == []
    with pytest.raises(ValueError, match="needs one reader or more"):
        reader.multiprocess_reader([])


def test_np_array_yields_rows_elements_or_the_value():
    assert [row.tolist() for row in reader.creator.np_array(np.eye(2))()] == [[1, 0], [0, 1]]
    assert list(reader.creator.np_array(np.arange(3))()) == [0, 1, 2]
    assert list(reader.creator.np_array(np.array(5))()) == [5]


def test_text_file_yields_lines_without_their_ends(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo \n\nlast")
    assert list(reader.creator.text_file(str(path))()) == ["one", "two ", "", "last"]


@pytest.mark.parametrize("kind", ["plain", "gzip"])
def test_pipe_reader_cuts_lines_wherever_the_buffers_end(tmp_path, kind):
    text = "première ligne\nsecond\n" + "x" * 50 + "\nno end"
    path = tmp_path / "data"
    path.write_bytes(gzip.compress(text.encode()) if kind == "gzip" else text.encode())
    pipe = reader.PipeReader(f"cat {path}", bufsize=5, file_type=kind)
    assert list(pipe.get_line()) == text.split("\n")


def test_pipe_reader_yields_raw_buffers_when_lines_are_not_wanted(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(256)))
    pipe = reader.PipeReader(f"cat {path}", bufsize=100)
    assert b"".join(pipe.get_line(cut_lines=False)) == bytes(range(256))
    samples = reader.pipe_reader(f"cat {path}", parser=list, bufsize=100, cut_lines=False)
    assert [list(samples()) for _ in range(2)] == [list(range(256))] * 2


def test_samples_are_parsed_out_of_lines_as_in_0_11(tmp_path):
    path = tmp_path / "data"
    path.write_text("1 2\n3 4\n5 6")
    samples = reader.pipe_reader(f"cat {path}", lambda lines: [list(map(int, one.split())) for one in lines])
    assert list(samples()) == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(TypeError, match="takes a function of lines"):
        reader.pipe_reader(f"cat {path}", "int")


def test_a_command_whose_output_is_no_text_is_ended():
    pipe = reader.PipeReader("yes \udcff")
    with pytest.raises(UnicodeDecodeError):
        list(pipe.get_line())
    assert pipe._process.poll() is not None


def test_a_failing_command_raises_and_a_left_one_is_ended():
    with pytest.raises(RuntimeError, match=r"status 3: .*exit"):
        list(reader.PipeReader(f"{sys.executable} -c exit(3)").get_line())
    endless = reader.PipeReader("yes")
    lines = endless.get_line()
    assert next(lines) == "y"
    lines.close()
    assert endless._process.poll() is not None
