"""The word2vec language model on the fleet API: a word from the two before it, in step, on a share of all."""

import argparse
import os

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
import paddle.nn as nn

WORDS, WIDTH, HIDDEN, BATCH = 60, 8, 12, 16

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--first", type=int, default=0, help="the step to begin with")
parser.add_argument("--begin_from", default="", help="what another job has saved")
parser.add_argument("--save", default="", help="where worker 0 does at the end")
parser.add_argument("--ends_badly", type=int, default=-1, help="the worker that does")
parser.add_argument("--how", default="raise ValueError('there is no part-7')")
parser.add_argument("--before", default="step 10")
arguments = parser.parse_args()


def come_to(place):
    """Where a worker may end badly."""
    own = int(os.environ.get("PADDLE_TRAINER_ID", 0)) if os.environ.get("TRAINING_ROLE") == "TRAINER" else -2
    if (own, place) == (arguments.ends_badly, arguments.before):
        exec(arguments.how)


def grams(step):
    """A batch of all workers: what follows two words is a rule."""
    before = np.random.RandomState(step % 3).randint(0, WORDS, (BATCH, 2))
    return np.column_stack([before, before.sum(axis=1) % WORDS])


def share(rows):
    """A worker's own."""
    return rows[fleet.worker_index() :: fleet.worker_num()]


def net():
    words = [paddle.static.data("w%d" % i, [None, 1], "int64") for i in range(3)]
    table = nn.Embedding(WORDS, WIDTH, sparse=True, weight_attr=paddle.ParamAttr(name="words"))
    vectors = [paddle.reshape(table(word), [-1, WIDTH]) for word in words[:2]]
    hidden = paddle.tanh(nn.Linear(2 * WIDTH, HIDDEN)(paddle.concat(vectors, axis=1)))
    return words, paddle.mean(nn.functional.cross_entropy(nn.Linear(HIDDEN, WORDS)(hidden), words[2]))


paddle.enable_static()
come_to("init")
fleet.init()
paddle.seed(11)
words, loss = net()
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(paddle.optimizer.Adam(learning_rate=0.01), strategy).minimize(loss)

if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    come_to("init_worker")
    if arguments.begin_from:
        main = paddle.static.default_main_program()
        dense = [v for v in main.list_vars() if v.persistable and not v.name.startswith("words")]
        paddle.static.load_vars(exe, arguments.begin_from, main, [v for v in dense if v.name != "feed"])
        fleet.init_server(arguments.begin_from)  # where servers are no processes of this program
    fleet.init_worker()
    for step in range(arguments.first, arguments.steps):
        come_to("step %d" % step)
        rows = share(grams(step))
        (found,) = exe.run(
            feed={word.name: rows[:, i : i + 1] for i, word in enumerate(words)}, fetch_list=[loss]
        )
        print("loss %.9g" % np.mean(found), flush=True)
    if arguments.save and fleet.is_first_worker():
        fleet.save_persistables(exe, arguments.save)
    fleet.stop_worker()
