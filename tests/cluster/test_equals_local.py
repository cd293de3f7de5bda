"""Two trainers with two pservers end where one local trainer ends that sees their batches together."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import (
    HOSTS,
    assert_same,
    free_port,
    outputs_of_all_well,
    pserver,
    settings,
    trainer,
)

pytestmark = pytest.mark.cluster

RULES = {
    "sgd": "Momentum(momentum=0, **common)",
    "momentum": "Momentum(momentum=0.9, **common)",
    "sparse momentum": "Momentum(momentum=0.9, sparse=True, **common)",
    "adagrad": "AdaGrad(**common)",
    "decayed adagrad": "DecayedAdaGrad(**common)",
    "adadelta": "AdaDelta(**common)",
    "rmsprop": "RMSProp(**common)",
    "adam": "Adam(**common)",
    "adamax": "Adamax(**common)",
    "schedule and clipping": """Momentum(
        momentum=0.9, learning_rate_schedule="discexp", learning_rate_decay_a=0.5, learning_rate_decay_b=100,
        gradient_clipping_threshold=0.5, **common)""",
}

OFTEN = ("sparse momentum",)
"""Every rule is held to its formula, parts of a table to the whole, in tests/engine/rules/test_rules.py."""

TRAIN = """
import os
import numpy as np
import paddle.v2 as paddle

paddle.init()
local = "PADDLE_INIT_PSERVERS" not in os.environ
trainer_id = int(os.environ.get("PADDLE_INIT_TRAINER_ID", "0"))

# Two words to a third; the first has its vectors in a sparse table, the second in a dense one.
a, b, label = (
    paddle.layer.data(name=name, type=paddle.data_type.integer_value(50)) for name in ("a", "b", "label")
)
vectors = [
    paddle.layer.embedding(
        input=word,
        size=8,
        param_attr=paddle.attr.Param(name="_" + word.name, initial_std=0.3, sparse_update=word is a),
    )
    for word in (a, b)
]
context = paddle.layer.concat(input=vectors)
hidden = paddle.layer.fc(input=context, size=12, act=paddle.activation.Sigmoid())
predicted = paddle.layer.fc(input=hidden, size=50, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
before = {name: parameters.get(name).copy() for name in parameters.keys()}
common = dict(learning_rate=1e-2, regularization=paddle.optimizer.L2Regularization(8e-4))
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.RULE, is_local=local)
samples = np.random.RandomState(0).randint(0, 50, (400, 3)).tolist()


def batches():
    # Of 40 samples; the first 20 are trainer 0's.
    for begin in range(0, len(samples), 40):
        start = begin if local else begin + 20 * trainer_id
        yield [tuple(sample) for sample in samples[start : begin + 40 if local else start + 20]]


trainer.train(batches, num_passes=2)
after = {name: parameters.get(name) for name in parameters.keys()}
np.savez("after-%s.npz" % ("local" if local else trainer_id), **after)
if local:
    np.savez("before.npz", **before)
"""


Arrays = Mapping[str, np.ndarray]
HIDDEN = "hidden = paddle.layer.fc(input=context, size=12, "
BOUNDED = (
    HIDDEN
    + """
    param_attr=paddle.attr.Param(name="pruned", update_hooks=paddle.attr.Hook("pruning", 0.75)),
    layer_attr=paddle.attr.Extra(error_clipping_threshold=0.05),
    """
)


def trained(folder: Path, text: str, **of_trainer_1: str) -> tuple[Arrays, Arrays, Arrays, Arrays]:
    """Before, and after: locally, of trainer 0, of trainer 1."""
    port = free_port(HOSTS)
    shared = settings(HOSTS, port, 2)
    servers = [pserver(host, port, 2) for host in HOSTS]
    own: list[dict[str, str]] = [{}, of_trainer_1]
    trainers = [trainer(folder, text, PADDLE_INIT_TRAINER_ID=str(i), **shared, **own[i]) for i in range(2)]
    outputs_of_all_well([*trainers, trainer(folder, text), *servers])
    before, local, first, second = (
        np.load(folder / f"{name}.npz") for name in ("before", "after-local", "after-0", "after-1")
    )
    assert_same(first, second)
    return before, local, first, second


def assert_near(first: Arrays, local: Arrays) -> None:
    for name in local:
        worst = np.abs(first[name] - local[name]).max() / max(1.0, np.abs(local[name]).max())
        assert worst <= 1e-6, f"{name}: {worst} from the local run"


@pytest.mark.parametrize(
    "rule", [rule if rule in OFTEN else pytest.param(rule, marks=pytest.mark.thorough) for rule in RULES]
)
def test_sync_2x2_equals_the_local_run_on_the_concatenated_batches(tmp_path: Path, rule: str) -> None:
    before, local, first, _ = trained(tmp_path, TRAIN.replace("RULE", RULES[rule]))
    assert_near(first, local)
    for name in local:
        moved = np.abs(local[name] - before[name]).max()
        assert moved > 1e-4, f"{name} has not learned"


@pytest.mark.thorough  # of one process they are asked in tests/faces/v2
def test_sync_equals_local_where_a_parameter_is_pruned_and_errors_are_clipped(tmp_path: Path) -> None:
    """Trainer 1 would begin with other values: what is pruned is what trainer 0's say."""
    assert HIDDEN in TRAIN
    text = TRAIN.replace("RULE", RULES["adam"]).replace(HIDDEN, BOUNDED)
    before, local, first, _ = trained(tmp_path, text, PADDLE_INIT_SEED="7")
    assert_near(first, local)
    stays = local["pruned"] != 0
    assert stays.sum() == stays.size // 4
    assert np.abs(before["pruned"][stays]).min() > np.abs(before["pruned"][~stays]).max()
    assert (first["pruned"][~stays] == 0).all()
