"""wmt16: captions of pictures in English and in German, to learn to translate from.

It must never know where the archive is kept (that is ``common``). Guarantee: words are numbered by how often
they occur in the part for training, the first to occur before others as frequent, behind ``<s>``, ``<e>`` and
``<unk>``, which are 0, 1 and 2.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from paddle.dataset import common

__all__ = ["convert", "fetch", "get_dict", "test", "train", "validation"]

DATA_URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz"
DATA_MD5 = "0c38be43600334966403524a40dcd81e"

TOTAL_EN_WORDS, TOTAL_DE_WORDS = 11250, 19220
START_MARK, END_MARK, UNK_MARK = "<s>", "<e>", "<unk>"

_MARKS = (START_MARK, END_MARK, UNK_MARK)
_LANGUAGES = {"en": TOTAL_EN_WORDS, "de": TOTAL_DE_WORDS}

Reader = Callable[[], Iterator[tuple[list[int], list[int], list[int]]]]


def train(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """Make a reader of (source, target behind ``<s>``, target and ``<e>``) for training, lists of ids.

    The sizes count the three marks; rarer words are ``<unk>``. ``src_lang`` is "en" or "de", the other one
    is what it is translated to.
    """
    return pairs_of("train", src_dict_size, trg_dict_size, src_lang)


def test(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """Make a reader of the part for test; see :func:`train`."""
    return pairs_of("test", src_dict_size, trg_dict_size, src_lang)


def validation(src_dict_size: int, trg_dict_size: int, src_lang: str = "en") -> Reader:
    """Make a reader of the part for validation; see :func:`train`."""
    return pairs_of("val", src_dict_size, trg_dict_size, src_lang)


def get_dict(lang: str, dict_size: int, reverse: bool = False) -> dict[str, int] | dict[int, str]:
    """Return the ids by word of one language or, with ``reverse``, the words by id."""
    numbers = ids_of(_archive(), lang, dict_size)
    return {number: word for word, number in numbers.items()} if reverse else numbers


def fetch() -> None:
    """Download the data set."""
    _archive()


def convert(path: str, src_dict_size: int, trg_dict_size: int, src_lang: str) -> None:
    """Write the three parts as RecordIO files of 1000 pairs each into the folder ``path``."""
    for part in (train, test, validation):
        reader = part(src_dict_size, trg_dict_size, src_lang)
        common.convert(path, reader, 1000, f"wmt16_{part.__name__}")


def _archive() -> str:
    return common.download(DATA_URL, "wmt16", DATA_MD5)


def _column(language: str) -> int:
    if language not in _LANGUAGES:
        raise ValueError(f'the language is "en" (English) or "de" (German), not {language!r}')
    return list(_LANGUAGES).index(language)


def _pairs(archive: str, part: str) -> Iterator[list[list[str]]]:
    """The words of both languages, line by line."""
    with tarfile.open(archive) as package:
        try:
            lines = package.extractfile(part)
        except KeyError:
            lines = None
        if lines is None:
            raise RuntimeError(f"the archive {archive} has no file {part}: is it wmt16.tar.gz?")
        for line in lines:
            texts = line.decode("utf-8").strip().split("\t")
            if len(texts) == 2:
                yield [text.split() for text in texts]


def _numbers(archive: str, column: int, size: int) -> dict[str, int]:
    counts = Counter(word for pair in _pairs(archive, "wmt16/train") for word in pair[column])
    frequent = (word for word, _ in counts.most_common())
    return {word: number for number, word in enumerate(islice((*_MARKS, *frequent), size))}


def ids_of(archive: str, language: str, size: int) -> dict[str, int]:
    """The ids by word of one language of an archive."""
    return _numbers(archive, _column(language), min(size, _LANGUAGES[language]))


def pairs_of(
    part: str, source_size: int, target_size: int, source_language: str, archive: str | None = None
) -> Reader:
    """Make a reader of "train", "test" or "val" of an archive, the one that is downloaded if None."""
    source, place = _column(source_language), archive or _archive()
    other = [*_LANGUAGES][1 - source]

    def reader() -> Iterator[tuple[list[int], list[int], list[int]]]:
        start, end, unknown = range(len(_MARKS))
        ids = [ids_of(place, source_language, source_size), ids_of(place, other, target_size)]
        for pair in _pairs(place, f"wmt16/{part}"):
            given, wanted = (
                [words.get(word, unknown) for word in text]
                for words, text in zip(ids, (pair[source], pair[1 - source]), strict=True)
            )
            yield [start, *given, end], [start, *wanted], [*wanted, end]

    return reader
