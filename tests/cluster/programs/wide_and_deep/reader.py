"""Lines as Criteo has them, with a planted signal: what `from reader import data_reader` leaves undefined."""

import itertools
import os
import zlib

import numpy as np

planted = np.random.RandomState(7)
SCALE = float(os.environ.get("SCALE", "1"))  # of numbers as a model takes them; 1: from -0.5 to 0.5
OF_SLOTS, OF_NUMBERS = planted.randn(26, 40), planted.randn(13)


def lines(seed, count):
    """A label, 13 numbers and 26 words a line; the label follows from all of them, and chance."""
    rng = np.random.RandomState(seed)
    for _ in range(count):
        numbers, words = rng.randint(0, 50, 13), rng.randint(0, 40, 26)
        score = OF_SLOTS[np.arange(26), words].sum() / 3 + ((numbers / 50.0 - 0.5) * OF_NUMBERS).sum() * 2
        label = int(rng.rand() < 1 / (1 + np.exp(-score)))
        hashed = ["%08x" % (i * 1000 + word) for i, word in enumerate(words)]
        yield "\t".join([str(label)] + [str(number) for number in numbers] + hashed)


def parsed(line):
    fields = line.split("\t")
    dense = [(int(number) / 50.0 - 0.5) * SCALE for number in fields[1:14]]
    sparse = [[zlib.crc32((str(i) + word).encode()) % 1000] for i, word in enumerate(fields[14:])]
    return [dense] + sparse + [[int(fields[0])]]


def data_reader():
    """A worker's own lines; all of them, as two workers would have them batch by batch, for one alone."""
    own = os.environ.get("PADDLE_TRAINER_ID")
    workers = [0, 1] if own is None else [int(own)]
    share, count = int(os.environ["BATCH"]) // len(workers), int(os.environ["LINES"])

    def reader():
        texts = [lines(worker, count) for worker in workers]
        for _ in range(count // share):
            for text in texts:
                for line in itertools.islice(text, share):
                    yield parsed(line)

    return reader
