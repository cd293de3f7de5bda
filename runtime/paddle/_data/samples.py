"""Datasets of samples: by number, or one after another. What ``paddle.io`` calls Dataset and IterableDataset.

It must never know who reads them. Guarantee: a dataset made of others has their very samples.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

__all__ = [
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


_NUMBERS = set("biufc")


class NoLength(RuntimeError, TypeError):
    """What iterates asks for a length, and goes on without one at a TypeError; upstream's is a
    RuntimeError."""


class Dataset:
    """Derive, and write ``__getitem__(index)``, one sample, and ``__len__()``."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks __getitem__(index), which gives a sample")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} lacks __len__(), the number of its samples")


class IterableDataset(Dataset):
    """Derive, and write ``__iter__()``. With several workers each iterates: see ``get_worker_info``."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} lacks __iter__(), which gives its samples")

    def __getitem__(self, index: int) -> Any:
        raise RuntimeError("an IterableDataset has no samples by number: iterate it")

    def __len__(self) -> int:
        raise NoLength("an IterableDataset has no length")


class TensorDataset(Dataset):
    """Sample i is row i of each of ``tensors``."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        self.tensors = [np.asarray(tensor) for tensor in tensors]
        if len({len(tensor) for tensor in self.tensors}) > 1:
            raise ValueError(
                f"the tensors of a TensorDataset have {[len(t) for t in self.tensors]} rows, not as many each"
            )

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])


def together(dataset: TensorDataset, numbers: Sequence[int]) -> list[np.ndarray] | None:
    """What ``default_collate_fn`` makes of the samples that have these numbers, taken at once. None where
    they are to be taken one by one: tensors do not hold numbers, or these are no list of integers."""
    rows = np.asarray(numbers)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or {t.dtype.kind for t in dataset.tensors} - _NUMBERS:
        return None
    natives = [tensor.dtype.newbyteorder("=") for tensor in dataset.tensors]
    return [np.asarray(t[rows], kind) for t, kind in zip(dataset.tensors, natives, strict=True)]


class ComposeDataset(Dataset):
    """Sample i is the fields of sample i of each of ``datasets``."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or len({len(dataset) for dataset in self.datasets}) > 1:
            raise ValueError("a ComposeDataset is made of datasets, one or more, of one length")

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[index]
            fields += sample if isinstance(sample, list | tuple) else [sample]
        return tuple(fields)

    def __len__(self) -> int:
        return len(self.datasets[0])


class ChainDataset(IterableDataset):
    """The samples of ``datasets``, one after another."""

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset):
    """The samples of ``datasets``, numbered on."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = list(datasets)
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> Any:
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"there is no sample {index}: the dataset has {len(self)}")
        place = bisect.bisect_right(self.cumulative_sizes, number)
        return self.datasets[place][number - (self.cumulative_sizes[place - 1] if place else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1] if self.cumulative_sizes else 0


class Subset(Dataset):
    """The samples of ``dataset`` that have these numbers."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[int], generator: Any = None) -> list[Subset]:
    """Datasets of these lengths, whose samples chance picked (``numpy.random``), each once."""
    if sum(lengths) != len(dataset):
        raise ValueError(
            f"the lengths {list(lengths)} add up to {sum(lengths)}; the dataset has {len(dataset)}"
        )
    order = np.random.permutation(len(dataset)).tolist()
    ends = list(accumulate(lengths))
    return [Subset(dataset, order[end - many : end]) for end, many in zip(ends, lengths, strict=True)]
