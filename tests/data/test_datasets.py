"""Datasets hold, shuffle and hand out the samples of their files, each once."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from paddle._absent import NotInThisRelease
from paddle._complaint import Complaint
from paddle._data.command import CommandFailed
from paddle._data.dataset import DatasetBase, InMemoryDataset, QueueDataset
from paddle._data.lines import BadLine, Lines
from paddle._data.records import joined
from paddle._data.setters import DatasetFactory
from paddle._data.settings import BadSetting
from paddle._data.slot import Slot
from paddle._data.spreading import spread
from tests.waiting import PATIENCE_S

from .variables import ALL, DENSE, LABEL, WORDS

SAMPLES = 10


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three files of ten samples; a sample's number is its word, its dense values and its label."""
    names = []
    for file in range(3):
        rows = [
            f"{1 + number % 3}{f' {number}' * (1 + number % 3)} 2 {number} {number}.5 1 {number}\n"
            for number in range(file * SAMPLES, (file + 1) * SAMPLES)
        ]
        names.append(str(tmp_path / f"part-{file}"))
        Path(names[-1]).write_text("".join(rows))
    return names


def made(kind: type[DatasetBase], files: list[str], **settings: object) -> DatasetBase:
    dataset = kind()
    dataset.init(**{"batch_size": 4, "thread_num": 2, "use_var": ALL} | settings)  # type: ignore[arg-type]
    dataset.set_filelist(files)
    return dataset


def flat(batches: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(batches))


def labels(dataset: DatasetBase, threads: int = 1) -> list[list[int]]:
    """Of each batch, stream by stream; every sample is looked at as a whole."""
    found = []
    for stream in dataset.streams(threads):
        for batch in stream:
            words, dense, label = batch.columns
            numbers = label.dense(batch.slots[2])[:, 0]
            assert dense.dense(batch.slots[1]).tolist() == [[n, n + 0.5] for n in numbers]
            assert np.diff(words.offsets).tolist() == [1 + n % 3 for n in numbers]
            assert (words.values == np.repeat(numbers, 1 + numbers % 3)).all()
            found.append(numbers.tolist())
    return found


def test_a_queue_gives_batches_in_the_order_of_its_files(files: list[str]) -> None:
    found = labels(made(QueueDataset, files))
    assert flat(found) == list(range(30))
    assert [len(batch) for batch in found] == [4] * 7 + [2]


def test_threads_share_the_files_of_a_queue(files: list[str]) -> None:
    dataset = made(
        QueueDataset, files, pipe_command="python -c 'import sys; sys.stdout.write(sys.stdin.read())'"
    )
    found: list[list[int]] = []

    def read(stream: object) -> None:
        found.extend(batch.columns[2].values.tolist() for batch in stream)  # type: ignore[attr-defined]

    threads = [threading.Thread(target=read, args=(stream,)) for stream in dataset.streams(8)]
    assert len(threads) == 3
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(flat(found)) == Counter(range(30))


def test_what_is_held_is_shuffled_as_numpy_was_seeded(files: list[str]) -> None:
    dataset = made(InMemoryDataset, files)
    assert isinstance(dataset, InMemoryDataset)
    dataset.load_into_memory()
    assert flat(labels(dataset)) == list(range(30))
    assert dataset.get_memory_data_size() == 30
    orders = []
    for _ in range(2):
        np.random.seed(3)
        dataset.load_into_memory()
        dataset.local_shuffle()
        orders.append(flat(labels(dataset, threads=3)))
    assert orders[0] == orders[1] != list(range(30))
    assert sorted(orders[0]) == list(range(30))
    dataset.release_memory()
    with pytest.warns(UserWarning, match="holds nothing after release_memory"):
        assert flat(labels(dataset)) == []
    with pytest.raises(RuntimeError, match="before load_into_memory"):
        made(InMemoryDataset, files).streams(1)


def test_nobody_trains_on_nothing_who_loads_again_and_does_not_wait(files: list[str]) -> None:
    dataset = made(InMemoryDataset, files)
    assert isinstance(dataset, InMemoryDataset)
    dataset.release_memory()
    dataset.preload_into_memory()
    with pytest.raises(RuntimeError, match="before load_into_memory"):
        dataset.streams(1)
    dataset.wait_preload_done()
    assert flat(labels(dataset)) == list(range(30))


def test_samples_are_loaded_while_the_program_goes_on(files: list[str]) -> None:
    dataset = made(InMemoryDataset, files)
    assert isinstance(dataset, InMemoryDataset)
    dataset.preload_into_memory()
    dataset.wait_preload_done()
    dataset.global_shuffle()
    assert dataset.get_shuffle_data_size() == 30
    assert sorted(flat(labels(dataset))) == list(range(30))
    dataset.set_filelist([*files, "nowhere"])
    dataset.preload_into_memory()
    with pytest.raises(FileNotFoundError):
        dataset.wait_preload_done()


def test_a_slot_alone_is_shuffled_to_see_what_it_is_worth(files: list[str]) -> None:
    dataset = DatasetFactory().create_dataset("InMemoryDataset")
    dataset.set_use_var(ALL)
    dataset.set_filelist(files)
    dataset.load_into_memory()
    with pytest.raises(RuntimeError, match="set_fea_eval"):
        dataset.slots_shuffle(["words"])
    dataset._init_distributed_settings(fea_eval=True, candidate_size=10000)
    with pytest.raises(ValueError, match="no slot wrods; there are dense, label, words"):
        dataset.slots_shuffle(["wrods"])
    dataset.slots_shuffle(["words"])
    dataset.set_batch_size(100)
    (batch,) = dataset.streams(1)[0]
    assert batch.columns[2].values.tolist() == list(range(30))
    assert batch.columns[0].values.tolist() != np.repeat(range(30), [1 + n % 3 for n in range(30)]).tolist()
    assert Counter(batch.columns[0].values.tolist()) == {n: 1 + n % 3 for n in range(30)}


class Worker:
    """One of two workers, whose talk a test carries: both speak in turns of one thread each."""

    said: ClassVar[dict[int, list[bytes]]] = {}
    met = threading.Barrier(2)

    def __init__(self, index: int) -> None:
        self.index, self.util = index, self

    def worker_index(self) -> int:
        return self.index

    def worker_num(self) -> int:
        return 2

    def all_to_all(self, parts: list[bytes], comm_world: str) -> list[bytes]:
        self.said[self.index] = parts
        self.met.wait(PATIENCE_S)
        heard = [self.said[other][self.index] for other in range(2)]
        self.met.wait(PATIENCE_S)
        return heard


@pytest.mark.filterwarnings("ignore:set_filelist")
@pytest.mark.parametrize("first", [2, 4])
def test_workers_give_each_other_their_samples_so_that_each_has_as_many(files: list[str], first: int) -> None:
    held: dict[int, list[int]] = {}

    def work(index: int) -> None:
        dataset = made(InMemoryDataset, files[first:] if index else files[:first])
        assert isinstance(dataset, InMemoryDataset)
        dataset.load_into_memory()
        dataset.global_shuffle(Worker(index))
        held[index] = flat(labels(dataset))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held[0] + held[1]) == list(range(30))
    assert [len(held[0]), len(held[1])] == [15, 15]
    assert any(n >= 20 for n in held[0])


def test_texts_go_with_samples_to_a_worker_that_had_no_files() -> None:
    slots = (Slot("n", is_float=False, is_dense=False),)
    given = [Lines(slots, "part-0", labels=1).read(b"1 a 1 5\n1 bc 2 6 7\n1 d 1 8\n"), joined(slots, [])]
    with ThreadPoolExecutor(2) as pool:
        held = list(pool.map(lambda index: spread(given[index], Worker(index)), range(2)))
    assert sorted(map(len, held)) == [1, 2]
    found = {
        text: each.cut(at, at + 1).columns[0].values.tolist()
        for each in held
        for at, text in enumerate(each.text(0))
    }
    assert found == {"a": [5], "bc": [6, 7], "d": [8]}


def test_a_line_with_a_text_ends_where_one_without_does() -> None:
    slots = (Slot("n", is_float=False, is_dense=False),)
    read = Lines(slots, "part-0", labels=1).read(b"1 a 2 \r5 6\r\n1 b 1 7")
    assert read.columns[0].values.tolist() == [5, 6, 7]
    assert [read.text(0)[at] for at in range(2)] == ["a", "b"]


def test_fluids_setters_say_the_same(files: list[str], tmp_path: Path) -> None:
    dataset = DatasetFactory().create_dataset()
    dataset.set_batch_size(7)
    dataset.set_thread(2)
    dataset.set_use_var([WORDS, DENSE, LABEL])
    dataset.set_pipe_command("sed p")
    dataset.set_filelist([str(tmp_path / "part-*")])
    assert flat(labels(dataset)) == sorted([*range(30), *range(30)])
    assert 'name: "dense"\n    type: "float"\n    is_dense: true' in dataset.desc()
    for asked in (dataset.local_shuffle, dataset.global_shuffle):
        with pytest.raises(NotImplementedError, match="use InMemoryDataset"):
            asked()
    held = DatasetFactory().create_dataset("InMemoryDataset")
    held.set_feed_type("MultiSlotInMemoryDataFeed")
    assert not hasattr(held, "set_parse_logkey")
    with pytest.raises(NotInThisRelease, match="use_var alone, and no page views"):
        held.set_merge_by_sid(True)
    with pytest.raises(AttributeError, match="a dataset has no 'set_batchsize'"):
        held.set_batchsize(1)
    with pytest.raises(ValueError, match="datafeed class Dataset does not exist; there are QueueDataset"):
        DatasetFactory().create_dataset("Dataset")


def test_what_cannot_be_is_said_where_it_is_told(files: list[str], caplog: pytest.LogCaptureFixture) -> None:
    for wrong in ({"batch_size": 0}, {"download_cmd": "x"}):
        with pytest.raises((ValueError, NotInThisRelease)):
            made(QueueDataset, files, **wrong)
    made(QueueDataset, files, bathc_size=1)
    assert [text for text in caplog.messages if "setting" in text] == [
        "QueueDataset knows no setting bathc_size: it is left out"
    ]
    held = made(QueueDataset, files, fs_name="afs://x", fs_ugi="a,b")  # nothing to files of this machine
    with pytest.raises(NotInThisRelease, match="'afs://x/part-0' is elsewhere"):
        held.set_filelist(["afs://x/part-0"])
    with pytest.raises(BadSetting, match="use_var"):
        made(QueueDataset, files, use_var=[]).streams(1)
    with pytest.raises(TypeError):
        made(QueueDataset, "part-0")  # type: ignore[arg-type]


@pytest.mark.parametrize("of", [InMemoryDataset, QueueDataset])
def test_a_worker_that_got_no_file_is_told_so_and_trains_nothing(of: type[DatasetBase]) -> None:
    """As 1.8.5 has it. One that has not said what to read has forgotten it."""
    with pytest.warns(
        UserWarning, match=r"no file, so .* trains nothing .*get_file_shard.* more workers than files"
    ):
        dataset = made(of, [])
    if isinstance(dataset, InMemoryDataset):
        dataset.load_into_memory()
        dataset.local_shuffle()
        assert dataset.get_memory_data_size() == 0
    assert labels(dataset, 2) == []
    with pytest.raises(Complaint, match="before set_filelist"):
        forgotten = of()
        forgotten.init(use_var=ALL)
        forgotten.load_into_memory() if isinstance(forgotten, InMemoryDataset) else forgotten.streams(1)


def test_an_error_ends_a_pass_for_all_its_threads(files: list[str]) -> None:
    Path(files[0]).write_text("1 1 2 1 1 1\n")
    streams = made(QueueDataset, files).streams(2)
    with pytest.raises(BadLine, match="part-0, line 1: slot label"):
        next(streams[0])
    assert list(streams[1]) == []
    dataset = made(InMemoryDataset, files[1:], pipe_command="false")
    assert isinstance(dataset, InMemoryDataset)
    with pytest.raises(CommandFailed, match="`false`, ended with status 1"):
        dataset.load_into_memory()


def test_ids_and_contents_of_samples_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "part-0"
    path.write_text("1 a17 1 x;y 1 5 2 5 5.5 1 5\n1 b 1 z 1 7 2 7 7.5 1 7\n")
    dataset = made(InMemoryDataset, [str(path)])
    assert isinstance(dataset, InMemoryDataset)
    dataset._init_distributed_settings(parse_ins_id=True, parse_content=True)
    dataset.load_into_memory()
    dataset.update_settings(batch_size=1)
    assert [batch.columns[2].values.tolist() for batch in dataset.streams(1)[0]] == [[5], [7]]


def test_who_says_that_tables_are_on_no_gpu_is_heard_and_on_one_refused() -> None:
    """Trainers of 2.6 say it of every dataset."""
    dataset = InMemoryDataset()
    dataset._set_use_ps_gpu(False)
    with pytest.raises(NotInThisRelease, match="tables on GPUs"):
        dataset._set_use_ps_gpu(True)
