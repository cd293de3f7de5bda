"""Two trainers and two pservers, each a process, learn from words that nobody has counted before."""

from pathlib import Path

import numpy as np
import pytest

from tests.cluster.test_modes import train
from tests.marks import on_demand

pytestmark = pytest.mark.cluster

# Who likes what: users and films are names, their ids hashes of 64 bits. No dictionary is ever made.
TRAIN = """
import hashlib
import os
import numpy as np
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.entry import Entry
from paddle._engine.exchange import ModeSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN
from paddle._engine.scope import Scope
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
mode = ModeSpec(MODE)


def id_of(name):
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little", signed=True)


b = Builder()
label = b.data("label", (-1, 1))
entry = Entry() if mode.is_local else Entry("count", 2)
rows = RowsSpec(initial=RowInitial("uniform", -0.3, 0.3), entry=entry, seed=1)
found = []
for name in ("user", "film"):
    table = b.parameter(name, (OPEN, 4), Constant(0.0), sparse=True, rows=rows)
    found.append(b.op("lookup_table", {"is_sparse": True}, W=table, Ids=b.data(name + "s", (-1, 1), "int64")))
w = b.parameter("w", (8, 1), Constant(0.5))
line = b.op("mul", X=b.op("concat", {"axis": 1}, X=found), Y=w)
cost = b.op("reduce_mean", X=b.op("square", X=b.op("elementwise_sub", X=line, Y=label)))
test = b.program.clone(for_test=True)
pairs = append_backward(b.program, cost)
append_exchange(b.program, pairs)
scope = Scope()
initialize(b.program, scope, 0)
exchange = in_mode(RemoteExchange(
    os.environ["PADDLE_INIT_PSERVERS"].split(","), port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1,
    ports_num_for_sparse=1, num_gradient_servers=2, trainer_id=me), mode, 2)
update = UpdateSpec(rule=RuleSpec(name="adagrad"), schedule=ScheduleSpec(learning_rate=0.1), mode=mode)
specs = [parameter.spec for parameter, _ in pairs]
scope.bind(exchange.start(specs, update, {s.name: scope.get(s.name) for s in specs if not s.is_open}))
executor = Executor(scope, exchange)


def batch(pairs):
    users = np.array([[id_of("user %d" % u)] for u, _ in pairs])
    films = np.array([[id_of("film %d" % f)] for _, f in pairs])
    likes = np.array([[float(u % 3 == 0) + float(f % 2)] for u, f in pairs], np.float32)
    return {"users": users, "films": films, "label": likes}


everything = batch([(u, f) for u in range(30) for f in range(10)])
random = np.random.default_rng(me)
costs = []
for pass_id in range(6):
    exchange.begin_pass(pass_id)
    for _ in range(20 - 4 * me):  # trainer 1 has fewer batches
        pairs = [(2 * int(random.integers(15)) + me, int(random.integers(10))) for _ in range(16)]
        executor.run(b.program, batch(pairs), [])
    if me == 0 and not mode.is_local:
        exchange.shrink(3)
    exchange.end_pass(pass_id)
    exchange.fetch()
    costs.append(float(executor.run(test, everything, [cost])[0].reshape(())))
exported = {name: exchange.export(name) for name in ("user", "film")}
exchange.close()
alone = Scope()
alone.bind({"w": scope.get("w")})
for name, table in exported.items():
    alone.keep(name, table)
assert float(Executor(alone).run(test, everything, [cost])[0].reshape(())) == costs[-1]
print("costs", *costs)
ids = {name + " ids": table.ids for name, table in exported.items()}
np.savez("after-%d.npz" % me, w=scope.get("w"), **ids, **{n: t.values for n, t in exported.items()})
"""


MODES = [
    "",
    'name="async"',
    'name="ssp", staleness=2',
    'name="half_async", max_merge_var_num=3',
    'name="geo", k_steps=4',
    'name="average", k_steps=3',
]


OFTEN = (MODES[0], MODES[4])


@pytest.mark.parametrize("mode", [mode if mode in OFTEN else on_demand(mode) for mode in MODES])
def test_trainers_learn_from_ids_that_no_dictionary_has(tmp_path: Path, mode: str) -> None:
    for costs in train(tmp_path, TRAIN.replace("MODE", mode)):
        assert costs[-1] < 0.3 * costs[0], costs
    first, second = (np.load(tmp_path / f"after-{i}.npz") for i in range(2))
    assert len(first["user ids"]) == 30 and len(first["film ids"]) == 10
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=f"{name} differs between trainers")
