"""Sentences of ``paddle.text``: pairs to learn to translate from, and verbs with the roles around them.

They must never know where files are kept (``paddle.dataset.common`` does). Guarantee: a sample is a tuple of
int64 arrays, one for each field.
"""

from __future__ import annotations

from typing import Any

from paddle.dataset import conll05, wmt14, wmt16
from paddle.text.datasets import Kept, path_of

__all__ = ["WMT14", "WMT16", "Conll05st"]


class Conll05st(Kept):
    """One verb of a sentence: words, five times the same word from two before the verb to two after it, the
    verb, whether a word is one of these five, labels; a number for each word."""

    def __init__(
        self,
        data_file: str | None = None,
        word_dict_file: str | None = None,
        verb_dict_file: str | None = None,
        target_dict_file: str | None = None,
        emb_file: str | None = None,
        download: bool = True,
    ) -> None:
        super().__init__("test", data_file, (conll05.DATA_URL, "conll05st", conll05.DATA_MD5), download)
        told = {"word_dict_file": word_dict_file, "verb_dict_file": verb_dict_file}
        told["target_dict_file"] = target_dict_file
        pairs = zip(told.items(), conll05.DICTIONARIES, strict=True)
        files = [
            path_of(given, (url, "conll05st", md5), download, name) for (name, given), (url, md5) in pairs
        ]
        self._vectors = (emb_file, (conll05.EMB_URL, "conll05st", conll05.EMB_MD5), download, "emb_file")
        found = conll05.dictionaries_of(*files)
        self.word_dict, self.predicate_dict, self.label_dict = found
        self._samples = list(conll05.samples_of(self.data_file, found)())

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The ids of words, verbs and labels."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of a table of vectors, one for each word."""
        return path_of(*self._vectors)


class WMT14(Kept):
    """French and English: source, target behind ``<s>``, target and ``<e>``. ``dict_size``: so many words of
    each language have an id of their own. ``mode`` is "train", "test" or "gen"."""

    def __init__(
        self, data_file: str | None = None, mode: str = "train", dict_size: int = -1, download: bool = True
    ) -> None:
        source = (wmt14.URL_TRAIN, "wmt14", wmt14.MD5_TRAIN)
        super().__init__(mode, data_file, source, download, ("train", "test", "gen"))
        if dict_size <= 0:
            raise AssertionError(f"dict_size is how many words have an id, above 0, and not {dict_size}")
        self.dict_size = dict_size
        self.src_dict, self.trg_dict = wmt14.dictionaries_of(self.data_file, dict_size)
        self._samples = list(wmt14.pairs_of(self.mode, dict_size, self.data_file)())

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The ids of both languages by word; the words by id with ``reverse``."""
        both = self.src_dict, self.trg_dict
        return (wmt14.turned(both[0]), wmt14.turned(both[1])) if reverse else both


class WMT16(Kept):
    """English and German: as ``WMT14``. ``lang`` is "en" or "de", of the source. ``mode`` is "train", "test"
    or "val"."""

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        source = (wmt16.DATA_URL, "wmt16", wmt16.DATA_MD5)
        super().__init__(mode, data_file, source, download, ("train", "test", "val"))
        for name, size in (("src_dict_size", src_dict_size), ("trg_dict_size", trg_dict_size)):
            if size <= 0:
                raise AssertionError(f"{name} is how many words have an id, above 0, and not {size}")
        self.lang, other = lang, "de" if lang == "en" else "en"
        self.src_dict = wmt16.ids_of(self.data_file, lang, src_dict_size)
        self.trg_dict = wmt16.ids_of(self.data_file, other, trg_dict_size)
        read = wmt16.pairs_of(self.mode, src_dict_size, trg_dict_size, lang, self.data_file)
        self._samples = list(read())

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The ids of a language by word; the words by id with ``reverse``."""
        found = self.src_dict if lang == self.lang else self.trg_dict
        return wmt14.turned(found) if reverse else found
