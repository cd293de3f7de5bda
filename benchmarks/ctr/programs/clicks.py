"""What all contenders train: seeded batches of clicks, and the layers' first values. In every Python.

Ids are drawn with equal chances from a million, the worst case for a cache and for what travels.
"""

import json
import os

import numpy as np

SLOTS, TABLE, WIDTH, NUMBERS, LAYERS, BATCH = 26, 1000000, 16, 13, (400, 400, 400), 512
RATE = 0.01
MODE, BLOCK = os.environ["CTR_MODE"], int(os.environ["CTR_BLOCK"])
GEO_STEPS = 100


def batches(rank, count=BLOCK):
    """``(ids, numbers, labels)`` of a worker. What is clicked depends on numbers and on the first id."""
    random = np.random.RandomState(rank)
    made = []
    for _ in range(count):
        ids = random.randint(0, TABLE, (BATCH, SLOTS)).astype("int64")
        numbers = random.rand(BATCH, NUMBERS).astype("float32")
        score = numbers.sum(1, keepdims=True) + (ids[:, :1] % 3) - 1
        made.append((ids, numbers, (score > 6.5).astype("float32")))
    return made


def first_values():
    """Of the layers, and of the line beside them: weights ``(inputs, outputs)``."""
    random = np.random.RandomState(5)
    sizes = [SLOTS * WIDTH + NUMBERS, *LAYERS, 1]
    return [
        (random.randn(a, b) / np.sqrt(a)).astype("float32") for a, b in [*zip(sizes, sizes[1:]), (NUMBERS, 1)]
    ]


def cost_of(layers):
    """What layers as they stand cost on a batch that nobody trains on, with rows of zeros: ``(weight, bias)``
    of each, as in :func:`first_values`."""
    _, numbers, labels = batches(1000003, 1)[0]
    x = np.concatenate([np.zeros((BATCH, SLOTS * WIDTH), "float32"), numbers], 1)
    *deep, last, wide = layers
    for weight, bias in deep:
        x = np.maximum(x.dot(weight) + bias, 0)
    scores = x.dot(last[0]) + last[1] + numbers.dot(wide[0]) + wide[1]
    return float(np.mean(np.logaddexp(0, scores) - labels * scores))


def write(path, rank, count):
    """The same as a text of MultiSlot records, as datasets read them."""
    with open(path + ".part", "w") as file:
        for ids, numbers, labels in batches(rank, count):
            for row, features, label in zip(ids, numbers, labels):
                slots = " ".join(f"1 {one}" for one in row)
                values = " ".join(f"{one:.4f}" for one in features)
                file.write(f"{slots} 13 {values} 1 {label[0]:.0f}\n")
    os.rename(path + ".part", path)


def facts(**versions):
    """What a process ran on."""
    return json.loads(json.dumps(dict(versions, numpy=np.__version__)))
