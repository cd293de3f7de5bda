"""Every mode with two trainers and two pservers, each a process: they learn, and end with one model."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import NETWORK, assert_same, run_job
from tests.marks import on_demand

pytestmark = pytest.mark.cluster

V2 = {
    "sync": "",
    "async": "is_async=True",
    "bounded staleness": "staleness=2",
    "average": "num_batches_per_send_parameter=5",
    "average, async": "num_batches_per_send_parameter=5, is_async=True",
    "elastic average": """num_batches_per_send_parameter=2,
        center_parameter_update_method="elastic_average", delta_add_rate=1.5""",
}

OFTEN = ("bounded staleness", "average", "elastic average")
"""The others are asked of programs of the documents, and of whole jobs."""

# A word has its vector in a sparse table; each trainer has words of its own.
TRAIN = """
import os
import numpy as np
import paddle.v2 as paddle

paddle.init()
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
NETWORK
trainer = paddle.trainer.SGD(
    cost, parameters, paddle.optimizer.AdaGrad(learning_rate=0.1, MODE), is_local=False)


def words(which):
    return [(each, each % 5) for each in range(40) if which is None or each % 2 == which]


costs = []


def handler(event):
    if isinstance(event, paddle.event.EndPass):
        costs.append(trainer.test(paddle.batch(lambda: iter(words(None)), 40)).cost)


# Trainer 1 has fewer batches, and waits for nobody at the end of a pass but with all.
mine = (words(me) * 10)[: 200 - 60 * me]
trainer.train(paddle.batch(lambda: iter(mine), 10), num_passes=6, event_handler=handler)
print("costs", *costs)
np.savez("after-%d.npz" % me, **{name: parameters.get(name) for name in parameters.keys()})
""".replace("NETWORK", NETWORK)

# Modes of later faces: the same exchange that they will use.
PLAIN = """
import os
import numpy as np
import paddle.v2 as paddle
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
mode = ModeSpec(MODE)
remote = RemoteExchange(
    ["127.0.0.1", "127.0.0.2"], port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1,
    ports_num_for_sparse=1, num_gradient_servers=2, trainer_id=me)
exchange = in_mode(remote, mode, 2)
model = (ParameterSpec(name="w", shape=(8,)), ParameterSpec(name="t", shape=(40, 8), sparse=True))
random = np.random.default_rng(0)
values = {p.name: random.standard_normal(p.shape).astype(np.float32) for p in model}
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.2), mode=mode)
arrays = exchange.start(model, update, values)
w, t = arrays["w"], arrays["t"]
costs = []
# Every row of t is to become its number minus w: of even ones trainer 0 knows, of odd ones trainer 1.
for pass_id in range(8):
    exchange.begin_pass(pass_id)
    for batch in range(20 - 6 * me):
        ids = (np.arange(4, dtype=np.int64) * 2 + 8 * batch + me) % 40
        exchange.prefetch({"t": ids})
        off = w + t[ids] - ids[:, None].astype(np.float32) / 40
        exchange.step({"w": off.mean(0), "t": SparseRows(ids, off, 40)}, samples=4)
    exchange.end_pass(pass_id)
    exchange.fetch()
    costs.append(float(((w + t - np.arange(40, dtype=np.float32)[:, None] / 40) ** 2).mean()))
exchange.close()
print("costs", *costs)
np.savez("after-%d.npz" % me, w=w, t=t)
"""
PLAIN_MODES = {
    "half async": 'name="half_async", max_merge_var_num=4, merge="mean"',
    "geo": 'name="geo", k_steps=5',
}


def train(folder: Path, text: str) -> list[list[float]]:
    """The costs that both trainers saw after each pass; every process ends by itself, and well."""
    return [
        [float(cost) for cost in re.findall(r"^costs (.*)$", output, re.MULTILINE)[0].split()]
        for output in run_job(folder, text)
    ]


def told(text: str, name: str) -> object:
    """The text of a job, and how often it is asked."""
    return (pytest.param if name in OFTEN else on_demand)(text, id=name)


@pytest.mark.parametrize("text", [
    *(told(TRAIN.replace("MODE", options), name) for name, options in V2.items()),
    *(pytest.param(PLAIN.replace("MODE", options), id=name) for name, options in PLAIN_MODES.items()),
])  # fmt: skip
def test_two_trainers_with_two_pservers_learn_what_each_knows_half_of(tmp_path: Path, text: str) -> None:
    for costs in train(tmp_path, text):
        assert costs[-1] < 0.5 * costs[0], costs
    first, second = (np.load(tmp_path / f"after-{i}.npz") for i in range(2))
    assert_same(first, second)
