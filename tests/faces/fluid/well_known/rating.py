"""What people think of things, by tables of both: rows of gradients, biases of each, cosines; read by
py_reader, by a DataLoader and by a PyReader, which are to give the same costs."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle
import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
PEOPLE, THINGS, KINDS, WIDTH, SAMPLES, BATCH = 20, 25, 10, 8, 40, 10


def _rows(ids: Any, count: int, width: int, name: str) -> Any:
    return layers.embedding(ids, [count, width], is_sparse=True, param_attr=name)


def network(who: Any, what: Any, kinds: Any, rating: Any) -> Any:
    """The cost."""
    kind = layers.sequence_pool(_rows(kinds, KINDS, WIDTH, "kind_rows"), "sum")
    thing = layers.concat([_rows(what, THINGS, WIDTH, "thing_rows"), kind], axis=1)
    one = layers.fc(_rows(who, PEOPLE, WIDTH, "people_rows"), 12, act="tanh", param_attr="one")
    other = layers.fc(thing, 12, act="tanh", param_attr="other")
    bias = layers.elementwise_add(_rows(who, PEOPLE, 1, "who_bias"), _rows(what, THINGS, 1, "what_bias"))
    meant = layers.elementwise_add(layers.scale(layers.cos_sim(X=one, Y=other), scale=5.0), bias)
    return layers.mean(layers.square_error_cost(input=meant, label=rating))


def samples() -> Any:
    """Who rates what, of which kinds, and how."""
    draw = np.random.RandomState(6)
    for _ in range(SAMPLES):
        kinds = draw.randint(0, KINDS, draw.randint(1, 4)).tolist()
        yield draw.randint(0, PEOPLE), draw.randint(0, THINGS), kinds, float(draw.randint(1, 6))


def _data() -> list[Any]:
    ids = [layers.data(name, [1], dtype="int64") for name in ("who", "what")]
    return [*ids, layers.data("kinds", [1], dtype="int64", lod_level=1), layers.data("rating", [1])]


def _queue() -> tuple[Any, Any]:
    dtypes, shapes = ["int64", "int64", "int64", "float32"], [(-1, 1)] * 4
    reader = layers.py_reader(8, shapes, dtypes, lod_levels=[0, 0, 1, 0], name="ratings")
    return reader, layers.read_file(reader)


def _trained(kind: str, passes: int) -> list[float]:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        if kind == "queue":
            reader, data = _queue()
        else:
            data = _data()
            reader = (
                fluid.io.DataLoader.from_generator(feed_list=data, capacity=8, iterable=True)
                if kind == "loader"
                else fluid.io.PyReader(feed_list=data, capacity=8, iterable=True)
            )
        cost = network(*data)
        fluid.optimizer.Adagrad(0.2).minimize(cost)
    exe, batches = fluid.Executor(fluid.CPUPlace()), paddle.batch(samples, batch_size=BATCH)
    exe.run(startup)
    begin(main, 0.2)
    if kind != "queue":
        read = reader.set_sample_list_generator if kind == "loader" else reader.decorate_sample_list_generator
        read(batches, places=fluid.CPUPlace())
        return [number(exe.run(main, data, [cost])[0]) for _ in range(passes) for data in reader()]
    reader.decorate_paddle_reader(batches)
    found = []
    for _ in range(passes):
        reader.start()
        try:
            while True:
                found.append(number(exe.run(main, fetch_list=[cost.name])[0]))
        except fluid.core.EOFException:
            reader.reset()
    return found


def costs(steps: int) -> list[float]:
    """Of each step by a py_reader, and last the sums by the other two."""
    passes = -(-steps * BATCH // SAMPLES)
    found = _trained("queue", passes)
    return [*found, sum(_trained("loader", passes)), sum(_trained("reader", passes))]
