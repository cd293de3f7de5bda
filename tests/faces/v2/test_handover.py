"""Several trainers of one Parameters, in turns: each goes on from what the others made of them."""

import io

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module

ROWS = [(i % 6, [0.5 * (i % 3)]) for i in range(12)]


def network(name="out", sparse=False, tables=1):
    words = [
        paddle.layer.data(name=f"{name}_word{i}", type=paddle.data_type.integer_value(6))
        for i in range(tables)
    ]
    target = paddle.layer.data(name=f"{name}_target", type=paddle.data_type.dense_vector(1))
    vectors = [
        paddle.layer.embedding(
            input=word, size=4, param_attr=paddle.attr.Param(name=f"table{i}", sparse_update=sparse)
        )
        for i, word in enumerate(words)
    ]
    out = paddle.layer.fc(input=vectors, size=1, act=paddle.activation.Linear(), name=name)
    return paddle.layer.square_error_cost(input=out, label=target), out


def sgd(cost, parameters, momentum=0.0, **options):
    optimizer = paddle.optimizer.Momentum(learning_rate=0.01, momentum=momentum)
    return paddle.trainer.SGD(cost, parameters, optimizer, **options)


def batches():
    return iter([ROWS[:7], ROWS[7:]])


class Servers(LocalExchange):
    """Stands in for parameter servers, which hold values of their own: a table is right after ``fetch``."""

    def __init__(self):
        super().__init__()
        self.fetches, self.own, self.mirror = 0, {}, {}

    def start(self, parameters, update, values):
        self.own = super().start(parameters, update, values)
        tables = {p.name for p in parameters if p.sparse}
        self.mirror = {n: np.zeros_like(a) if n in tables else a for n, a in self.own.items()}
        return self.mirror

    def prefetch(self, rows):
        for name, ids in rows.items():
            self.mirror[name][ids] = self.own[name][ids]

    def fetch(self):
        self.fetches += 1
        for name, array in self.own.items():
            self.mirror[name][...] = array


@pytest.fixture
def remote(monkeypatch):
    made = []
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: made.append(Servers()) or made[-1])
    return made


def values(parameters):
    return {name: parameters[name] for name in parameters}


def test_trainers_in_turns_learn_what_one_alone_learns():
    cost, _ = network()
    alone, shared = paddle.parameters.create(cost), paddle.parameters.create(cost)
    one = sgd(cost, alone)
    first, second = sgd(cost, shared), sgd(cost, shared)
    for turn in (first, second, first, first, second):
        one.train(batches)
        turn.train(batches)
        for name, value in values(alone).items():
            np.testing.assert_array_equal(shared[name], value, err_msg=name)


def test_a_trainer_keeps_its_momentum_while_another_has_the_parameters():
    cost, _ = network()
    alone, shared = paddle.parameters.create(cost), paddle.parameters.create(cost)
    one, first = sgd(cost, alone, momentum=0.9), sgd(cost, shared, momentum=0.9)
    still = paddle.trainer.SGD(cost, shared, paddle.optimizer.Momentum(learning_rate=0.0))
    one.train(batches, num_passes=2)
    first.train(batches)
    still.train(batches)
    first.train(batches)
    for name, value in values(alone).items():
        np.testing.assert_array_equal(shared[name], value, err_msg=name)


def test_trainers_may_alternate_inside_a_pass_and_share_a_part():
    costs = [network("a")[0], network("b")[0]]
    parameters = paddle.parameters.create(costs)
    trainers = [sgd(cost, parameters) for cost in costs]
    seen = []

    def handler(event):
        if isinstance(event, paddle.event.EndIteration):
            table, other = parameters["table0"], parameters["_b.w0"]
            trainers[1].train(batches)
            assert not np.array_equal(parameters["table0"], table)
            assert not np.array_equal(parameters["_b.w0"], other)
            seen.append(parameters["_a.w0"])

    trainers[0].train(batches, event_handler=handler)
    assert not np.array_equal(*seen)
    result = trainers[0].test(batches).cost
    saved = io.BytesIO()
    parameters.to_tar(saved)
    saved.seek(0)
    read = paddle.parameters.Parameters.from_tar(saved)
    assert sgd(costs[0], read).test(batches).cost == result


def test_a_test_sees_what_another_trainer_learned():
    cost, out = network()
    parameters = paddle.parameters.create(cost)
    first, second = sgd(cost, parameters), sgd(cost, parameters)
    first.train(batches)
    before = first.test(batches).cost
    second.train(batches, num_passes=3)
    assert first.test(batches).cost == second.test(batches).cost < before
    assert paddle.infer(output_layer=out, parameters=parameters, input=[(0,)]).shape == (1, 1)


def test_a_local_trainer_takes_over_from_parameter_servers_and_they_cannot_take_back(remote):
    cost, _ = network(sparse=True)
    parameters = paddle.parameters.create(cost)
    far, near = sgd(cost, parameters, is_local=False), sgd(cost, parameters)
    far.train(batches)
    learned = values(parameters)
    assert near.test(batches).cost == far.test(batches).cost
    paused = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0))
    paused.train(batches)
    for name, value in learned.items():
        np.testing.assert_array_equal(parameters[name], value, err_msg=name)
    near.train(batches)
    assert far.test(batches).cost == near.test(batches).cost
    with pytest.raises(RuntimeError, match=r"another trainer has taken over the parameters table0, _out.w0"):
        far.train(batches)
    parameters["_out.w0"] = np.zeros((4, 1))  # they are local by now


def test_all_tables_are_brought_up_to_date_at_once(remote):
    cost, out = network(sparse=True, tables=3)
    parameters = paddle.parameters.create(cost)
    trainer = sgd(cost, parameters, is_local=False)
    trainer.train(lambda: iter([[(0, 1, 2, [1.0])]]))
    (servers,) = remote
    for use in (
        lambda: parameters.to_tar(io.BytesIO()),
        lambda: trainer.save_parameter_to_tar(io.BytesIO()),
        lambda: paddle.infer(output_layer=out, parameters=parameters, input=[(0, 1, 2)]),
        lambda: parameters["table1"],
    ):
        servers.fetches = 0
        use()
        assert servers.fetches == 1


def test_gradients_are_computed_where_the_exchange_has_room_for_them(remote, monkeypatch):
    places, given = {}, []

    def room(servers):
        places.update({name: np.empty_like(array) for name, array in servers.own.items()})
        return places

    def step(servers, gradients, samples, **told):
        given.append(gradients)
        return LocalExchange.step(servers, gradients, samples, **told)

    monkeypatch.setattr(Servers, "room", room)
    monkeypatch.setattr(Servers, "step", step)
    cost, _ = network()
    sgd(cost, paddle.parameters.create(cost), is_local=False).train(batches)
    assert len(given) == 2 and places
    assert all(gradients[name] is place for gradients in given for name, place in places.items())
