"""paddle.io: datasets, samplers, and the DataLoader that makes batches of them, by processes too."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

from paddle._data.collating import default_collate_fn
from paddle.io import (
    BatchSampler,
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    SequenceSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)
from tests.counting import calls_of


class Squares(Dataset):
    def __init__(self, many: int = 10, bad: int = -1) -> None:
        self.many, self.bad = many, bad

    def __getitem__(self, index: int) -> Any:
        if index == self.bad:
            raise KeyError(f"sample {index}")
        return np.full(2, index, np.float32), index * index

    def __len__(self) -> int:
        return self.many


class Lines(IterableDataset):
    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        yield from range(first, 7, step)


def squares(batches: Any) -> list[list[int]]:
    return [np.asarray(batch[1]).tolist() for batch in batches]


@pytest.mark.parametrize("workers", [0, 3])
def test_batches_come_in_the_order_of_the_sampler(workers: int) -> None:
    loader = DataLoader(Squares(), batch_size=4, num_workers=workers)
    assert len(loader) == 3
    for _ in range(2):
        assert squares(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    assert (
        squares(DataLoader(Squares(), batch_size=4, drop_last=True, num_workers=workers))
        == squares(loader)[:2]
    )
    (fields,) = DataLoader(Squares(3), batch_size=3, num_workers=workers)
    assert fields[0].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert [int(sample[1]) for sample in DataLoader(Squares(3), batch_size=None, num_workers=workers)] == [
        0,
        1,
        4,
    ]


@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_iterated_comes_once(workers: int) -> None:
    loader = DataLoader(Lines(), batch_size=2, num_workers=workers)
    found = [batch[0].tolist() for batch in loader]
    assert sorted(chain.from_iterable(found)) == list(range(7))
    assert found == ([[0, 1], [2, 3], [4, 5], [6]] if not workers else [[0, 2], [1, 3], [4, 6], [5]])
    with pytest.raises(ValueError, match="its own order"):
        DataLoader(Lines(), shuffle=True)


@pytest.mark.parametrize("workers", [0, 2])
def test_what_goes_wrong_comes_out_where_its_batch_was_to_come(workers: int) -> None:
    batches = iter(DataLoader(Squares(bad=5), batch_size=2, num_workers=workers))
    assert squares([next(batches), next(batches)]) == [[0, 1], [4, 9]]
    with pytest.raises(KeyError, match="sample 5"):
        next(batches)


def test_a_worker_that_dies_is_told() -> None:
    loader = DataLoader(
        Squares(),
        num_workers=2,
        worker_init_fn=lambda worker: worker and os.kill(os.getpid(), signal.SIGKILL),
    )
    with pytest.raises(RuntimeError, match=r"worker 1 of a DataLoader .* exit code -9"):
        list(loader)


def test_shuffles_are_as_numpy_was_seeded() -> None:
    orders = []
    for _ in range(2):
        np.random.seed(5)
        orders.append(list(chain.from_iterable(squares(DataLoader(Squares(), shuffle=True, batch_size=3)))))
    assert orders[0] == orders[1] != sorted(orders[0])
    assert sorted(orders[0]) == [n * n for n in range(10)]


def test_samplers() -> None:
    source = Squares(5)
    assert list(SequenceSampler(source)) == [0, 1, 2, 3, 4]
    assert sorted(RandomSampler(source)) == [0, 1, 2, 3, 4]
    assert len(list(RandomSampler(source, replacement=True, num_samples=9))) == 9
    assert list(RandomSampler(source, generator=iter([4, 2]))) == [4, 2]
    assert set(WeightedRandomSampler([0, 1, 0, 1], 20)) == {1, 3}
    assert list(BatchSampler(sampler=[3, 1, 2], batch_size=2)) == [[3, 1], [2]]
    with pytest.raises(ValueError, match="either a dataset or a sampler"):
        BatchSampler()


def test_trainers_have_as_many_batches_each() -> None:
    found = [list(DistributedBatchSampler(Squares(10), 2, num_replicas=3, rank=rank)) for rank in range(3)]
    assert found == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [0, 1]]]
    shuffled = DistributedBatchSampler(Squares(10), 2, num_replicas=1, rank=0, shuffle=True)
    first = list(shuffled)
    shuffled.set_epoch(0)
    assert list(shuffled) == first


@pytest.mark.parametrize(
    "environ",
    [
        {"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS_NUM": "3"},
        {
            "PADDLE_TRAINING_ROLE": "TRAINER",
            "PADDLE_PSERVER_IPS": "127.0.0.1",
            "PADDLE_TRAINERS": "3",
            "PADDLE_TRAINER_ID": "1",
        },
    ],
)
def test_which_trainer_this_is_the_environment_says_in_any_generations_words(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("PADDLE_", "TRAIN"))]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert list(DistributedBatchSampler(Squares(10), 2)) == [[2, 3], [8, 9]]
    monkeypatch.setenv("PADDLE_TRAINER_ID", "one")
    with pytest.raises(ValueError, match="PADDLE_TRAINER_ID"):
        DistributedBatchSampler(Squares(10), 2)


def test_datasets_of_datasets() -> None:
    both = ConcatDataset([Squares(2), Squares(3)])
    assert [both[n][1] for n in range(-1, 5)] == [4, 0, 1, 0, 1, 4]
    assert len(ComposeDataset([Squares(2), Squares(2)])[1]) == 4
    assert list(ChainDataset([Lines(), Lines()])) == [*range(7), *range(7)]
    assert TensorDataset([np.arange(3), np.arange(3) * 2])[2] == (2, 4)
    parts = random_split(Squares(10), [7, 3])
    assert sorted(part[n][1] for part in parts for n in range(len(part))) == [n * n for n in range(10)]
    assert Subset(Squares(), [3])[0][1] == 9
    with pytest.raises(ValueError, match="add up to 9"):
        random_split(Squares(10), [7, 2])


@pytest.mark.parametrize(
    "sample",
    [
        1,
        np.float32(1),
        np.ones(3),
        np.array(1),
        np.ones((2, 3), np.int32),
        "text",
        [1, 2.5],
        (np.ones(3, np.float32), 1),
        ((1, np.ones(2)), [np.ones(3)]),
        {"a": np.ones(3), "b": (1, 2)},
    ],
    ids=str,
)
def test_to_collate_a_sample_more_costs_no_call_more(sample: Any) -> None:
    few, many = (calls_of(lambda rows=rows: default_collate_fn([sample] * rows)) for rows in (16, 512))
    assert few == many


@pytest.mark.parametrize(
    "arrays",
    [
        [np.arange(3), np.arange(3) / 2],
        [np.array(1), np.array(2.5, np.float32)],
        [np.asfortranarray(np.ones((2, 3))), np.zeros((2, 3), np.float32)],
        [np.ones((0, 2)), np.ones((0, 2))],
        [np.array([1, None]), np.array([2, "a"])],
        [np.array("ab"), np.array("c")],
    ],
    ids=str,
)
def test_arrays_are_collated_as_numpy_stacks_them(arrays: list[np.ndarray]) -> None:
    made, expected = default_collate_fn(arrays), np.stack(arrays)
    assert (made.dtype, made.shape, made.tolist()) == (expected.dtype, expected.shape, expected.tolist())
    with pytest.raises(ValueError, match="must have the same shape"):
        default_collate_fn([*arrays, np.ones((7, 7))])


class Known(Dataset):
    """Samples that cost a call each: that of ``__getitem__``."""

    def __init__(self, many: int) -> None:
        self.many, self.sample = many, (np.ones(3), 1)

    def __getitem__(self, index: int) -> Any:
        return self.sample

    def __len__(self) -> int:
        return self.many


class Given(IterableDataset):
    def __init__(self, many: int) -> None:
        self.samples = [(np.ones(3), 1)] * many

    def __iter__(self) -> Iterator[Any]:
        return iter(self.samples)


def tensors(many: int) -> TensorDataset:
    return TensorDataset([np.ones((many, 3)), np.arange(many)])


def drawn(many: int) -> dict[str, Any]:
    sampler = SubsetRandomSampler(list(range(many)))
    return {"batch_sampler": BatchSampler(sampler=sampler, batch_size=many)}


@pytest.mark.parametrize(
    ("dataset", "calls", "shuffle", "sampler"),
    [
        (Known, 1, False, None),
        (Known, 1, True, None),
        (Known, 1, False, drawn),
        (Given, 0, False, None),
        (tensors, 0, False, None),
        (tensors, 0, True, None),
    ],
)
def test_a_loader_calls_for_a_sample_more_what_gives_it(
    dataset: Any, calls: int, shuffle: bool, sampler: Any
) -> None:
    def read(many: int) -> int:
        given = sampler(many) if sampler else {"batch_size": many, "shuffle": shuffle}
        loader = DataLoader(dataset(many), **given)
        return calls_of(lambda: list(loader))

    assert read(512) - read(16) == calls * (512 - 16)


def test_samples_of_tensors_are_collated_alike_taken_together_and_one_by_one() -> None:
    of = [np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(3), np.array([True, False, True])]
    of += [np.arange(3, dtype=">f4"), np.ones((2, 3), ">i4").T]
    for numbers in ([0, 2, 2], (1, -1), np.array([2, 0])):
        whole, singly = (
            next(iter(DataLoader(TensorDataset(of), batch_sampler=[numbers], collate_fn=collate)))
            for collate in (None, lambda batch: default_collate_fn(batch))
        )
        for made, expected in zip(whole, singly, strict=True):
            assert (made.dtype, made.tolist()) == (expected.dtype, expected.tolist())
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        list(DataLoader(TensorDataset(of), batch_sampler=[[0, 3]]))
    texts = TensorDataset([np.array(["a", "b"], object)])
    assert list(DataLoader(texts, batch_size=2)) == [[["a", "b"]]]


def test_batches_may_be_without_an_end() -> None:
    loader = DataLoader(TensorDataset([np.arange(4)]), batch_sampler=([at % 4] for at in itertools.count(2)))
    assert [batch[0].tolist() for batch in itertools.islice(loader, 4)] == [[2], [3], [0], [1]]


def test_a_dataset_derived_from_tensors_gives_its_own_samples() -> None:
    class Doubled(TensorDataset):
        def __getitem__(self, index: int) -> tuple[Any, ...]:
            return tuple(2 * each for each in super().__getitem__(index))

    ((found,),) = DataLoader(Doubled([np.arange(3)]), batch_size=3)
    assert found.tolist() == [0, 2, 4]


@pytest.mark.parametrize("size", [0, -1, 2.0, "2", None])
def test_a_batch_has_a_whole_number_of_samples(size: Any) -> None:
    with pytest.raises(ValueError, match=f"batch_size is an integer, 1 or more, not {size!r}"):
        BatchSampler(Squares(), batch_size=size)
    assert len(list(BatchSampler(Squares(4), batch_size=np.int64(2)))) == 2
