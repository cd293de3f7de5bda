"""Data sets of one's own: readers of files in the formats of those that are known."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import tarfile

import numpy as np
import pytest

from paddle.dataset import cifar, common, conll05, imdb, imikolov, uci_housing, wmt14

PROPS = "love (V*)\n- (A1*)\n\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    return tmp_path


def archive(path, files):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as made:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return str(path)


def test_pictures(home) -> None:
    batch = pickle.dumps({"data": np.full((2, 3072), 255, np.uint8), "labels": [4, 1]})
    path = archive(home / "mine.tar.gz", {"mine/a_batch": batch, "mine/other": b""})
    samples = list(cifar.reader_creator(path, "a_batch")())
    assert [label for _, label in samples] == [4, 1] and samples[0][0].max() == 1.0


def test_reviews_by_the_names_of_their_files(home) -> None:
    files = {"aclImdb/a/1.txt": b"Good film.", "aclImdb/b/1.txt": b"bad, film"}
    archive(home / "imdb" / "aclImdb_v1.tar.gz", files)
    good, bad = re.compile(r"aclImdb/a/.*"), re.compile(r"aclImdb/b/.*")
    assert list(imdb.tokenize(bad)) == [["bad", "film"]]
    reader = imdb.reader_creator(good, bad, {"good": 0, "film": 1, "<unk>": 2})
    assert list(reader()) == [([0, 1], 0), ([2, 1], 1)]


def test_sentences_of_any_file_of_the_archive(home) -> None:
    name = "./simple-examples/data/ptb.test.txt"
    archive(home / "imikolov" / "simple-examples.tgz", {name: b"a b\nb\n"})
    counts = imikolov.word_count(["a b\n", "b\n"])
    assert dict(counts) == {"a": 1, "b": 2, "<s>": 2, "<e>": 2}
    assert imikolov.word_count(["b"], counts)["b"] == 3
    ids = {"a": 0, "b": 1, "<s>": 2, "<e>": 3, "<unk>": 4}
    pairs = imikolov.reader_creator(name, ids, 0, imikolov.DataType.SEQ)
    assert list(pairs()) == [([2, 0, 1], [0, 1, 3]), ([2, 1], [1, 3])]


def test_pairs_of_sentences(home) -> None:
    words = b"<s>\n<e>\n<unk>\nle\nchat\n"
    files = {"m/src.dict": words, "m/trg.dict": words, "m/more/more": b"le chat\tchat\n"}
    path = archive(home / "mine.tgz", files)
    assert list(wmt14.reader_creator(path, "more/more", 5)()) == [([0, 3, 4, 1], [0, 4], [4, 1])]


def test_roles(home) -> None:
    files = {"words": gzip.compress(b"love\nwords\n\n"), "props": gzip.compress(PROPS.encode())}
    corpus = conll05.corpus_reader(archive(home / "mine.tgz", files), "words", "props")
    assert list(corpus()) == [(["love", "words"], "love", ["B-V", "B-A1"])]
    (home / "words").write_text("bos\neos\nlove\nwords\n")
    (home / "labels").write_text("B-V\nI-V\nB-A1\nI-A1\nO\n")
    words, labels = conll05.load_dict(str(home / "words")), conll05.load_label_dict(str(home / "labels"))
    (sample,) = conll05.reader_creator(corpus, words, {"love": 0}, labels)()
    assert sample[0] == [2, 3] and sample[-1] == [labels["B-V"], labels["B-A1"]] == [2, 0]


def test_houses_are_those_of_the_file_that_was_loaded(home, monkeypatch) -> None:
    for name in ("UCI_TRAIN_DATA", "UCI_TEST_DATA"):
        monkeypatch.setattr(uci_housing, name, None)
    np.savetxt(home / "mine", np.arange(30.0).reshape(10, 3))
    uci_housing.load_data(str(home / "mine"), feature_num=3, ratio=0.6)
    uci_housing.load_data("nowhere")
    assert uci_housing.UCI_TRAIN_DATA is not None and uci_housing.UCI_TRAIN_DATA.shape == (6, 3)
    features, price = next(uci_housing.train()())
    np.testing.assert_allclose(features, [-0.5, -0.5])
    assert price.tolist() == [2.0] and len(list(uci_housing.test()())) == 4
    assert uci_housing.predict_reader()[0].shape == (4, 2)
