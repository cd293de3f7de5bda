"""Data sets: reading generated twins of the files, and the real ones that PADDLE_DATASET_HOME has."""

import gzip
import hashlib
import http.server
import io
import os
import struct
import tarfile
import threading
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest

from paddle.dataset import common, imikolov, mnist, uci_housing

REAL = os.environ.get("PADDLE_DATASET_HOME")  # now: no test sees the variables of whoever runs it


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def local(home, monkeypatch):
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    return home


def put(home, module, name, content):
    path = home / module / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def real(home, module, *names):
    for name in names:
        source = Path(REAL or "", module, name)
        if not REAL or not source.exists():
            pytest.skip(f"PADDLE_DATASET_HOME has no {module}/{name}")
        put(home, module, name, source.read_bytes())


# --- download


@pytest.fixture
def server():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests += 1
            content = self.server.answers[min(self.server.requests, len(self.server.answers)) - 1]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.requests, made.answers = 0, [b"content"]
    made.url = f"http://127.0.0.1:{made.server_port}/a/file.bin"
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


MD5 = hashlib.md5(b"content").hexdigest()


def test_a_download_is_told_where_no_data_of_a_program_go(home, server, capsys):
    common.download(server.url, "a", MD5)
    output, errors = capsys.readouterr()
    assert (output, errors) == ("", f"Downloading {server.url} to {home / 'a' / 'file.bin'}\n")


def test_a_file_is_downloaded_once(home, server):
    paths = {common.download(server.url, "module", MD5) for _ in range(3)}
    assert paths == {str(home / "module" / "file.bin")}
    assert server.requests == 1 and (home / "module" / "file.bin").read_bytes() == b"content"


def test_a_file_is_saved_under_the_name_asked_for(home, server):
    assert common.download(server.url, "module", MD5, save_name="other") == str(home / "module" / "other")


def test_a_damaged_download_is_tried_again(home, server):
    server.answers = [b"damaged", b"content"]
    common.download(server.url, "module", MD5)
    assert server.requests == 2


def test_after_three_damaged_downloads_the_error_says_what_to_do(home, server):
    server.answers = [b"damaged"]
    with pytest.raises(RuntimeError) as caught:
        common.download(server.url, "module", MD5)
    assert server.requests == 3
    for hint in (server.url, str(home / "module" / "file.bin"), MD5, "PADDLE_DATASET_LOCAL=1"):
        assert hint in str(caught.value)


def test_without_a_network_the_error_comes_at_once_and_nothing_is_left(home):
    with pytest.raises(RuntimeError, match=rf"put it at {home}/module/file.bin .md5 {MD5}"):
        common.download("http://127.0.0.1:9/file.bin", "module", MD5)
    assert not (home / "module").exists()


def test_a_download_that_breaks_off_leaves_nothing(home, server, monkeypatch):
    def breaks_off(source, target):
        target.write(source.read(3))
        raise ConnectionResetError("broke off")

    monkeypatch.setattr(common.shutil, "copyfileobj", breaks_off)
    with pytest.raises(RuntimeError, match="broke off"):
        common.download(server.url, "module", MD5)
    assert not (home / "module").exists()


def test_local_files_are_taken_as_they_are(local):
    put(local, "module", "file.bin", b"mine")
    path = common.download("http://127.0.0.1:9/file.bin", "module", MD5)
    assert Path(path).read_bytes() == b"mine"
    with pytest.raises(RuntimeError, match="the file is not there"):
        common.download("http://127.0.0.1:9/other.bin", "module", MD5)


# --- split and share


def test_split_files_are_shared_out_among_trainers(tmp_path):
    common.split(lambda: iter(range(25)), 10, suffix=str(tmp_path / "part-%05d.pickle"))
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"part-0000{i}.pickle" for i in range(3)]
    shares = [common.cluster_files_reader(str(tmp_path / "part-*.pickle"), 2, i) for i in range(2)]
    assert [list(share()) for share in shares] == [[*range(10), *range(20, 25)], list(range(10, 20))]


def test_a_relative_pattern_is_looked_up_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    common.split(lambda: iter("ab"), 1)
    assert list(common.cluster_files_reader("0*.pickle", 1, 0)()) == ["a", "b"]


def test_v2_names_the_very_same_modules():
    import paddle.v2.dataset.common as v2_common
    import paddle.v2.dataset.uci_housing as v2_uci_housing

    assert v2_common is common and v2_uci_housing is uci_housing


# --- imikolov

TRAIN_TEXT = " the cat saw <unk> dog \n the dog \n"
TEST_TEXT = " the end \n"


def treebank(train, test):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in (("train", train), ("valid", test)):
            info = tarfile.TarInfo(f"./simple-examples/data/ptb.{name}.txt")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return content.getvalue()


@pytest.fixture
def ptb(local):
    put(local, "imikolov", "simple-examples.tgz", treebank(TRAIN_TEXT, TEST_TEXT))


def test_the_dictionary_goes_by_falling_count_then_by_word(ptb):
    assert imikolov.build_dict(min_word_freq=1) == {"<e>": 0, "<s>": 1, "the": 2, "dog": 3, "<unk>": 4}
    assert len(imikolov.build_dict()) == 1


def test_ngrams_slide_over_the_sentence_and_its_marks(ptb):
    words = imikolov.build_dict(min_word_freq=1)
    assert list(imikolov.train(words, 4)()) == [
        (1, 2, 4, 4),
        (2, 4, 4, 4),
        (4, 4, 4, 3),
        (4, 4, 3, 0),
        (1, 2, 3, 0),
    ]
    assert list(imikolov.test(words, 5)()) == []


def test_sequences_are_shifted_by_one_word_and_limited(ptb):
    words = imikolov.build_dict(min_word_freq=1)
    short = [[1, 2, 3], [2, 3, 0]]
    assert list(map(list, imikolov.train(words, 3, imikolov.DataType.SEQ)())) == [short]
    assert list(map(list, imikolov.train(words, 0, imikolov.DataType.SEQ)())) == [
        [[1, 2, 4, 4, 4, 3], [2, 4, 4, 4, 3, 0]],
        short,
    ]


def test_bad_arguments_of_imikolov_are_refused(ptb):
    with pytest.raises(ValueError, match=r"DataType.NGRAM or DataType.SEQ"):
        imikolov.train({}, 5, 7)
    with pytest.raises(ValueError, match="one word or more"):
        imikolov.train({}, -1)


def test_an_archive_without_the_text_is_named(local):
    (local / "imikolov").mkdir()
    with tarfile.open(local / "imikolov" / "simple-examples.tgz", "w:gz"):
        pass
    with pytest.raises(RuntimeError, match=r"simple-examples.tgz has no file .*ptb.train.txt"):
        imikolov.build_dict()


def test_english_in_the_archives_format(local):
    lines = "\n".join(topics.values()).lower().splitlines()
    put(local, "imikolov", "simple-examples.tgz", treebank("\n".join(lines[200:]), "\n".join(lines[:200])))
    words = imikolov.build_dict()
    assert words["<s>"] in (0, 1) and words["<unk>"] == len(words) - 1 and len(words) > 100
    grams = np.array(list(imikolov.test(words, 5)()))
    assert grams.shape[1] == 5 and grams.min() >= 0 and grams.max() < len(words)


# --- uci_housing


def check_housing(rows):
    train, test = list(uci_housing.train()()), list(uci_housing.test()())
    split_at = int(len(rows) * 0.8)
    assert (len(train), len(test)) == (split_at, len(rows) - split_at)
    features = np.array([row[0] for row in train + test])
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.ptp(features, axis=0), 1)
    np.testing.assert_array_equal([row[1] for row in train + test], rows[:, -1:])
    expected = (rows[0, :-1] - rows[:, :-1].mean(axis=0)) / (
        rows[:, :-1].max(axis=0) - rows[:, :-1].min(axis=0)
    )
    np.testing.assert_allclose(train[0][0], expected)


def test_housing_is_centred_scaled_and_cut(local):
    rows = np.random.default_rng(0).uniform(0, 400, (25, 14)).round(3)
    put(
        local,
        "uci_housing",
        "housing.data",
        "\n".join(" ".join(f"{v:8.3f}" for v in row) for row in rows).encode(),
    )
    check_housing(rows)
    assert len(uci_housing.feature_names) == 13


def test_a_model_of_housing_is_unpacked_into_a_folder(local, monkeypatch, tmp_path):
    (tmp_path / "__model__").write_bytes(b"a program")
    with tarfile.open(tmp_path / "packed.tar", "w") as packed:
        packed.add(tmp_path / "__model__", "__model__")
    data = (tmp_path / "packed.tar").read_bytes()
    monkeypatch.setattr(uci_housing, "MD5_FLUID_MODEL", hashlib.md5(data).hexdigest())
    put(local, "uci_housing", "fit_a_line.fluid.tar", data)
    assert Path(uci_housing.fluid_model(), "__model__").read_bytes() == b"a program"


def test_the_real_housing_file_has_the_documented_checksum(home):
    real(home, "uci_housing", "housing.data")
    check_housing(np.loadtxt(home / "uci_housing" / "housing.data"))
    assert len(list(uci_housing.train()())) == 404


# --- mnist


def idx(array):
    return gzip.compress(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes())


def test_digits_are_scaled_to_minus_one_to_one(local):
    images = np.random.default_rng(0).integers(0, 256, (7, 28, 28), np.uint8)
    images[0, 0, :2] = 0, 255
    put(local, "mnist", "train-images-idx3-ubyte.gz", idx(images))
    put(local, "mnist", "train-labels-idx1-ubyte.gz", idx(np.arange(7, dtype=np.uint8)))
    samples = list(mnist.train()())
    assert [label for _, label in samples] == list(range(7)) and type(samples[0][1]) is int
    pixels = np.array([pixels for pixels, _ in samples])
    assert pixels.dtype == np.float32 and pixels[0, :2].tolist() == [-1, 1]
    np.testing.assert_array_equal(pixels, images.reshape(7, 784).astype("float32") / 255.0 * 2.0 - 1.0)


def test_mnist_reads_two_files_of_ones_own(tmp_path):
    images = np.arange(5 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(5, 28, 28)
    files = [str(tmp_path / name) for name in ("images.gz", "labels.gz")]
    for path, values in zip(files, (images, np.array([3, 1, 4, 1, 5], np.uint8)), strict=True):
        Path(path).write_bytes(idx(values))
    samples = list(mnist.reader_creator(*files, 2)())
    assert [digit for _, digit in samples] == [3, 1, 4, 1, 5]
    np.testing.assert_allclose(samples[4][0], images[4].reshape(-1) / 255.0 * 2.0 - 1.0, atol=1e-6)


def test_a_file_that_is_not_idx_is_named(local):
    for name in ("images-idx3", "labels-idx1"):
        put(local, "mnist", f"train-{name}-ubyte.gz", gzip.compress(b"\1\2\3\4"))
    with pytest.raises(RuntimeError, match="is not an IDX file"):
        list(mnist.train()())


def test_the_real_test_digits_have_the_documented_checksum(home):
    real(home, "mnist", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
    samples = list(mnist.test()())
    assert len(samples) == 10000 and samples[0][0].shape == (784,)
    assert [label for _, label in samples[:5]] == [7, 2, 1, 0, 4]
