"""conll05: sentences in which each verb has its roles, who does what to whom; the test part, which is free.

It must never know where the files are kept (that is ``common``). Guarantee: a sample is one verb of a
sentence; labels are numbered in the order of the alphabet, B and I of a role beside each other, O last.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from paddle.dataset import common

__all__ = [
    "convert",
    "corpus_reader",
    "fetch",
    "get_dict",
    "get_embedding",
    "load_dict",
    "load_label_dict",
    "reader_creator",
    "test",
]

DATA_URL = "http://www.cs.upc.edu/~srlconll/conll05st-tests.tar.gz"
DATA_MD5 = "387719152ae52d60422c016e92a742fc"
_MODELS = "http://paddlemodels.bj.bcebos.com/conll05st%2F"
WORDDICT_URL, WORDDICT_MD5 = f"{_MODELS}wordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"
VERBDICT_URL, VERBDICT_MD5 = f"{_MODELS}verbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"
TRGDICT_URL, TRGDICT_MD5 = f"{_MODELS}targetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"
DICTIONARIES = (
    (WORDDICT_URL, WORDDICT_MD5),
    (VERBDICT_URL, VERBDICT_MD5),
    (TRGDICT_URL, TRGDICT_MD5),
)
EMB_URL, EMB_MD5 = f"{_MODELS}emb", "bf436eb0faa1f6f9103017f8be57cdb7"

UNK_IDX = 0
"""The id of a word that the dictionary does not have."""

_WORDS = "conll05st-release/test.wsj/words/test.wsj.words.gz"
_PROPS = "conll05st-release/test.wsj/props/test.wsj.props.gz"
_NEAR = (-2, -1, 0, 1, 2)  # places of the words around the verb

Sample = tuple[list[int], ...]
Sentence = tuple[list[str], str, list[str]]
Dictionaries = tuple[dict[str, int], dict[str, int], dict[str, int]]


def get_dict() -> Dictionaries:
    """Return the ids of words, verbs and labels."""
    return dictionaries_of(*(common.download(url, "conll05st", md5) for url, md5 in DICTIONARIES))


def dictionaries_of(words: str, verbs: str, labels: str) -> Dictionaries:
    """The ids of words, verbs and labels that three files list."""
    return load_dict(words), load_dict(verbs), load_label_dict(labels)


def get_embedding() -> str:
    """Return the path of a table of vectors, one for each word, learned on Wikipedia."""
    return common.download(EMB_URL, "conll05st", EMB_MD5)


def test() -> Callable[[], Iterator[Sample]]:
    """Make a reader of nine lists, a number for each word of a sentence.

    Words; five times the same word over and over, from two before the verb to two after it; the verb; whether
    a word is one of these five; labels.
    """
    return samples_of(common.download(DATA_URL, "conll05st", DATA_MD5), get_dict())


def samples_of(archive: str, dictionaries: Dictionaries) -> Callable[[], Iterator[Sample]]:
    """The same of an archive that is there already."""

    return reader_creator(corpus_reader(archive, _WORDS, _PROPS), *dictionaries)


def reader_creator(
    corpus_reader: Callable[[], Iterator[Sentence]],
    word_dict: dict[str, int],
    predicate_dict: dict[str, int],
    label_dict: dict[str, int],
) -> Callable[[], Iterator[Sample]]:
    """Make a reader of nine lists, as :func:`test`, of sentences, a verb of each, and labels."""

    def reader() -> Iterator[Sample]:
        for words, verb, labels in corpus_reader():
            yield _sample(words, verb, labels, (word_dict, predicate_dict, label_dict))

    return reader


def corpus_reader(data_path: str, words_name: str, props_name: str) -> Callable[[], Iterator[Sentence]]:
    """Make a reader of sentences, one of their verbs, and the labels that words have for it: of two files of
    an archive, of words and of brackets."""
    return lambda: _corpus(data_path, words_name, props_name)


def fetch() -> None:
    """Download the data set."""
    get_dict()
    get_embedding()
    common.download(DATA_URL, "conll05st", DATA_MD5)


def convert(path: str) -> None:
    """Write the one part, twice, as RecordIO files of 1000 samples each into the folder ``path``."""
    common.convert(path, test(), 1000, "conl105_train")
    common.convert(path, test(), 1000, "conl105_test")


def load_dict(filename: str) -> dict[str, int]:
    """The lines of a file, and their numbers."""
    with Path(filename).open(encoding="utf-8") as lines:
        return {line.strip(): number for number, line in enumerate(lines)}


def load_label_dict(filename: str) -> dict[str, int]:
    """The labels of a file, numbered as the module's text says."""
    roles = sorted({label[2:] for label in load_dict(filename) if label.startswith(("B-", "I-"))})
    labels = [f"{part}-{role}" for role in roles for part in "BI"]
    return {label: number for number, label in enumerate([*labels, "O"])}


def _corpus(archive: str, words_name: str, props_name: str) -> Iterator[Sentence]:
    """A sentence, one of its verbs, and the labels that its words have for this verb."""
    with tarfile.open(archive) as package:
        words, props = (gzip.GzipFile(fileobj=_member(package, name)) for name in (words_name, props_name))
        sentence: list[str] = []
        rows: list[list[str]] = []
        for word, columns in zip(words, props, strict=False):
            if columns.split():
                sentence.append(word.decode().strip())
                rows.append(columns.decode().split())
                continue
            yield from _verbs(sentence, rows)
            sentence, rows = [], []
        yield from _verbs(sentence, rows)


def _member(package: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        found = package.extractfile(name)
    except KeyError:
        found = None
    if found is None:
        raise RuntimeError(f"the archive {package.name} has no file {name}: is it conll05st-tests.tar.gz?")
    return found


def _verbs(sentence: list[str], rows: Sequence[Sequence[str]]) -> Iterator[Sentence]:
    """Rows have a verb or - in column 0, and brackets around the roles of each verb in those behind it."""
    if not rows:
        return
    verbs = [row[0] for row in rows if row[0] != "-"]
    for verb, brackets in zip(verbs, list(zip(*rows, strict=True))[1:], strict=False):
        yield sentence, verb, list(_opened(brackets))


def _opened(brackets: Sequence[str]) -> Iterator[str]:
    """Labels in place of brackets: ``(A0*`` opens one, ``*`` goes on in it or is outside, ``*)`` ends it."""
    role, is_open = "O", False
    for each in brackets:
        if each not in ("*", "*)") and "(" not in each:
            raise RuntimeError(f"{each!r} is not a bracket of a role")
        if "(" in each:
            role, is_open = each[1 : each.find("*")], ")" not in each
            yield f"B-{role}"
        else:
            yield f"I-{role}" if is_open or each == "*)" else "O"
            is_open = is_open and each != "*)"


def _sample(sentence: Sequence[str], verb: str, labels: Sequence[str], dictionaries: Dictionaries) -> Sample:
    words, verbs, numbers = dictionaries
    place, length = labels.index("B-V"), len(sentence)
    padded = ["bos", "bos", *sentence, "eos", "eos"]
    around = [[words.get(padded[place + 2 + away], UNK_IDX)] * length for away in _NEAR]
    marks = [int(abs(number - place) <= 2) for number in range(length)]
    ids = [words.get(word, UNK_IDX) for word in sentence]
    return ids, *around, [verbs[verb]] * length, marks, [numbers[label] for label in labels]
