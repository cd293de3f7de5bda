"""The data sets of the book, read from generated twins of their files."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import tarfile
import zipfile

import numpy as np
import pytest

import paddle
from paddle.dataset import cifar, common, conll05, imdb, movielens, mq2007, sentiment, wmt14, wmt16


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    return tmp_path


def put(home, module, name, content):
    (home / module).mkdir(exist_ok=True)
    (home / module / name).write_bytes(content)


def tarred(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return content.getvalue()


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text.encode("latin-1"))
    return content.getvalue()


def test_reviews_are_words_without_punctuation(home) -> None:
    texts = {"train/pos/0_9": "Good, good film!\n", "train/neg/0_1": "No.", "test/pos/1_8": "A good one"}
    archive = tarred({f"aclImdb/{name}.txt": text.encode() for name, text in texts.items()})
    put(home, "imdb", "aclImdb_v1.tar.gz", archive)
    words = imdb.word_dict(cutoff=0)
    assert list(words) == ["good", "a", "film", "no", "one", "<unk>"]
    assert imdb.build_dict(re.compile(r"aclImdb/train/.*\.txt$"), 1) == {"good": 0, "<unk>": 1}
    assert list(imdb.train(words)()) == [([0, 0, 2], 0), ([3], 1)]
    assert list(imdb.test({"good": 1, "<unk>": 0})()) == [([0, 1, 0], 0)]
    written_for_an_older_release = paddle.batch(lambda: imdb.train(words), 1)
    assert list(written_for_an_older_release()) == [[([0, 0, 2], 0)], [([3], 1)]]


def test_ratings_say_who_gave_them_and_of_what(home) -> None:
    archive = zipped(
        {
            "ml-1m/movies.dat": "1::Toy Story (1995)::Comedy|Animation\n3::Café (1990)::Comedy\n",
            "ml-1m/users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n",
            "ml-1m/ratings.dat": "1::3::5::9\n2::1::1::9\n" * 50,
        }
    )
    put(home, "movielens", "ml-1m.zip", archive)
    movielens.known_of.cache_clear()
    train, test = list(movielens.train()()), list(movielens.test()())
    assert len(train) + len(test) == 100 and 2 < len(test) < 25
    assert [1, 1, 0, 10, 3, [1], [0], [5.0]] in train
    assert [2, 0, 6, 16, 1, [1, 0], [2, 1], [-3.0]] in train
    assert (movielens.max_user_id(), movielens.max_movie_id(), movielens.max_job_id()) == (2, 3, 16)
    assert movielens.movie_categories() == {"Animation": 0, "Comedy": 1}
    assert movielens.get_movie_title_dict() == {"café": 0, "story": 1, "toy": 2}
    assert movielens.movie_info()[1].value() == [1, [1, 0], [2, 1]]
    assert str(movielens.user_info()[2]) == "<UserInfo id(2), gender(M), age(56), job(16)>"


def test_a_sentence_has_a_sample_for_each_verb(home) -> None:
    words = ["The", "cat", "saw", "a", "dog", "run", "."]
    columns = [
        ("-", "(A0*", "*"),
        ("-", "*)", "*"),
        ("see", "(V*)", "*"),
        ("-", "(A1*", "(A0*"),
        ("-", "*", "*)"),
        ("run", "*)", "(V*)"),
        ("-", "*", "*"),
    ]
    content = {
        "words": "\n".join([*words, "", ""]),
        "props": "\n".join([*(" ".join(row) for row in columns), "", ""]),
    }
    archive = {
        f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz": gzip.compress(text.encode())
        for kind, text in content.items()
    }
    put(home, "conll05st", "conll05st-tests.tar.gz", tarred(archive))
    names = ["conll05st%2FwordDict.txt", "conll05st%2FverbDict.txt", "conll05st%2FtargetDict.txt"]
    lists = ["<unk>\nbos\neos\nThe\ncat\nsaw\na", "see\nrun", "B-A0\nI-A0\nB-V\nB-A1\nI-A1\nO"]
    for name, text in zip(names, lists, strict=True):
        put(home, "conll05st", name, text.encode())
    _, _, labels = conll05.get_dict()
    assert labels == {"B-A0": 0, "I-A0": 1, "B-A1": 2, "I-A1": 3, "B-V": 4, "I-V": 5, "O": 6}
    first, second = conll05.test()()
    assert first[0] == [3, 4, 5, 6, 0, 0, 0]
    assert [column[0] for column in first[1:6]] == [3, 4, 5, 6, 0]
    assert first[6:] == ([0] * 7, [1, 1, 1, 1, 1, 0, 0], [0, 1, 4, 2, 3, 3, 6])
    assert [column[0] for column in second[1:6]] == [6, 0, 0, 0, 2]
    assert second[6:] == ([1] * 7, [0, 0, 0, 1, 1, 1, 1], [6, 6, 6, 0, 1, 4, 6])


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pictures_are_read_from_pickles_that_are_not_run(home, protocol) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 3072), np.uint8)
    batches = {
        f"cifar-10-batches-py/{name}": pickle.dumps({"data": pixels, "labels": [3, 1, 0, 2]}, protocol)
        for name in ("data_batch_1", "data_batch_2", "test_batch")
    }
    put(home, "cifar", "cifar-10-python.tar.gz", tarred(batches))
    samples = list(cifar.train10()())
    assert len(samples) == 8 and [label for _, label in samples[:4]] == [3, 1, 0, 2]
    assert samples[0][0].dtype == np.float32
    np.testing.assert_allclose(samples[1][0], pixels[1] / 255, rtol=1e-6)
    endless = cifar.test10(cycle=True)()
    assert [next(endless)[1] for _ in range(6)] == [3, 1, 0, 2, 3, 1]


def test_keys_of_pictures_may_be_bytes_as_the_original_asks_for_them(home) -> None:
    batch = {b"data": np.zeros((2, 3072), np.uint8), b"fine_labels": [7, 2]}
    put(home, "cifar", "cifar-100-python.tar.gz", tarred({"cifar-100-python/train": pickle.dumps(batch, 2)}))
    assert [label for _, label in cifar.train100()()] == [7, 2]


def test_a_pickle_that_is_a_program_is_refused(home) -> None:
    class Program:
        def __reduce__(self):
            return print, ("run",)

    put(home, "cifar", "cifar-100-python.tar.gz", tarred({"cifar-100/train": pickle.dumps(Program())}))
    with pytest.raises(ValueError, match=r"asks for builtins\.print"):
        list(cifar.train100()())


def test_translations_are_numbered_by_the_archives_dictionaries(home) -> None:
    files = {
        "wmt14/src.dict": "<s>\n<e>\n<unk>\nle\nchat\n",
        "wmt14/trg.dict": "<s>\n<e>\n<unk>\nthe\ncat\nsees\n",
        "wmt14/train/train": f"le chat voit\tthe cat sees\nno pair\n{'le ' * 79}\tthe\n",
        "wmt14/test/test": "chat\tcat\n",
    }
    put(home, "wmt14", "wmt14.tgz", tarred({name: text.encode() for name, text in files.items()}))
    assert list(wmt14.train(5)()) == [([0, 3, 4, 2, 1], [0, 3, 4, 2], [3, 4, 2, 1])]
    assert list(wmt14.test(30)()) == [([0, 4, 1], [0, 4], [4, 1])]
    source, target = wmt14.get_dict(4)
    assert (source[3], target[3]) == ("le", "the")
    assert wmt14.get_dict(4, reverse=False)[0]["le"] == 3
    with pytest.raises(RuntimeError, match="has no file gen/gen"):
        list(wmt14.gen(4)())


def test_captions_are_numbered_by_how_often_words_occur(home) -> None:
    files = {
        "wmt16/train": "a dog runs\tein Hund\nno pair\na cat\teine Katze\nthe cat\tdie Katze\n",
        "wmt16/val": "a bird\tein Vogel\n",
        "wmt16/test": "the dog\tder Hund\n",
    }
    put(home, "wmt16", "wmt16.tar.gz", tarred({name: text.encode() for name, text in files.items()}))
    assert wmt16.get_dict("en", 6) == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "cat": 4, "dog": 5}
    assert wmt16.get_dict("de", 5, reverse=True) == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "Katze", 4: "ein"}
    assert next(wmt16.train(6, 5)()) == ([0, 3, 5, 2, 1], [0, 4, 2], [4, 2, 1])
    assert list(wmt16.validation(9, 9)()) == [([0, 3, 2, 1], [0, 4, 2], [4, 2, 1])]
    assert list(wmt16.test(9, 9, src_lang="de")()) == [([0, 2, 5, 1], [0, 7, 5], [7, 5, 1])]
    with pytest.raises(ValueError, match="not 'fr'"):
        wmt16.train(9, 9, "fr")


def test_bad_and_good_reviews_take_turns(home) -> None:
    texts = {"neg/a": "Bad, bad.", "neg/b": "so bad", "pos/c": "good film", "pos/d": "film"}
    archive = zipped({f"movie_reviews/{name}.txt": text for name, text in texts.items()})
    put(home, "corpora", "movie_reviews.zip", archive)
    sentiment._reviews.cache_clear(), sentiment._ids.cache_clear()
    assert [word for word, _ in sentiment.get_word_dict()] == ["bad", "film", ",", ".", "good", "so"]
    assert list(sentiment.train()) == [([0, 2, 0, 3], 0), ([4, 1], 1), ([5, 0], 0), ([1], 1)]
    assert list(sentiment.test()) == []


def test_documents_of_a_query_are_read_by_themselves_in_pairs_and_in_lists(home) -> None:
    def line(score, query, value):
        features = " ".join(f"{n}:{value}" for n in range(1, 47))
        return f"{score} qid:{query} {features} #docid = {value}\n"

    folder = home / "MQ2007" / "MQ2007" / "MQ2007" / "Fold1"
    folder.mkdir(parents=True)
    lines = [line(0, 1, 0.1), line(2, 1, 0.2), line(1, 1, 0.3), line(0, 2, 0.4), line(1, 3, 0.5)]
    (folder / "train.txt").write_text("".join(lines))
    pairs = [(better[0], worse[0]) for _, better, worse in mq2007.train()]
    assert pairs == [(0.2, 0.3), (0.2, 0.1), (0.3, 0.1)]
    scores = [scores[:, 0].tolist() for scores, features in mq2007.train(format="listwise")]
    assert scores == [[2, 1, 0], [1]]
    assert [score for score, _ in mq2007.train(format="pointwise", shuffle=True)] == [2, 1, 0, 1]
    read = mq2007.load_from_text("MQ2007/MQ2007/Fold1/train.txt")
    assert [(each.query_id, len(each)) for each in read] == [(1, 3), (2, 1), (3, 1)]
    assert [each.query_id for each in mq2007.query_filter(read)] == [1, 3]
    put(home, "MQ2007", mq2007.URL.rpartition("/")[2], b"Rar!")
    with pytest.raises(RuntimeError, match=r"unpack .*unrar x"):
        list(mq2007.test())
