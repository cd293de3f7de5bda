"""Wide and deep, on the fleet API: predicts clicks from numbers and words, on a cluster or on one machine.

On the nodes of conf.py, from the project, with --job_program=train_fleet.py behind
    python paddle.py --job_dispatch_package=workspace_template
On this machine: python -m paddle.distributed.launch --server_num=1 --worker_num=2 train_fleet.py
In one process:  python train_fleet.py
"""

import argparse

import clicks
import numpy as np

import paddle
import paddle.distributed.fleet as fleet
from paddle.nn import Embedding, Layer, Linear, ReLU, Sequential
from paddle.nn.functional import log_loss, sigmoid

WIDTH, HIDDEN = 8, 64


class WideDeep(Layer):
    """A line through the numbers, and a network over them and the vectors of all words, added up."""

    def __init__(self):
        super().__init__()
        self.wide = Linear(clicks.NUMBERS, 1)
        self.words = Embedding(clicks.TABLE_SIZE, WIDTH, sparse=True)
        into = clicks.SLOTS * WIDTH + clicks.NUMBERS
        self.deep = Sequential(
            Linear(into, HIDDEN), ReLU(), Linear(HIDDEN, HIDDEN), ReLU(), Linear(HIDDEN, 1)
        )

    def forward(self, numbers, slots):
        """The chance of a click."""
        vectors = [paddle.reshape(self.words(slot), [-1, WIDTH]) for slot in slots]
        return sigmoid(self.wide(numbers) + self.deep(paddle.concat([*vectors, numbers], axis=1)))


def network():
    """What is fed, the prediction, and its cost."""
    numbers = paddle.static.data("numbers", [None, clicks.NUMBERS], "float32")
    slots = [paddle.static.data(f"slot_{i}", [None, 1], "int64") for i in range(clicks.SLOTS)]
    label = paddle.static.data("label", [None, 1], "int64")
    predicted = WideDeep()(numbers, slots)
    cost = paddle.mean(log_loss(predicted, paddle.cast(label, "float32")))
    return [numbers, *slots, label], predicted, cost


def strategy_of(mode):
    """sync: a step waits for all; async: none waits; geo: workers meet every ten steps."""
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = mode != "sync"
    if mode == "geo":
        strategy.a_sync_configs = {"k_steps": 10}
    return strategy


def train(exe, feeds, cost, arguments):
    """Train on samples of this worker's own."""
    samples = clicks.reader(fleet.worker_index(), arguments.samples)
    loader = paddle.io.DataLoader.from_generator(feed_list=feeds, capacity=16, iterable=True)
    loader.set_sample_list_generator(paddle.batch(samples, arguments.batch_size), paddle.CPUPlace())
    for number in range(arguments.num_passes):
        costs = [exe.run(feed=batch, fetch_list=[cost])[0] for batch in loader()]
        print(f"pass {number}: cost {np.mean(costs):.4f}, at its end {np.mean(costs[-10:]):.4f}", flush=True)


def test(exe, program, feeds, predicted):
    """How well samples are ranked that nobody has trained on."""
    held = [clicks.sample(line) for line in clicks.lines(1_000_003, 2000)]
    columns = [np.array(column) for column in zip(*held, strict=True)]
    columns[0] = columns[0].astype("float32")
    fed = {feed.name: column for feed, column in zip(feeds, columns, strict=True)}
    (found,) = exe.run(program, feed=fed, fetch_list=[predicted])
    return clicks.area_under_curve(found[:, 0], columns[-1][:, 0])


def main():
    """Be a server, or train as a worker."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["sync", "async", "geo"], default="async")
    parser.add_argument("--num_passes", type=int, default=3)
    parser.add_argument("--samples", type=int, default=8000, help="of each worker")
    parser.add_argument("--batch_size", type=int, default=32)
    arguments = parser.parse_args()
    paddle.enable_static()
    fleet.init(is_collective=False)
    feeds, predicted, cost = network()
    tested = paddle.static.default_main_program().clone(for_test=True)
    optimizer = paddle.optimizer.SGD(learning_rate=0.1)
    fleet.distributed_optimizer(optimizer, strategy_of(arguments.mode)).minimize(cost)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    train(exe, feeds, cost, arguments)
    if fleet.is_first_worker():
        print(f"area under the curve: {test(exe, tested, feeds, predicted):.4f} (0.5 by chance)", flush=True)
        fleet.save_inference_model(exe, "output", [feed.name for feed in feeds[:-1]], [predicted])
    fleet.stop_worker()


if __name__ == "__main__":
    main()
