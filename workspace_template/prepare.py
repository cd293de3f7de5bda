"""Makes the data of the word2vec job: 5-grams of English text, cut into one file a node.

    train_data_dir/train.txt-0000N   one 5-gram a line, word ids separated by commas
    test_data_dir/test.txt-0000N     the same, held out
    word_dict.pickle                 word -> id

The text is the Penn Treebank of paddle.dataset.imikolov where that is cached or can be downloaded. Elsewhere
it is one that every machine with Python has: the language's own documentation (about 65,000 words).
"""

import os
import pickle
import re
from collections import Counter
from itertools import chain
from pathlib import Path

SPLIT_COUNT = int(os.getenv("SPLIT_COUNT", "2"))  # number of trainer nodes
N = 5  # words in a gram
MIN_WORD_FREQ = 5  # a rarer word of the documentation is <unk>
MAX_GRAMS = 60000  # of training; the whole Penn Treebank would take hours on a small machine. None: all
TEST_SHARE = 20  # one sentence in so many is held out


def treebank():
    """Dictionary, training and test grams of the Penn Treebank, or None where it is not to be had."""
    import paddle.v2 as paddle

    try:
        words = paddle.dataset.imikolov.build_dict()
    except (OSError, RuntimeError):
        print("cannot get Penn Treebank (see Data sets in README.md): using Python's documentation instead")
        return None
    train, test = (
        reader(words, N) for reader in (paddle.dataset.imikolov.train, paddle.dataset.imikolov.test)
    )
    return words, list(train()), list(test())


def documentation():
    """The same three of the Python language's documentation."""
    from pydoc_data.topics import topics

    text = "\n\n".join(topics[name] for name in sorted(topics))
    sentences = [re.findall(r"[a-z]+|[0-9]+", part.lower()) for part in re.split(r"[.:;]\s|\n\n", text)]
    sentences = [sentence for sentence in sentences if len(sentence) > 1]
    counts = Counter(chain.from_iterable(sentences))
    kept = sorted(
        (word for word in counts if counts[word] >= MIN_WORD_FREQ), key=lambda word: (-counts[word], word)
    )
    words = {word: number for number, word in enumerate(["<s>", "<e>", *kept, "<unk>"])}
    train = [sentence for number, sentence in enumerate(sentences) if number % TEST_SHARE]
    return words, list(grams_of(train, words)), list(grams_of(sentences[::TEST_SHARE], words))


def grams_of(sentences, words):
    """Every window of N words of every sentence with its marks of begin and end, as ids."""
    for sentence in sentences:
        ids = [words.get(word, words["<unk>"]) for word in ["<s>", *sentence, "<e>"]]
        for end in range(N, len(ids) + 1):
            yield tuple(ids[end - N : end])


def split(grams, directory, name):
    """Write the grams into SPLIT_COUNT files of nearly equal length, neighbours to different files."""
    Path(directory).mkdir(exist_ok=True)
    parts = [Path(directory, f"{name}-{part:05d}") for part in range(SPLIT_COUNT)]
    for number, path in enumerate(parts):
        lines = (",".join(map(str, gram)) + "\n" for gram in grams[number::SPLIT_COUNT])
        replace(path, "".join(lines).encode())
    for surplus in set(Path(directory).glob(f"{name}-?????")) - set(parts):
        surplus.unlink(missing_ok=True)


def replace(path, content):
    """Write a file that is whole at any time, also while another job is sending the folder."""
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_bytes(content)
    written.replace(path)


def main():
    """Make the data in the current directory."""
    words, train, test = treebank() or documentation()
    train = train[:MAX_GRAMS]
    split(train, "train_data_dir", "train.txt")
    split(test, "test_data_dir", "test.txt")
    replace(Path("word_dict.pickle"), pickle.dumps(words, protocol=2))
    counts = f"{len(train)} training and {len(test)} test grams over {len(words)} words"
    print(f"prepared {counts} for {SPLIT_COUNT} nodes")


if __name__ == "__main__":
    main()
