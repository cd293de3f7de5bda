"""imikolov: the Penn Treebank sentences as word ids, n-grams or sequences.

It must never know where files are kept (that is ``common``). Guarantee: the same archive gives the same
dictionary: by falling count, then by word, with ``<unk>`` last.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from paddle.dataset import common

__all__ = ["DataType", "build_dict", "convert", "fetch", "reader_creator", "test", "train", "word_count"]

URL = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz"
MD5 = "30177ea32e27c525793142b6bf2c8e2d"
_TRAIN = "simple-examples/data/ptb.train.txt"
_TEST = "simple-examples/data/ptb.valid.txt"

WordIds = Mapping[str, int]


class DataType:
    """What a sample is: an n-gram, or a sentence and the same sentence one word further."""

    NGRAM = 1
    SEQ = 2


def build_dict(min_word_freq: int = 50, archive: str | None = None) -> dict[str, int]:
    """Return word -> id for the words that occur more than ``min_word_freq`` times in training and test text.

    ``<s>`` and ``<e>`` count once a sentence; ``<unk>`` is the last id. ``archive``: a file that is there.
    """
    counts: Counter[str] = Counter()
    for sentence in (*_sentences(_TRAIN, archive), *_sentences(_TEST, archive)):
        counts.update(sentence)
        counts.update(("<s>", "<e>"))
    del counts["<unk>"]
    kept = sorted(
        (item for item in counts.items() if item[1] > min_word_freq), key=lambda item: (-item[1], item[0])
    )
    return {word: number for number, word in enumerate([*(word for word, _ in kept), "<unk>"])}


def train(word_idx: WordIds, n: int, data_type: int = DataType.NGRAM) -> Callable[[], Iterator[Any]]:
    """Make a reader of the training text.

    NGRAM yields tuples of ``n`` ids. SEQ yields pairs of lists (source, target); longer ones than ``n`` are
    left out, unless ``n`` is 0 or less.
    """
    return _reader(_TRAIN, word_idx, n, data_type)


def test(word_idx: WordIds, n: int, data_type: int = DataType.NGRAM) -> Callable[[], Iterator[Any]]:
    """Make a reader of the test text; as :func:`train`."""
    return _reader(_TEST, word_idx, n, data_type)


def word_count(f: Iterable[str | bytes], word_freq: dict[Any, int] | None = None) -> dict[Any, int]:
    """Count the words of lines, ``<s>`` and ``<e>`` once a line, beside what ``word_freq`` has counted."""
    counts = Counter() if word_freq is None else word_freq
    for line in f:
        for word in (*line.split(), "<s>", "<e>"):
            counts[word] = counts.get(word, 0) + 1
    return counts


def reader_creator(filename: str, word_idx: WordIds, n: int, data_type: int) -> Callable[[], Iterator[Any]]:
    """Make a reader of a file of the archive; as :func:`train`."""
    return _reader(filename.removeprefix("./"), word_idx, n, data_type)


def fetch() -> None:
    """Download the data set."""
    common.download(URL, "imikolov", MD5)


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 5-grams each into the folder ``path``."""
    word_idx = build_dict()
    common.convert(path, train(word_idx, 5), 1000, "imikolov_train")
    common.convert(path, test(word_idx, 5), 1000, "imikolov_test")


def _sentences(member: str, archive: str | None = None) -> Iterator[list[str]]:
    path = archive or common.download(URL, "imikolov", MD5)
    with tarfile.open(path) as package:
        names = [name for name in package.getnames() if name.removeprefix("./") == member]
        lines = package.extractfile(names[0]) if names else None
        if lines is None:
            raise RuntimeError(f"the archive {path} has no file {member}: is it simple-examples.tgz?")
        for line in lines:
            yield line.decode().split()


def text_of(
    part: str, word_idx: WordIds, n: int, data_type: int, archive: str | None
) -> Callable[[], Iterator[Any]]:
    """Make a reader of ``part`` (train, valid or test) of ``archive``; as :func:`train`."""
    return _reader(f"simple-examples/data/ptb.{part}.txt", word_idx, n, data_type, archive)


def _reader(
    member: str, word_idx: WordIds, n: int, data_type: int, archive: str | None = None
) -> Callable[[], Iterator[Any]]:
    samples = {DataType.NGRAM: _ngrams, DataType.SEQ: _sequences}.get(data_type)
    if samples is None:
        raise ValueError(f"data_type is DataType.NGRAM or DataType.SEQ, not {data_type!r}")
    if samples is _ngrams and n < 1:
        raise ValueError(f"an n-gram has one word or more, not {n}")

    def reader() -> Iterator[Any]:
        for sentence in _sentences(member, archive):
            yield from samples(sentence, word_idx, n)

    return reader


def _ids(words: Iterable[str], word_idx: WordIds) -> list[int]:
    unknown = word_idx["<unk>"]
    return [word_idx.get(word, unknown) for word in words]


def _ngrams(sentence: list[str], word_idx: WordIds, n: int) -> Iterator[tuple[int, ...]]:
    ids = _ids(["<s>", *sentence, "<e>"], word_idx)
    return (tuple(ids[end - n : end]) for end in range(n, len(ids) + 1))


def _sequences(sentence: list[str], word_idx: WordIds, n: int) -> Iterator[tuple[list[int], list[int]]]:
    if n <= 0 or len(sentence) < n:
        ids = _ids(sentence, word_idx)
        yield [word_idx["<s>"], *ids], [*ids, word_idx["<e>"]]
