"""What parameter servers hear when a trainer leaves: an orderly goodbye, or the error that ended it."""

import gc
import io

import pytest

import paddle.v2 as paddle
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module

GOODBYES = []


class Servers(LocalExchange):
    """Stands in for parameter servers and writes goodbyes down."""

    def close(self, failure=None):
        GOODBYES.append(failure)


@pytest.fixture(autouse=True)
def remote(monkeypatch):
    GOODBYES.clear()
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: Servers())


def batches():
    return iter([[([1.0, 2.0], [3.0])]] * 2)


def raising(error, *arguments):
    def handler(event):
        if isinstance(event, paddle.event.EndIteration):
            raise error(*arguments)

    return handler


def made(is_local=False):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.mse_cost(input=paddle.layer.fc(input=x, size=1), label=y)
    optimizer = paddle.optimizer.Momentum()
    return paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, is_local=is_local)


def goodbyes(program, **where):
    """What is said when ``program(trainer)`` has ended, by an error or not, and the trainer is gone."""
    try:
        program(made(**where))
    except BaseException as error:
        del error
    gc.collect()
    return GOODBYES


def save(trainer):
    trainer.save_parameter_to_tar(io.BytesIO())


def test_a_trainer_that_trained_leaves_in_order_once_and_one_that_did_not_has_nothing_to_say():
    assert goodbyes(lambda trainer: trainer.test(batches)) == []
    assert goodbyes(lambda trainer: (trainer.train(batches), trainer.train(batches))) == [None]


@pytest.mark.parametrize(
    ("error", "goodbye"),
    [
        ((SystemExit, 0), None),
        ((SystemExit,), None),
        ((SystemExit, 3), "SystemExit: 3"),
        ((SystemExit, "no data"), "SystemExit: no data"),
        ((KeyboardInterrupt,), "KeyboardInterrupt"),
        ((OSError, "disk full"), "OSError: disk full"),
    ],
)
def test_an_error_in_training_is_told_but_leaving_with_status_0_is_none(error, goodbye):
    assert goodbyes(lambda trainer: trainer.train(batches, event_handler=raising(*error))) == [goodbye]


@pytest.mark.parametrize(
    "use",
    [lambda trainer: trainer.train(batches), lambda trainer: trainer.test(batches), save],
    ids=["train", "test", "save"],
)
def test_an_error_that_the_program_overcomes_is_not_told(use):
    def program(trainer):
        with pytest.raises(OSError, match="disk full"):
            trainer.train(batches, event_handler=raising(OSError, "disk full"))
        use(trainer)

    assert goodbyes(program) == [None]


def test_an_error_that_the_program_only_catches_is_told():
    def program(trainer):
        with pytest.raises(OSError, match="disk full"):
            trainer.train(batches, event_handler=raising(OSError, "disk full"))

    assert goodbyes(program) == ["OSError: disk full"]


def test_an_error_on_its_way_is_told_though_the_program_still_saves():
    def program(trainer):
        try:
            trainer.train(batches, event_handler=raising(OSError, "disk full"))
        finally:
            save(trainer)

    assert goodbyes(program) == ["OSError: disk full"]


def test_a_local_error_is_told_to_nobody(capfd):
    assert goodbyes(lambda t: t.train(batches, event_handler=raising(OSError)), is_local=True) == []
    assert capfd.readouterr() == ("", "")


def test_one_that_cannot_start_says_why(monkeypatch):
    def refused(self, *declared):
        raise ValueError("no such port")

    monkeypatch.setattr(Servers, "start", refused)
    assert goodbyes(lambda trainer: trainer.train(batches)) == ["ValueError: no such port"]
