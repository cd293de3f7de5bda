"""Data sets of 2.x, by number: paddle.text and paddle.vision, of generated twins of the files."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle._program.description.written import fresh
from paddle.dataset import common, uci_housing
from paddle.io import BatchSampler, Dataset
from paddle.vision import transforms


def tar(path: Path, files: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(path)


def test_houses_are_normalised_and_parted(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((10, 14)) * 9
    path = tmp_path / "housing.data"
    np.savetxt(path, rows)
    train, test = (paddle.text.UCIHousing(str(path), mode) for mode in ("train", "test"))
    assert (len(train), len(test), isinstance(train, Dataset)) == (8, 2, True)
    features, price = test[1]
    wanted = (rows[9, :13] - rows[:, :13].mean(0)) / np.ptp(rows[:, :13], 0)
    np.testing.assert_allclose(features, wanted, rtol=1e-5)
    assert price.tolist() == [np.float32(rows[9, 13])] and features.dtype == np.float32
    assert [len(batch) for batch in BatchSampler(train, batch_size=3)] == [3, 3, 2]


def test_the_file_is_that_of_paddle_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    (tmp_path / "uci_housing").mkdir()
    np.savetxt(tmp_path / "uci_housing" / "housing.data", np.random.default_rng(1).random((5, 14)))
    read = list(uci_housing.train()())
    for (features, price), (wanted, paid) in zip(paddle.text.UCIHousing(), read, strict=True):
        np.testing.assert_allclose(features, wanted, rtol=1e-6)
        np.testing.assert_allclose(price, paid, rtol=1e-6)


def test_reviews_are_ids_of_words_and_good_or_bad(tmp_path: Path) -> None:
    texts = {"train/pos/1": b"Good, good film!", "train/neg/1": b"bad film", "test/pos/2": b"film"}
    path = tar(tmp_path / "imdb.tgz", {f"aclImdb/{name}.txt": text for name, text in texts.items()})
    found = paddle.text.Imdb(path, "train", cutoff=1)
    assert found.word_idx == {"film": 0, "good": 1, "<unk>": 2}
    assert [[each.tolist() for each in sample] for sample in found] == [[[1, 1, 0], [0]], [[2, 0], [1]]]


def test_sentences_are_n_grams_or_sequences(tmp_path: Path) -> None:
    parts = {"train": b"a b\na c\n", "valid": b"a\n", "test": b"b a\n"}
    path = tar(
        tmp_path / "ptb.tgz", {f"./simple-examples/data/ptb.{part}.txt": text for part, text in parts.items()}
    )
    grams = paddle.text.Imikolov(path, "NGRAM", 2, "test", min_word_freq=1)
    ids = grams.word_idx
    assert [tuple(map(int, each)) for each in grams] == [
        (ids["<s>"], ids["<unk>"]),
        (ids["<unk>"], ids["a"]),
        (ids["a"], ids["<e>"]),
    ]
    source, target = paddle.text.Imikolov(path, "SEQ", -1, "train", min_word_freq=0)[0]
    assert target.tolist()[:-1] == source.tolist()[1:]
    with pytest.raises(AssertionError, match="NGRAM"):
        paddle.text.Imikolov(path, "WORDS")


def test_ratings_are_parted_by_the_seed(tmp_path: Path) -> None:
    path = tmp_path / "ml-1m.zip"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("ml-1m/movies.dat", "1::Toy Story (1995)::Animation|Comedy\n")
        package.writestr("ml-1m/users.dat", "1::F::1::10::48067\n")
        package.writestr("ml-1m/ratings.dat", "".join(f"1::1::{n % 5 + 1}::9\n" for n in range(50)))
    train, test = (paddle.text.Movielens(str(path), mode, 0.3, 7) for mode in ("train", "test"))
    drawn = np.random.RandomState(7).random_sample(50) < 0.3  # as 2.6.2 draws them
    assert (len(train), len(test)) == (int((~drawn).sum()), int(drawn.sum()))
    fields = [each.tolist() for each in test[0]]
    assert fields[:4] == [[1], [1], [0], [10]] and fields[4] == [1] and len(fields[5]) == len(fields[6]) == 2
    assert fields[7] == [float(int(np.argmax(drawn)) % 5 + 1) * 2 - 5]


def test_pairs_of_sentences_are_ids_of_both_languages(tmp_path: Path) -> None:
    words = b"<s>\n<e>\n<unk>\nun\nchat\nnoir\n"
    parts = {"train": b"un chat\ta cat\nno tab\n", "test": b"chat\tcat\n", "gen": b"noir\tcat a\n"}
    files = {"wmt14/train/src.dict": words, "wmt14/train/trg.dict": b"<s>\n<e>\n<unk>\na\ncat\n"}
    files |= {f"wmt14/{part}/{part}": text for part, text in parts.items()}
    path = tar(tmp_path / "wmt14.tgz", files)
    found = paddle.text.WMT14(path, "train", dict_size=5)
    assert [each.tolist() for each in found[0]] == [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]]
    assert (len(found), found[0][0].dtype) == (1, np.int64)
    assert paddle.text.WMT14(path, "gen", 5)[0][0].tolist() == [0, 2, 1]
    assert found.get_dict()[0]["chat"] == 4 and found.get_dict(reverse=True)[1][3] == "a"
    with pytest.raises(AssertionError, match="dict_size"):
        paddle.text.WMT14(path)


def test_captions_are_ids_by_how_often_words_occur(tmp_path: Path) -> None:
    parts = {"train": b"a dog\tein Hund\na cat\teine Katze\n", "test": b"dog\tHund\n", "val": b"a\tein\n"}
    path = tar(tmp_path / "wmt16.tgz", {f"wmt16/{part}": text for part, text in parts.items()})
    found = paddle.text.WMT16(path, "test", 5, 20)
    assert [each.tolist() for each in found[0]] == [[0, 4, 1], [0, 4], [4, 1]]
    assert found.get_dict("en") == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "dog": 4}
    german = paddle.text.WMT16(path, "val", 20, 5, lang="de")
    assert german[0][1].tolist() == [0, 3] and german.get_dict("de", reverse=True)[3] == "ein"
    with pytest.raises(AssertionError, match="'val'"):
        paddle.text.WMT16(path, "gen", 5, 5)


def test_verbs_have_words_around_and_labels(tmp_path: Path) -> None:
    release = "conll05st-release/test.wsj"
    words, props = b"Cats\neat\nfish\n\n", b"- (A0*)\neat (V*)\n- (A1*)\n\n"
    packed = {f"{release}/words/test.wsj.words.gz": words, f"{release}/props/test.wsj.props.gz": props}
    path = tar(tmp_path / "conll05.tgz", {name: gzip.compress(text) for name, text in packed.items()})
    lists = {"words": "unk\nCats\neat\nbos\neos\n", "verbs": "eat\n", "labels": "B-A0\nB-A1\nB-V\nO\n"}
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
    told = [str(tmp_path / name) for name in lists]
    found = paddle.text.Conll05st(path, *told, emb_file="vectors")
    fields = [each.tolist() for each in found[0]]
    assert fields[0] == [1, 2, 0] and fields[1] == [3] * 3 and fields[3] == [2] * 3 and fields[5] == [4] * 3
    assert fields[6:8] == [[0] * 3, [1] * 3]
    assert fields[8] == [found.get_dict()[2][label] for label in ("B-A0", "B-V", "B-A1")]
    assert (len(found), found.get_embedding()) == (1, "vectors")
    with pytest.raises(AssertionError, match="verb_dict_file"):
        paddle.text.Conll05st(path, told[0], download=False)


@pytest.fixture
def digits(tmp_path: Path) -> tuple[str, str]:
    pixels, labels = np.arange(2 * 28 * 28, dtype=np.uint32).astype(np.uint8), bytes([7, 3])
    images, classes = tmp_path / "images.gz", tmp_path / "labels.gz"
    images.write_bytes(gzip.compress(struct.pack(">HBB3I", 0, 8, 3, 2, 28, 28) + pixels.tobytes()))
    classes.write_bytes(gzip.compress(struct.pack(">HBBI", 0, 8, 1, 2) + labels))
    return str(images), str(classes)


def test_digits_are_arrays_or_images(digits: tuple[str, str]) -> None:
    found = paddle.vision.datasets.MNIST(*digits, mode="test", backend="cv2")
    picture, label = found[1]
    assert (len(found), picture.shape, picture.dtype, label.tolist()) == (2, (28, 28), np.float32, [3])
    assert picture[0, 0] == 784 % 256
    pillow = pytest.importorskip("PIL.Image")
    normal = transforms.Normalize(mean=[127.5], std=[127.5], data_format="CHW")
    assert isinstance(paddle.vision.datasets.MNIST(*digits)[0][0], pillow.Image)
    shown = paddle.vision.datasets.MNIST(*digits, transform=normal)[1][0]
    np.testing.assert_allclose(shown, (picture[np.newaxis] - 127.5) / 127.5, rtol=1e-6)


@pytest.mark.parametrize("said", [{}, {"return_list": False}])
def test_digits_feed_a_program(digits: tuple[str, str], said: dict[str, bool]) -> None:
    with fresh(is_static=True):
        _trains(digits, said)


def _trains(digits: tuple[str, str], said: dict[str, bool]) -> None:
    image, label = paddle.static.data("image", [None, 784]), paddle.static.data("label", [None, 1], "int64")
    cost = paddle.nn.functional.cross_entropy(paddle.static.nn.fc(image, 10), label)
    flat = transforms.Compose([transforms.ToTensor(), np.ravel])
    data = paddle.vision.datasets.MNIST(*digits, transform=flat, backend="cv2")
    loader = paddle.io.DataLoader(data, feed_list=[image, label], batch_size=2, **said)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    costs = [exe.run(feed=batch, fetch_list=[cost])[0] for batch in loader]
    assert len(costs) == 1 and np.isfinite(costs[0]).all()
    if not said:  # fields, as from 2.2 on, which may be fed as before
        pixels, number = next(iter(loader))
        assert exe.run(feed={"image": pixels, "label": number}, fetch_list=[cost])[0] == costs[0]


def test_lenet_has_the_parameters_of_2_6() -> None:
    with fresh(is_static=True):
        net = paddle.vision.models.LeNet()
        assert [tuple(each.shape) for each in net.parameters()] == [
            *((6, 1, 3, 3), (6,), (16, 6, 5, 5), (16,)),
            *((400, 120), (120,), (120, 84), (84,), (84, 10), (10,)),
        ]
        assert sorted(net.state_dict())[-2:] == ["features.3.bias", "features.3.weight"]
        image = paddle.static.data("image", [None, 1, 28, 28])
        made = net(image)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        fed = {"image": np.ones((2, 1, 28, 28), np.float32)}
        assert exe.run(feed=fed, fetch_list=[made])[0].shape == (2, 10)


def test_pictures_come_in_the_order_of_their_files(tmp_path: Path) -> None:
    batches = {
        f"cifar/data_batch_{n}": pickle.dumps(
            {"data": np.full((1, 3072), n, np.uint8), "labels": [n]}, protocol=2
        )
        for n in (2, 1)
    }
    path = tar(tmp_path / "cifar.tgz", batches)
    found = paddle.vision.datasets.Cifar10(path, backend="cv2")
    assert [(picture.shape, picture.max(), int(label)) for picture, label in found] == [
        ((32, 32, 3), 1.0, 1),
        ((32, 32, 3), 2.0, 2),
    ]


def test_transforms_give_what_2_6_gives() -> None:
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    tensor = transforms.ToTensor()(picture)
    np.testing.assert_allclose(tensor[0], [[0.0, 0.011764707], [0.023529414, 0.035294120]], rtol=1e-6)
    assert transforms.ToTensor("HWC")(picture[:, :, 0]).shape == (2, 2, 1)
    assert transforms.Transpose()(picture).shape == (3, 2, 2)
    normal = transforms.Normalize([127.5], [127.5])(np.arange(4.0).reshape(1, 2, 2))
    np.testing.assert_allclose(normal, [[[-1.0, -0.99215686], [-0.98431373, -0.97647059]]], rtol=1e-7)
    turned = transforms.normalize(picture.astype(np.float32), [0, 1, 2], [1, 1, 2], "HWC", to_rgb=True)
    assert turned[0, 0].tolist() == [2.0, 0.0, -1.0]

    class Both(transforms.BaseTransform):
        def _get_params(self, inputs):
            return len(inputs)

        def _apply_image(self, image):
            return image + self.params

    assert Both(keys=("image",))((1, "label")) == (3, "label")
    assert Both()(1) == 2
    with pytest.raises(NotImplementedError, match="_apply_mask"):
        Both(keys=("mask",))


def test_what_is_absent_says_so() -> None:
    with pytest.raises(AttributeError, match=r"paddle\.vision\.models\.alexnet is not in this release"):
        _ = paddle.vision.models.alexnet
    with pytest.raises(AssertionError, match="download=False"):
        paddle.vision.datasets.MNIST(download=False)
