"""What programs of click-through rates ask besides: sums over runs, and who shows and clicks."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument


@pytest.mark.usefixtures("alone")
def test_sums_over_runs_are_those_of_all_samples() -> None:
    chance, label = (paddle.static.data(name, [-1, 1]) for name in ("chance", "label"))
    weight = paddle.static.data("weight", [-1, 1])
    sums = [*paddle.static.ctr_metric_bundle(chance, label)]
    sums += paddle.static.ctr_metric_bundle(chance, label, weight)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    rng = np.random.default_rng(1)
    runs = [(rng.random((size, 1)), rng.integers(0, 2, (size, 1))) for size in (3, 5)]
    for number, (p, y) in enumerate(runs):
        feed = {
            "chance": p.astype("float32"),
            "label": y.astype("float32"),
            "weight": np.full((len(p), 1), number, "float32"),
        }
        found = executor.run(feed=feed, fetch_list=sums)
    p, y = (np.concatenate(each) for each in zip(*runs, strict=True))
    last = 1 / (1 + np.exp(-runs[1][0]))
    errors = [np.square(p - y).sum(), np.abs(p - y).sum(), p.sum()]
    whole = [*errors, (1 / (1 + np.exp(-p))).sum(), y.sum(), 8]
    assert [float(each[0]) for each in found] == pytest.approx([*whole, *errors, last.sum(), y.sum(), 5])
    held = paddle.static.global_scope().find_var(sums[0].name).get_tensor()
    assert np.asarray(held) == pytest.approx(found[0])
    with pytest.raises(BadArgument, match="of one shape"):
        paddle.static.ctr_metric_bundle(chance, paddle.static.data("other", [-1, 2]))


@pytest.mark.usefixtures("alone")
def test_every_id_has_a_row_where_shows_and_clicks_are_told_of_and_that_none_is_counted_is_said() -> None:
    entry = paddle.distributed.ShowClickEntry("show", "click")
    assert entry._to_attr() == "show_click_entry:show:click"
    with pytest.raises(ValueError, match="must be a str"):
        paddle.distributed.ShowClickEntry("show", 1)
    ids = paddle.static.data("ids", [-1, 1], "int64")
    with pytest.warns(UserWarning, match="what 'show' and 'click' say is not counted") as told:
        rows = paddle.static.nn.sparse_embedding(ids, [10, 4], entry=entry)
    assert [each.filename for each in told if each.category is UserWarning] == [__file__]
    paddle.optimizer.SGD(0.1).minimize(paddle.mean(rows))
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    first, then = (executor.run(feed={"ids": [[2**40], [7]]}, fetch_list=[rows])[0] for _ in range(2))
    assert then == pytest.approx(first - 0.1 / 8)


def test_a_worker_knows_its_number_and_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS"):
        monkeypatch.delenv(name, raising=False)
    assert (paddle.distributed.get_rank(), paddle.distributed.get_world_size()) == (0, 1)
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    told = paddle.distributed.ParallelEnv()
    assert told.dev_id == told.device_id == 0
    assert (told.rank, told.world_size, told.current_endpoint) == (1, 2, "b:2")
    group = paddle.distributed.new_group([0, 1])
    assert (paddle.distributed.get_rank(group), paddle.distributed.get_world_size(group)) == (1, 2)
    assert repr(paddle.distributed.new_group([0])).startswith("rank: -1, nranks: 1, id: ")
    with pytest.raises(NotInThisRelease, match=r"all_reduce among 2 workers .* fleet\.util\.all_reduce"):
        paddle.distributed.all_reduce(None)
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "two")
    with pytest.raises(ValueError, match="PADDLE_TRAINERS_NUM is a whole number, and not 'two'"):
        paddle.distributed.get_world_size()


def test_what_is_at_home_elsewhere_is_found_where_the_original_has_it() -> None:
    assert paddle.tensor.concat is paddle.concat
    assert paddle.nn.layer.Sigmoid is paddle.nn.Sigmoid
    assert paddle.nn.loss.CrossEntropyLoss is paddle.nn.CrossEntropyLoss
    assert paddle.framework.core is paddle.fluid.core
    assert paddle.static.nn.create_parameter is paddle.create_parameter
    assert paddle.static.nn.continuous_value_model is paddle.fluid.layers.continuous_value_model
    assert paddle.static.io.save is paddle.static.save
    assert import_module("paddle.tensor.einsum").einsum is paddle.tensor.einsum is paddle.einsum
    for module in (paddle.tensor, paddle.nn.layer, paddle.framework):
        with pytest.raises(AttributeError, match="nowhere does not exist"):
            module.nowhere  # noqa: B018
