"""Layers know what is set on them; and what of both generations an optimizer is."""

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(2, 3)
        self.more = paddle.nn.LayerList([paddle.nn.Linear(3, 3), paddle.nn.Dropout(0.5)])
        self.scale = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(2.0))
        self.again = self.first
        self.note = "kept as it is"

    def forward(self, x):
        x = self.first(x)
        for layer in self.more:
            x = layer(x)
        return x * self.scale


@pytest.mark.usefixtures("alone")
def test_what_is_set_is_known_by_its_name():
    net = Net()
    names = ["scale", "first.weight", "first.bias", "more.0.weight", "more.0.bias"]
    assert [name for name, _ in net.named_parameters()] == names
    assert net.first.weight.name == "linear_0.w_0"
    assert net.full_name() == "net_0"
    assert sorted(net.state_dict()) == sorted([*names, "again.weight", "again.bias"])
    assert [type(layer).__name__ for layer in net.sublayers()] == ["Linear", "LayerList", "Linear", "Dropout"]
    assert not any(layer.training for layer in net.eval().sublayers(include_self=True))
    assert net.train().more[1].training
    del net.again
    assert not hasattr(net, "again")
    net.first = None
    assert [name for name, _ in net.named_parameters()] == ["scale", "more.0.weight", "more.0.bias"]
    with pytest.raises(KeyError, match="already"):
        net.add_parameter("note", None)
    with pytest.raises(TypeError, match="Layer"):
        net.add_sublayer("wrong", 3)


@pytest.mark.usefixtures("alone")
def test_a_state_is_put_where_its_names_say():
    net = Net()
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    others = sorted({*net.state_dict()} - {"first.bias"})
    with pytest.warns(UserWarning, match=rf"net_0.set_state_dict: the state has no .*{others[-1]}"):
        found = net.set_state_dict({"first.bias": np.arange(3, dtype=np.float32), "odd": np.zeros(1)})
    assert (sorted(found[0]), found[1]) == (others, ["odd"])  # as from 2.4 on
    held = paddle.static.global_scope().find_var(net.first.bias.name).get_tensor()
    assert np.array(held).tolist() == [0, 1, 2]
    assert net.set_state_dict(net.state_dict()) == ([], [])
    assert np.array(held).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"\[3\].*\[2\]"):
        net.set_state_dict({"first.bias": np.zeros(2)})


@pytest.mark.usefixtures("alone")
def test_hooks_see_what_goes_in_and_out():
    net, seen = paddle.nn.Linear(2, 2), []
    before = net.register_forward_pre_hook(lambda layer, inputs: seen.append("in"))
    net.register_forward_post_hook(lambda layer, inputs, output: paddle.sum(output))
    x = paddle.static.data("x", [None, 2])
    assert net(x).shape == (1,)
    before.remove()
    net(x)
    assert seen == ["in"]


def test_what_would_compute_at_once_says_so_by_name():
    assert paddle.in_dynamic_mode()
    for use in (
        lambda: paddle.nn.Linear(2, 2),
        lambda: paddle.static.data("x", [1]),
        lambda: paddle.zeros([2]),
    ):
        with pytest.raises(NotInThisRelease, match=r"enable_static\(\)"):
            use()


def test_an_optimizer_of_both_generations_takes_the_keywords_of_both():
    import paddle.v2 as v2

    assert isinstance(paddle.optimizer.Adam(learning_rate=1e-3, is_async=True), v2.optimizer.Adam)
    penalty = paddle.optimizer.L2Regularization(rate=0.1)
    assert isinstance(paddle.optimizer.Momentum(momentum=0, regularization=penalty), v2.optimizer.Momentum)
    assert type(paddle.optimizer.Adam(0.1)).__module__.startswith("paddle.optimizer")
    with pytest.raises(NotInThisRelease, match="minimize"):
        paddle.optimizer.SGD(0.1).step()


@pytest.mark.usefixtures("alone")
def test_a_seed_is_that_of_programs_made_later_too():
    drawn = []
    for _ in range(2):
        paddle.seed(3)
        main, startup = paddle.static.Program(), paddle.static.Program()
        scope = type(paddle.static.global_scope())()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            weight = paddle.nn.Linear(2, 2).weight
        paddle.static.Executor().run(startup, scope=scope)
        drawn.append(np.array(scope.find_var(weight.name).get_tensor()))
    assert np.array_equal(*drawn)


@pytest.mark.usefixtures("alone")
def test_an_entry_stands_in_the_program():
    ids = paddle.static.data("ids", [None, 1], "int64")
    paddle.static.nn.sparse_embedding(ids, [10, 2], entry=paddle.distributed.CountFilterEntry(5))
    (op,) = paddle.static.default_main_program().global_block().ops
    assert op.attr("entry") == "count_filter_entry:5"
    with pytest.raises(ValueError, match="0, 1"):
        paddle.distributed.ProbabilityEntry(1.5)
    with pytest.raises(ValueError, match="CountFilterEntry"):
        paddle.static.nn.sparse_embedding(ids, [10, 2], entry=3)


@pytest.mark.usefixtures("alone")
def test_the_slope_of_a_prelu_is_found_as_in_the_original():
    assert list(paddle.nn.PReLU(3).state_dict()) == ["_weight"]
