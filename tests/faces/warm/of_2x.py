"""What people write on 2.x: programs of layers."""

from __future__ import annotations

import numpy as np

import paddle
from paddle import nn
from paddle.nn import functional

RNG = np.random.default_rng(1)
WORDS, COUNT = 500, 32


def trained(cost, optimizer, feed):
    optimizer.minimize(cost)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    for _ in range(2):
        exe.run(feed=feed, fetch_list=[cost])


def classified(scores, classes):
    label = paddle.static.data("label", [None, 1], "int64")
    return paddle.mean(functional.cross_entropy(scores, label)), {
        "label": RNG.integers(0, classes, (COUNT, 1))
    }


def pictures() -> None:
    image = paddle.static.data("image", [None, 1, 28, 28])
    seen = nn.Sequential(
        *(nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2)),
        *(nn.Conv2D(6, 16, 5), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2, 2)),
    )(image)
    dense = nn.Sequential(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.GELU(), nn.Linear(84, 10))
    cost, fed = classified(dense(paddle.flatten(seen, 1)), 10)
    trained(cost, paddle.optimizer.Adam(), fed | {"image": RNG.random((COUNT, 1, 28, 28), np.float32)})


def sentences() -> None:
    words = paddle.static.data("words", [None, 12], "int64")
    rows = nn.Embedding(WORDS, 64)(words)
    lstm, _ = nn.LSTM(64, 64, direction="bidirect")(rows)
    gru, _ = nn.GRU(64, 64)(rows)
    seen = nn.LayerNorm(192)(paddle.concat([lstm, gru], axis=2))
    cost, fed = classified(nn.Linear(192, 2)(paddle.mean(seen, axis=1)), 2)
    trained(cost, paddle.optimizer.AdamW(), fed | {"words": RNG.integers(0, WORDS, (COUNT, 12))})


def clicks() -> None:
    numbers = paddle.static.data("numbers", [None, 13], "float32")
    slots = [paddle.static.data(f"slot{n}", [None, 1], "int64") for n in range(5)]
    table = nn.Embedding(WORDS, 10, sparse=True)
    rows = paddle.concat([*(paddle.reshape(table(slot), [-1, 10]) for slot in slots), numbers], axis=1)
    deep = nn.Sequential(nn.Linear(63, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 2))
    cost, fed = classified(deep(rows) + nn.Linear(13, 2)(numbers), 2)
    fed |= {f"slot{n}": RNG.integers(0, WORDS, (COUNT, 1)) for n in range(5)}
    fed |= {"numbers": RNG.random((COUNT, 13), np.float32)}
    trained(cost, paddle.optimizer.Adam(1e-3, lazy_mode=True), fed)


def in_doubles() -> None:
    """What is declared in float64 is computed in float32, and so by what is listed."""
    paddle.set_default_dtype("float64")
    try:
        image, numbers = (
            paddle.static.data("image", [None, 1, 8, 8]),
            paddle.static.data("numbers", [None, 13]),
        )
        seen = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2))(image)
        state, _ = nn.LSTM(13, 36)(paddle.reshape(numbers, [-1, 1, 13]))
        dense = nn.Sequential(nn.Linear(72, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 10))
        cost, fed = classified(dense(paddle.concat([paddle.flatten(seen, 1), state[:, -1]], 1)), 10)
        assert cost.dtype == paddle.float64
        fed |= {"image": RNG.random((COUNT, 1, 8, 8)), "numbers": RNG.random((COUNT, 13))}
        trained(cost, paddle.optimizer.Adam(), fed)
    finally:
        paddle.set_default_dtype("float32")


def all_of_them() -> None:
    paddle.enable_static()
    for program in (pictures, sentences, clicks, in_doubles):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            program()
