"""fluid.Trainer and Inferencer: events, tests, parameters, checkpoints, and the role of the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument, MissingFile
from paddle.fluid import layers
from paddle.fluid.inferencer import Inferencer
from paddle.fluid.optimizer import SGD
from paddle.fluid.trainer import (
    BeginEpochEvent,
    BeginStepEvent,
    CheckpointConfig,
    EndEpochEvent,
    EndStepEvent,
    Trainer,
)

ORDER = ["x", "y"]


def predict() -> Any:
    return layers.fc(input=layers.data(name="x", shape=[3], dtype="float32"), size=1)


def loss() -> list[Any]:
    guess = predict()
    y = layers.data(name="y", shape=[1], dtype="float32")
    cost = layers.mean(layers.square_error_cost(input=guess, label=y))
    return [cost, layers.mean(guess)]


def reader() -> Any:
    random = np.random.default_rng(0)
    for _ in range(4):
        rows = random.standard_normal((5, 3)).astype(np.float32)
        yield [(row, row.sum(keepdims=True)) for row in rows]


def trainer(**more: Any) -> Trainer:
    return Trainer(train_func=loss, optimizer_func=lambda: SGD(learning_rate=0.1), **more)


def told(event: Any) -> tuple[Any, ...]:
    return (type(event), event.epoch, getattr(event, "step", None))


def test_events_come_in_order_and_a_step_is_counted_within_its_pass() -> None:
    events: list[Any] = []
    trainer().train(
        num_epochs=2, event_handler=lambda e: events.append(told(e)), reader=reader, feed_order=ORDER
    )
    steps = [(kind, 1, step) for step in range(4) for kind in (BeginStepEvent, EndStepEvent)]
    assert events[10:] == [(BeginEpochEvent, 1, None), *steps, (EndEpochEvent, 1, None)]


def test_metrics_are_arrays_of_all_outputs_and_none_where_nobody_asks() -> None:
    seen: list[Any] = []

    def handler(event: Any) -> None:
        if isinstance(event, BeginStepEvent):
            event.fetch_metrics = event.step != 1
        if isinstance(event, EndStepEvent):
            seen.append([each.shape for each in event.metrics])

    trainer().train(1, handler, reader, ORDER)
    assert seen == [[(1,), (1,)], [], [(1,), (1,)], [(1,), (1,)]]


def test_it_learns_stops_when_told_and_tests_by_the_mean_over_batches() -> None:
    made, steps = trainer(), []

    def handler(event: Any) -> None:
        if isinstance(event, EndStepEvent):
            steps.append(event.step)
            if len(steps) == 30:
                made.stop()

    before = made.test(reader=reader, feed_order=ORDER)
    made.train(num_epochs=100, event_handler=handler, reader=reader, feed_order={"x": 0, "y": 1})
    after = made.test(reader=reader, feed_order=ORDER)
    assert len(steps) == 30
    assert all(isinstance(each, float) for each in after)
    assert after[0] < 0.1 * before[0]


def test_an_output_with_a_row_of_each_sample_is_the_mean_of_first_rows() -> None:
    """As the original's; the last batch of a pass is smaller."""

    def network() -> list[Any]:
        x, y = layers.data(name="x", shape=[2]), layers.data(name="y", shape=[1])
        cost = layers.mean(layers.square_error_cost(input=layers.fc(input=x, size=1), label=y))
        return [cost, layers.scale(x, 2.0)]

    def uneven() -> Iterator[Any]:
        yield [([1.0, 2.0], [0.0]), ([9.0, 9.0], [0.0])]
        yield [([3.0, 6.0], [0.0])]

    made = Trainer(train_func=network, optimizer_func=lambda: SGD(learning_rate=0.1))
    cost, rows = made.test(reader=uneven, feed_order=ORDER)
    assert isinstance(cost, float) and cost.mean() == cost and f"{[cost]}" == f"[{float(cost)}]"
    assert rows.tolist() == [4.0, 8.0]


def test_what_was_saved_is_what_an_inferencer_computes_with(tmp_path: Path) -> None:
    made = trainer()
    made.train(3, lambda event: None, reader, ORDER)
    made.save_params(str(tmp_path / "model"))
    rows = np.ones((2, 3), np.float32)
    (found,) = Inferencer(infer_func=predict, param_path=str(tmp_path / "model")).infer({"x": rows})
    again = trainer(param_path=str(tmp_path / "model"))
    assert again.test(reader, ORDER) == made.test(reader, ORDER)
    assert found.shape == (2, 1)
    assert found[0] == found[1]


class Broken(Exception):
    pass


def test_a_trainer_of_a_cluster_that_has_a_folder_of_its_own_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"TRAINING_ROLE": "TRAINER", "TRAINER_ID": "1", "TRAINERS": "2", "PSERVER_IPS": "127.0.0.1"}
    for name, value in place.items():
        monkeypatch.setenv(f"PADDLE_{name}", value)
    monkeypatch.setenv("PADDLE_PSERVER_PORT", "6174")
    config = CheckpointConfig(str(tmp_path))
    trainer(checkpoint_config=config)
    assert config.load_serial is None
    (tmp_path / "checkpoint_4" / "trainer_1").mkdir(parents=True)
    with pytest.raises(MissingFile, match=r"trainer 1 has written checkpoint 4 in .* and trainer 0 none"):
        trainer(checkpoint_config=config)


@pytest.mark.parametrize(("breaks_after", "first"), [(0, (0, 1)), (5, (1, 2))])
def test_training_that_broke_off_goes_on_behind_its_youngest_checkpoint(
    tmp_path: Path, breaks_after: int, first: tuple[int, int]
) -> None:
    config = {"checkpoint_dir": str(tmp_path), "step_interval": 1}
    seen: list[Any] = []

    def breaking(event: Any) -> None:
        if isinstance(event, EndStepEvent) and 4 * event.epoch + event.step == breaks_after:
            raise Broken

    made = trainer(checkpoint_config=CheckpointConfig(**config))
    with pytest.raises(Broken):
        made.train(2, breaking, reader, ORDER)
    value = np.array(made.scope.find_var("fc_0.w_0").get_tensor())
    again = trainer(checkpoint_config=CheckpointConfig(**config))
    np.testing.assert_array_equal(np.array(again.scope.find_var("fc_0.w_0").get_tensor()), value)
    again.train(2, lambda e: seen.append(told(e)), reader, ORDER)
    assert next(each[1:] for each in seen if each[0] is BeginStepEvent) == first
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "value"), [("epoch_interval", 0), ("step_interval", -1)])
def test_intervals_that_never_come_are_refused(name: str, value: int) -> None:
    with pytest.raises(BadArgument, match=name):
        CheckpointConfig(**{name: value})


SERVER = {
    "PADDLE_TRAINING_ROLE": "PSERVER",
    "PADDLE_PSERVER_IPS": "10.0.0.1,10.0.0.2",
    "PADDLE_TRAINERS": "2",
    "PADDLE_CURRENT_IP": "10.0.0.2",
}


def test_a_trainer_of_a_cluster_has_a_program_that_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SERVER, "PADDLE_TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": "1"}.items():
        monkeypatch.setenv(name, value)
    made = trainer()
    ops = made.train_program.global_block().ops
    assert [op.type for op in ops][-1] == "fetch_barrier"
    assert ops[-1].attr("endpoints") == ["10.0.0.1:6174", "10.0.0.2:6174"]
    assert (made.trainer_id, made.train_program._carrier.cluster.trainers) == (1, 2)


def test_a_server_of_a_cluster_has_a_program_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SERVER.items():
        monkeypatch.setenv(name, value)
    made = trainer()
    (listens,) = made.train_program.global_block().ops
    assert (listens.type, listens.attr("endpoint")) == ("listen_and_serv", "10.0.0.2:6174")
    with pytest.raises(BadArgument, match="this process is a parameter server"):
        made.test(reader, ORDER)
    monkeypatch.setattr(made.exe, "run", lambda program: None)  # all trainers have left at once
    with pytest.raises(SystemExit, match=r"^0$"):  # what follows is written for trainers
        made.train(1, lambda event: None, reader, ORDER)


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"PADDLE_TRAINER_IPS": "10.0.0.1"}, NotInThisRelease, "collective training on GPUs"),
        ({"PADDLE_TRAINING_ROLE": "MASTER"}, ValueError, "PADDLE_TRAINING_ROLE is 'MASTER'"),
        ({"PADDLE_TRAINERS": ""}, ValueError, "PADDLE_TRAINERS is not set"),
        ({"PADDLE_CURRENT_IP": ""}, ValueError, "PADDLE_CURRENT_IP is not set"),
        ({"PADDLE_CURRENT_IP": "10.0.0.9"}, ValueError, "not in PADDLE_PSERVER_IPS"),
    ],
)
def test_a_role_that_cannot_be_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], kind: type[Exception], text: str
) -> None:
    for name, value in {**SERVER, **changes}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(kind, match=text):
        trainer()
