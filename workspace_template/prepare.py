"""Makes the data of the word2vec job: 5-grams of English text, cut into one file a node.

    train_data_dir/train.txt-0000N   test_data_dir/test.txt-0000N   one 5-gram a line, word ids separated by commas
    word_dict.pickle                 word -> id

The text is the Penn Treebank corpus of paddle.dataset.imikolov where that is cached or can be downloaded. Elsewhere it is
a text that every machine with Python has: the language's own documentation (about 65,000 words).
"""

import collections
import os
import pickle
import re
import shutil

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
    except (OSError, RuntimeError) as error:
        print("Penn Treebank is not at hand (%s)" % str(error).splitlines()[0])
        return None
    grams = [reader(words, N)() for reader in (paddle.dataset.imikolov.train, paddle.dataset.imikolov.test)]
    return words, list(grams[0]), list(grams[1])


def documentation():
    """The same three of the Python language's documentation."""
    from pydoc_data.topics import topics

    text = "\n\n".join(topics[name] for name in sorted(topics))
    sentences = [re.findall(r"[a-z]+|[0-9]+", part.lower()) for part in re.split(r"[.:;]\s|\n\n", text)]
    sentences = [sentence for sentence in sentences if len(sentence) > 1]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    kept = sorted((word for word in counts if counts[word] >= MIN_WORD_FREQ), key=lambda word: (-counts[word], word))
    words = {word: number for number, word in enumerate(["<s>", "<e>", *kept, "<unk>"])}
    train = [sentence for number, sentence in enumerate(sentences) if number % TEST_SHARE]
    test = [sentence for number, sentence in enumerate(sentences) if number % TEST_SHARE == 0]
    return words, list(grams_of(train, words)), list(grams_of(test, words))


def grams_of(sentences, words):
    """Every window of N words of every sentence with its marks of begin and end, as ids."""
    for sentence in sentences:
        ids = [words.get(word, words["<unk>"]) for word in ["<s>", *sentence, "<e>"]]
        for end in range(N, len(ids) + 1):
            yield tuple(ids[end - N : end])


def split(grams, directory, name):
    """Write the grams into SPLIT_COUNT files of nearly equal length, neighbours to different files."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for part in range(SPLIT_COUNT):
        with open(os.path.join(directory, "%s-%05d" % (name, part)), "w") as f:
            f.writelines(",".join(map(str, gram)) + "\n" for gram in grams[part::SPLIT_COUNT])


def main():
    """Make the data in the current directory."""
    words, train, test = treebank() or documentation()
    split(train[:MAX_GRAMS], "train_data_dir", "train.txt")
    split(test, "test_data_dir", "test.txt")
    with open("word_dict.pickle", "wb") as f:
        pickle.dump(words, f, protocol=2)
    print(
        "prepared %d training and %d test grams over %d words for %d nodes"
        % (len(train[:MAX_GRAMS]), len(test), len(words), SPLIT_COUNT)
    )


if __name__ == "__main__":
    main()
