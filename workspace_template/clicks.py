"""Clicks on advertisements, as the Criteo set has them: 13 numbers, 26 words, and whether somebody clicked.

They are made here, with a rule behind them that a model can find: every word of a slot and every number moves
the chance of a click, by weights that are drawn once.
"""

import zlib

import numpy as np

NUMBERS, SLOTS = 13, 26
TABLE_SIZE = 2000  # rows that words are hashed to
_WORDS = 40  # different ones in a slot
_rule = np.random.RandomState(7)
_OF_WORDS, _OF_NUMBERS = _rule.randn(SLOTS, _WORDS) / 3, _rule.randn(NUMBERS) * 2


def lines(seed, count):
    """Lines of text, as files of the set have them: fields between tabs, the label first."""
    rng = np.random.RandomState(seed)
    for _ in range(count):
        numbers, words = rng.randint(0, 50, NUMBERS), rng.randint(0, _WORDS, SLOTS)
        score = _OF_WORDS[np.arange(SLOTS), words].sum() + ((numbers / 50 - 0.5) * _OF_NUMBERS).sum()
        label = int(rng.rand() < 1 / (1 + np.exp(-score)))
        yield "\t".join(
            [str(label), *map(str, numbers), *(f"{1000 * i + w:08x}" for i, w in enumerate(words))]
        )


def sample(line):
    """A line as a model takes it: scaled numbers, a row of the table for each word, the label."""
    label, *fields = line.split("\t")
    numbers = [int(field) / 50 - 0.5 for field in fields[:NUMBERS]]
    rows = [[zlib.crc32(f"{i} {word}".encode()) % TABLE_SIZE] for i, word in enumerate(fields[NUMBERS:])]
    return [numbers, *rows, [int(label)]]


def reader(seed, count):
    """A reader of so many samples."""
    return lambda: map(sample, lines(seed, count))


def area_under_curve(predicted, labels):
    """How well predictions rank clicks above the rest: 0.5 by chance, 1 at best."""
    ranks = np.empty(len(labels))
    ranks[np.argsort(predicted)] = np.arange(1, len(labels) + 1)
    clicks = labels.sum()
    return (ranks[labels == 1].sum() - clicks * (clicks + 1) / 2) / (clicks * (len(labels) - clicks))
