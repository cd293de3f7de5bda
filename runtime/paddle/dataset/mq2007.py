"""mq2007: queries, and for each some documents with 46 features and a score, 0, 1 or 2: to learn to rank.

It must never know a model. Guarantee: documents of a query stand in the order of falling scores; a query of
which no document has a score above 0 is left out. (Where the original gives a query's first document only,
as plain text or by itself, this gives all.) The archive is a RAR file, which this does not open: it is
unpacked by hand (``unrar x``) into the folder in which it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

import numpy as np

from paddle.dataset import common

__all__ = [
    *("Query", "QueryList", "fetch", "gen_list", "gen_pair", "gen_plain_txt", "gen_point", "load_from_text"),
    *("query_filter", "test", "train"),
]

URL = (
    "http://www.bigdatalab.ac.cn/benchmark/upload/download_source/"
    "7b6dbbe2-842c-11e4-a536-bcaec51b9163_MQ2007.rar"
)
MD5 = "7be1640ae95c6408dab0ae7207bdc706"
_MODULE, _FEATURES = "MQ2007", 46


@dataclass(frozen=True)
class Query:
    """One document of a query."""

    query_id: int
    relevance_score: int
    feature_vector: list[float]
    description: str = ""

    @classmethod
    def read(cls, line: str) -> Query:
        """From ``SCORE qid:NUMBER 1:FEATURE 2:FEATURE... # description``."""
        content, _, description = line.partition("#")
        score, query, *pairs = content.split()
        features = [float(pair.split(":")[1]) for pair in pairs]
        if len(features) != _FEATURES:
            raise RuntimeError(
                f"a document of MQ2007 has {_FEATURES} features, not {len(features)}: {line!r}"
            )
        return cls(int(query.split(":")[1]), int(score), features, description.strip())

    def __str__(self) -> str:
        return f"{self.relevance_score} {self.query_id} {' '.join(map(str, self.feature_vector))}"


class QueryList(list[Query]):
    """The documents of one query."""

    @property
    def query_id(self) -> int:
        """The query's number, -1 without documents."""
        return self[0].query_id if self else -1


Documents = Sequence[Query]


def gen_plain_txt(documents: Documents) -> Iterator[tuple[int, int, np.ndarray]]:
    """Query, score and features of each document."""
    for each in documents:
        yield each.query_id, each.relevance_score, np.array(each.feature_vector)


def gen_point(documents: Documents) -> Iterator[tuple[int, np.ndarray]]:
    """Score and features of each document."""
    for each in documents:
        yield each.relevance_score, np.array(each.feature_vector)


def gen_pair(documents: Documents) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """[1], and the features of two documents of unlike scores, the better one first."""
    for better, worse in combinations(documents, 2):
        if better.relevance_score > worse.relevance_score:
            yield np.array([1]), np.array(better.feature_vector), np.array(worse.feature_vector)


def gen_list(documents: Documents) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The scores of all documents, (n, 1), and their features, (n, 46)."""
    scores = np.array([[each.relevance_score] for each in documents])
    yield scores, np.array([each.feature_vector for each in documents])


_FORMATS: dict[str, Callable[[Documents], Iterator[Any]]] = {
    "plain_txt": gen_plain_txt,
    "pointwise": gen_point,
    "pairwise": gen_pair,
    "listwise": gen_list,
}


def load_from_text(filepath: str, shuffle: bool = False, fill_missing: int = -1) -> list[QueryList]:
    """All queries of a file of the archive, as they stand there. ``shuffle`` and ``fill_missing`` change
    nothing, as in the original."""
    with _unpacked(filepath).open(encoding="utf-8", errors="replace") as lines:
        read = (Query.read(line) for line in lines)
        return [QueryList(documents) for _, documents in groupby(read, key=lambda each: each.query_id)]


def query_filter(querylists: Iterable[QueryList]) -> list[QueryList]:
    """Those of which a document has a score above 0."""
    return [each for each in querylists if any(document.relevance_score for document in each)]


def _reader(
    filepath: str, format: str = "pairwise", shuffle: bool = False, fill_missing: int = -1
) -> Iterator[Any]:
    """Read a file of the archive in one of four formats: with its file named it is a reader itself."""
    if format not in _FORMATS:
        raise ValueError(f"format is one of {', '.join(_FORMATS)}, not {format!r}")
    for documents in query_filter(load_from_text(filepath, shuffle, fill_missing)):
        yield from _FORMATS[format](sorted(documents, key=lambda each: -each.relevance_score))


train = partial(_reader, filepath="MQ2007/MQ2007/Fold1/train.txt")
test = partial(_reader, filepath="MQ2007/MQ2007/Fold1/test.txt")


def fetch() -> str:
    """Download the archive; it is unpacked by hand."""
    return common.download(URL, _MODULE, MD5)


def _unpacked(filepath: str) -> Path:
    path = Path(common.DATA_HOME, _MODULE, filepath)
    if not path.exists():
        archive = fetch()
        raise RuntimeError(
            f"{path} is not there: unpack {archive} with `unrar x` in its folder, for this release opens no "
            "RAR archives"
        )
    return path
