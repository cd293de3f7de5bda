"""Lines of clicks with a planted signal, their files, and three ways to read them."""

import sys
import zlib

import numpy as np

import paddle.distributed.fleet as fleet

SIZE, WORDS = 1000, 40
planted = np.random.RandomState(7)
OF_SLOTS, OF_NUMBERS = planted.randn(26, WORDS), planted.randn(13)


def lines(seed, count):
    """A label, 13 numbers and 26 words a line; the label follows from all of them, and chance."""
    rng = np.random.RandomState(seed)
    for _ in range(count):
        numbers, words = rng.randint(0, 50, 13), rng.randint(0, WORDS, 26)
        score = OF_SLOTS[np.arange(26), words].sum() / 3 + ((numbers / 50.0 - 0.5) * OF_NUMBERS).sum() * 2
        label = int(rng.rand() < 1 / (1 + np.exp(-score)))
        hashed = ["%08x" % (i * 1000 + word) for i, word in enumerate(words)]
        yield "\t".join([str(label)] + [str(number) for number in numbers] + hashed)


def parsed(line):
    fields = line.rstrip("\n").split("\t")
    numbers = [int(number) / 50.0 - 0.5 for number in fields[1:14]]
    slots = [[zlib.crc32((str(i) + word).encode()) % SIZE] for i, word in enumerate(fields[14:])]
    return [numbers] + slots + [[int(fields[0])]]


class Files(object):
    """Samples of files, one by one."""

    def __init__(self, paths):
        self.paths = paths

    def __call__(self):
        for path in self.paths:
            with open(path) as file:
                for line in file:
                    yield parsed(line)


class Slots(fleet.MultiSlotDataGenerator):
    """The same, as what a dataset pipes its files through."""

    def generate_sample(self, line):
        def local_iter():
            names = ["dense_input"] + ["C" + str(i) for i in range(1, 27)] + ["label"]
            yield zip(names, parsed(line))

        return local_iter


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for number in range(4):
            with open("data/part-%d" % number, "w") as part:
                part.writelines(line + "\n" for line in lines(number, int(sys.argv[1])))
    else:
        Slots().run_from_stdin()
