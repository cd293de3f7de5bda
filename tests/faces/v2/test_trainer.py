"""SGD: events, tests, logs and reports, and what it asks of whoever keeps the parameters."""

import gc
import io
import json
import logging
import os

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle import _blas
from paddle._absent import NotInThisRelease
from paddle._launch.environ import Reporter
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module


def network(sparse=False, **fc):
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(6))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(3))
    table = paddle.attr.Param(name="table", initial_std=0.5, sparse_update=sparse)
    vector = paddle.layer.embedding(input=word, size=4, param_attr=table)
    out = paddle.layer.fc(input=vector, size=3, act=paddle.activation.Softmax(), name="out", **fc)
    return paddle.layer.classification_cost(input=out, label=label)


def rows(n=10):
    return [(i % 6, i % 3) for i in range(n)]


def sgd(cost, parameters=None, is_local=True, **options):
    parameters = parameters or paddle.parameters.create(cost)
    optimizer = paddle.optimizer.Momentum(**{"learning_rate": 0.1, **options})
    return paddle.trainer.SGD(cost, parameters, optimizer, is_local=is_local), parameters


def batches(n=10, size=4):
    return paddle.batch(lambda: iter(rows(n)), size)


def test_events_come_in_the_documented_order():
    seen = []
    trainer, _ = sgd(network())
    trainer.train(batches(6, 3), num_passes=2, event_handler=seen.append)
    names = [type(event).__name__ for event in seen]
    batch = ["BeginIteration", "EndForwardBackward", "EndIteration"]
    assert names == ["BeginPass", *batch, *batch, "EndPass"] * 2
    assert [event.pass_id for event in seen] == [0] * 8 + [1] * 8
    assert [e.batch_id for e in seen if isinstance(e, paddle.event.EndIteration)] == [0, 1, 0, 1]
    for event in (seen[3], seen[-1], trainer.test(batches())):
        with pytest.raises(NotInThisRelease, match=r"event.evaluator"):
            _ = event.evaluator


def test_training_without_a_handler_lowers_the_cost():
    trainer, _ = sgd(network())
    before = trainer.test(batches()).cost
    trainer.train(batches(), num_passes=20)
    assert trainer.test(batches()).cost < before / 2


def test_a_test_learns_nothing_and_may_come_first():
    trainer, parameters = sgd(network())
    before = {name: parameters[name] for name in parameters}
    first, second = trainer.test(batches()), trainer.test(batches(10, 3))
    assert first.cost == pytest.approx(second.cost) and first.metrics == second.metrics
    assert all(np.array_equal(parameters[name], before[name]) for name in parameters)
    with pytest.raises(ValueError, match="yielded no batch"):
        trainer.test(lambda: iter([]))


def test_parameters_are_live_and_may_be_set_between_passes():
    trainer, parameters = sgd(network())
    trainer.train(batches())
    trained = parameters["_out.w0"]
    parameters["_out.w0"] = np.zeros((4, 3))
    parameters["_out.wbias"] = np.zeros((1, 3))
    assert trainer.test(batches()).cost == pytest.approx(np.log(3), rel=1e-5)
    trainer.train(batches())
    assert not np.array_equal(parameters["_out.w0"], trained) and parameters["_out.w0"].any()


def test_training_again_goes_on_where_it_ended():
    def trained(calls):
        trainer, parameters = sgd(network(), momentum=0.9)
        for passes in calls:
            trainer.train(batches(), num_passes=passes)
        return parameters["table"]

    np.testing.assert_array_equal(trained([4]), trained([1, 3]))


def test_static_parameters_stay_and_the_others_learn():
    trainer, parameters = sgd(network(param_attr=paddle.attr.Param(is_static=True)))
    before = {name: parameters[name] for name in parameters}
    trainer.train(batches())
    changed = {name: not np.array_equal(parameters[name], before[name]) for name in parameters}
    assert changed == {"table": True, "_out.w0": False, "_out.wbias": True}


def test_a_network_of_static_parameters_trains_and_changes_nothing():
    static = paddle.attr.Param(is_static=True)
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    out = paddle.layer.fc(input=x, size=1, param_attr=static, bias_attr=static)
    trainer, parameters = sgd(paddle.layer.sum_cost(input=out))
    before, seen = {name: parameters[name] for name in parameters}, []
    trainer.train(lambda: iter([[([1.0, 2.0],)]] * 2), num_passes=2, event_handler=seen.append)
    assert len({e.cost for e in seen if isinstance(e, paddle.event.EndIteration)}) == 1
    assert all(np.array_equal(parameters[name], before[name]) for name in parameters)


def test_a_pass_without_a_batch_is_told_once():
    trainer, _ = sgd(network())
    left = iter([rows()])
    with pytest.warns(RuntimeWarning, match="pass 1 had no batch") as told:
        trainer.train(lambda: left, num_passes=3)
    assert [one.filename for one in told if one.category is RuntimeWarning] == [__file__]


def test_dropout_drops_in_training_and_scales_in_a_test():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(200))
    dropped = paddle.layer.dropout(input=x, dropout_rate=0.25)
    zero = paddle.attr.Param(initial_std=0.0)
    out = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear(), param_attr=zero, bias_attr=False)
    costs = [paddle.layer.sum_cost(input=dropped), paddle.layer.sum_cost(input=out)]
    trainer, _ = sgd(costs, learning_rate=0.0)
    seen = []
    trainer.train(
        lambda: iter([[(np.ones(200),)] * 50] * 3),
        event_handler=lambda e: seen.append(e.cost) if isinstance(e, paddle.event.EndIteration) else None,
    )
    assert all(cost == pytest.approx(150, rel=0.03) and cost != 150 for cost in seen) and len(set(seen)) == 3
    assert trainer.test(lambda: iter([[(np.ones(200),)]])).cost == pytest.approx(150)


def test_two_trainers_drop_by_masks_of_their_own_and_one_by_the_same_ones_again():
    def costs(trainer_id):
        paddle.init(trainer_id=trainer_id, num_gradient_servers=2)
        x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(200))
        trainer, _ = sgd(paddle.layer.sum_cost(input=paddle.layer.dropout(input=x, dropout_rate=0.5)))
        seen = []
        trainer.train(
            lambda: iter([[(np.arange(200.0),)]] * 3),
            event_handler=lambda e: seen.append(e.cost) if isinstance(e, paddle.event.EndIteration) else None,
        )
        return seen

    first, second = costs(0), costs(1)
    assert set(first).isdisjoint(second)
    assert costs(0) == first and costs(1) == second


def test_the_sum_evaluator_and_weights_of_samples():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    weight = paddle.layer.data(name="weight", type=paddle.data_type.dense_vector(1))
    out = paddle.layer.fc(
        input=x, size=1, act=paddle.activation.Linear(), param_attr=paddle.attr.Param(name="w")
    )
    extra = x * 2
    plain = paddle.evaluator.sum(input=extra, name="plain")
    paddle.evaluator.sum(input=extra, name="weighted", weight=weight)
    cost = paddle.layer.sum_cost(input=out)
    optimizer = paddle.optimizer.Momentum()
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), optimizer, extra_layers=[extra, plain, weight]
    )
    data = [([1.0, 2.0], [0.5]), ([3.0, 4.0], [1.5])]
    metrics = trainer.test(lambda: iter([data[:1], data[1:]])).metrics
    assert metrics == pytest.approx({"plain": (6 + 14) / 2, "weighted": (6 * 0.5 + 14 * 1.5) / 2})


def test_metrics_weigh_batches_by_their_size():
    cost = network(bias_attr=False)
    trainer, parameters = sgd(cost)
    parameters["_out.w0"] = np.zeros((4, 3))  # all equal: class 0 is said
    result = trainer.test(paddle.batch(lambda: iter([(0, 0)] * 5 + [(0, 1)] * 2), 5))
    assert result.metrics["classification_error_evaluator"] == pytest.approx(2 / 7)


def test_saving_writes_what_is_trained(tmp_path):
    trainer, parameters = sgd(network(), momentum=0.9, regularization=paddle.optimizer.L2Regularization(0.01))
    trainer.train(batches())
    with open(tmp_path / "model.tar", "w") as f:  # noqa: PTH123  as the documents do
        trainer.save_parameter_to_tar(f)
    with open(tmp_path / "model.tar") as f:  # noqa: PTH123
        saved = paddle.parameters.Parameters.from_tar(f)
    assert all(np.array_equal(saved[name], parameters[name]) for name in parameters)
    assert (saved._pool.config("table").momentum, saved._pool.config("table").decay_rate) == (0.9, 0.01)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"reader": 3}, "the reader of train"),
        ({"reader": batches(), "event_handler": 3}, "the event_handler of train"),
        ({"reader": batches(), "feeding": {"word": 0}}, "says nothing of the data layers"),
        ({"reader": lambda: iter([[(1, 9)]])}, "row 0 of the batch, slot 'label'"),
    ],
)
def test_bad_arguments_of_train_are_named(arguments, error):
    with pytest.raises((TypeError, ValueError), match=error):
        sgd(network())[0].train(**arguments)


def test_parameters_of_another_network_are_refused():
    cost = network()
    optimizer = paddle.optimizer.Adam()
    side = paddle.layer.fc(input=cost, size=1, name="side", bias_attr=False)
    with pytest.raises(ValueError, match=r"has a parameter '_side.w0', and these Parameters have table"):
        paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, extra_layers=side)
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(5))
    other = paddle.layer.sum_cost(input=paddle.layer.fc(input=x, size=3, name="out"))
    parameters = paddle.parameters.create(paddle.layer.fc(input=x * 2, size=4, name="out"))
    with pytest.raises(ValueError, match=r"'_out.w0' has shape \(5, 3\) in the network and \(5, 4\)"):
        paddle.trainer.SGD(other, parameters, optimizer)


def test_the_newest_optimizer_is_noted():
    cost = network(param_attr=paddle.attr.Param(momentum=0.25))
    parameters = paddle.parameters.create(cost)
    for momentum in (0.9, 0.5):
        sgd(cost, parameters, momentum=momentum)
    assert [parameters._pool.config(name).momentum for name in parameters] == [0.5, 0.25, 0.5]
    sgd(cost, parameters)
    assert not parameters._pool.config("table").HasField("momentum")


def test_bad_arguments_of_sgd_are_named():
    cost = network()
    parameters, optimizer = paddle.parameters.create(cost), paddle.optimizer.Adam()
    with pytest.raises(TypeError, match="parameters come from"):
        paddle.trainer.SGD(cost, {}, optimizer)
    with pytest.raises(TypeError, match="update_equation is one of"):
        paddle.trainer.SGD(cost, parameters, "adam")
    with pytest.raises(ValueError, match="a network is made of layers"):
        paddle.trainer.SGD("cost", parameters, optimizer)


# What is told


def test_every_log_period_a_line_is_logged_and_one_at_the_end(caplog):
    paddle.init(log_period=2)
    trainer, _ = sgd(network())
    with caplog.at_level(logging.INFO, "paddle.trainer"):
        trainer.train(batches(10, 2))
    first, *lines = [each.getMessage() for each in caplog.records if each.name == "paddle.trainer"]
    assert first == f"trainer_count=1 BLAS in each of them: {_blas.loaded()}"
    assert [line.split(" AvgCost")[0] for line in lines] == [
        "Pass=0 Batch=2 samples=4",
        "Pass=0 Batch=4 samples=8",
        "Pass=0 ended: samples=10",
    ]
    assert all("classification_error_evaluator=" in line for line in lines)


def test_the_info_file_gets_these_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    logger = logging.getLogger("paddle.trainer")
    before = list(logger.handlers)
    try:
        paddle.init(log_period=1)
        sgd(network())[0].train(batches())
        assert "Pass=0 Batch=1 samples=4" in (tmp_path / "paddle_trainer.INFO").read_text()
    finally:
        for handler in set(logger.handlers) - set(before):
            logger.removeHandler(handler)
            handler.close()
        logger.propagate = True


def test_progress_is_reported_to_whoever_started_the_trainer(monkeypatch):
    read, write = os.pipe()
    monkeypatch.setattr(trainer_module, "reporter", lambda: Reporter(write, clock=iter(range(100)).__next__))
    sgd(network())[0].train(batches(6, 3))
    os.close(write)
    with open(read) as lines:  # noqa: PTH123
        reports = [json.loads(line) for line in lines]
    assert [(r["report"], r["pass_id"], r["batch_id"]) for r in reports] == [
        ("progress", 0, 0),
        ("progress", 0, 1),
    ]
    assert all(r["cost"] > 0 and r["samples_per_s"] > 0 for r in reports)


# What is asked of an exchange


class Recorded:
    """A LocalExchange that writes down what it is asked, as a stand-in for parameter servers."""

    def __init__(self):
        self.calls = []
        self._inner = LocalExchange()
        self.room = dict

    def start(self, parameters, update, values):
        self.calls.append("start")
        self.parameters, self.update = parameters, update
        return self._inner.start(parameters, update, values)

    def prefetch(self, rows):
        self.calls.append({name: sorted(set(ids.ravel().tolist())) for name, ids in rows.items()})

    def step(self, gradients, samples, **told):
        self.calls.append(f"step {samples}")
        return self._inner.step(gradients, samples, **told)

    def begin_pass(self, pass_id):
        self.calls.append(f"begin {pass_id}")

    def end_pass(self, pass_id):
        self.calls.append(f"end {pass_id}")

    def fetch(self):
        self.calls.append("fetch")

    def averages(self):
        self.calls.append("averages")

    def close(self, failure=None):
        self.calls.append(f"goodbye {failure}")


@pytest.fixture
def remote(monkeypatch):
    made = Recorded()
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: made)
    return made


def test_a_job_asks_its_exchange_in_order(remote):
    trainer, parameters = sgd(network(sparse=True), is_local=False)
    assert remote.calls == []
    trainer.train(batches(6, 4))
    assert remote.calls == [
        "start",
        "begin 0",
        {"table": [0, 1, 2, 3]},
        "step 4",
        {"table": [4, 5]},
        "step 2",
        "end 0",
    ]
    trainer.train(batches(4, 4), num_passes=2)
    assert [call for call in remote.calls if str(call)[:3] in ("sta", "beg")] == [
        "start",
        "begin 0",
        "begin 1",
        "begin 2",
    ]
    assert [(spec.name, spec.sparse) for spec in remote.parameters] == [
        ("table", True),
        ("_out.w0", False),
        ("_out.wbias", False),
    ]
    del remote.calls[:], trainer
    gc.collect()
    assert parameters["table"].any() and remote.calls == ["fetch"]
    del parameters
    gc.collect()
    assert remote.calls == ["fetch", "goodbye None"]


def test_all_rows_of_a_table_are_fetched_before_they_are_read(remote):
    trainer, parameters = sgd(network(sparse=True), is_local=False)
    trainer.train(batches())
    remote.calls.clear()
    assert parameters["_out.w0"].any() and remote.calls == []
    assert parameters["table"].any() and remote.calls == ["fetch"]
    trainer.save_parameter_to_tar(io.BytesIO())
    assert remote.calls == ["fetch"] * 2
    with pytest.raises(RuntimeError, match="lives on the parameter servers by now"):
        parameters["_out.w0"] = np.zeros((4, 3))
    remote.calls.clear()
    trainer.test(batches(3, 3))
    assert remote.calls == [{"table": [0, 1, 2]}]


def test_static_parameters_are_not_given_away(remote):
    trainer, _ = sgd(network(param_attr=paddle.attr.Param(is_static=True)), is_local=False)
    trainer.train(batches())
    assert [spec.name for spec in remote.parameters] == ["table", "_out.wbias"]


def test_own_rates_travel_with_their_parameters(remote):
    own = paddle.attr.Param(learning_rate=2.0, l2_rate=0.0, momentum=0.5, gradient_clipping_threshold=1.0)
    trainer, _ = sgd(network(param_attr=own), is_local=False, momentum=0.9)
    trainer.train(batches())
    weight, bias = remote.parameters[1:]
    assert (weight.learning_rate, weight.l2_rate, weight.momentum) == (2.0, 0.0, 0.5)
    assert weight.gradient_clipping_threshold == 1.0
    assert (bias.learning_rate, bias.l2_rate, bias.momentum, bias.l1_rate) == (1.0, None, None, None)
