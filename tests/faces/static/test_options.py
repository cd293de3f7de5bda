"""Arguments of 2.6.2 that are of other hardware, or of other layouts of images, and cells of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle._absent import NotInThisRelease
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

static, optimizer = paddle.static, paddle.optimizer
RNG = np.random.default_rng(8)


def _learned(made: Any) -> tuple[float, float]:
    """What three steps make of a weight of 0.5 and a bias of 0.25."""
    first = [nn.initializer.Constant(value) for value in (0.5, 0.25)]
    w, b = (
        paddle.create_parameter(shape, "float32", name, default_initializer=begins)
        for shape, name, begins in zip(([1, 2], [2]), "wb", first, strict=True)
    )
    made.minimize(paddle.mean(paddle.matmul(static.data("x", [2, 1]), w) * 2 + b))
    exe = static.Executor()
    exe.run(static.default_startup_program())
    for _ in range(3):
        exe.run(feed={"x": np.array([[1], [3]], "float32")})
    found = [np.asarray(static.global_scope().find_var(name).get_tensor()) for name in "wb"]
    return float(found[0].reshape(-1)[0]), float(found[1][0])


def _without_decay(parameter: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("made", "learned"),  # of the wheel
    [
        (lambda: optimizer.Adam(0.1, multi_precision=True, use_multi_tensor=True), (0.200001, -0.0499990)),
        (lambda: optimizer.Momentum(0.1, multi_precision=True), (-0.622, -0.0305)),
        (lambda: optimizer.AdamW(0.1, multi_precision=True), (0.1988024, -0.0504483)),
        (lambda: optimizer.SGD(0.1, multi_precision=True), (-0.1, 0.1)),
        (lambda: optimizer.Lamb(0.1, multi_precision=True), (0.3645, 0.18225)),
        (lambda: optimizer.Lamb(0.1, lamb_weight_decay=0.0), (0.2000012, -0.0499984)),
        (
            lambda: optimizer.Lamb(0.1, exclude_from_weight_decay_fn=_without_decay),
            (0.2000012, -0.0499984),
        ),
        (
            lambda: optimizer.Lamb(0.1, exclude_from_weight_decay_fn=_without_decay, always_adapt=True),
            (0.3645, 0.18225),
        ),
    ],
)
def test_of_an_optimizer(made: Any, learned: tuple[float, float]) -> None:
    assert _learned(made()) == pytest.approx(learned, abs=1e-5)


def test_what_is_of_other_hardware_is_said() -> None:
    with pytest.warns(UserWarning, match="rescale_grad=0.5.* changes nothing on CPUs"):
        made = optimizer.Momentum(0.1, rescale_grad=0.5)
    assert _learned(made) == pytest.approx((-0.622, -0.0305), abs=1e-5)
    with pytest.raises(NotInThisRelease, match="ParamAttr"):
        optimizer.AdamW(0.1, lr_ratio=lambda parameter: 0.5)


def test_an_input_says_if_a_gradient_goes_into_it() -> None:
    spec = static.InputSpec([None, 3], stop_gradient=True)
    assert spec.stop_gradient
    assert "stop_gradient=True" in repr(spec)
    assert spec != static.InputSpec([None, 3])
    assert not static.InputSpec.from_numpy(np.ones(2)).stop_gradient


@pytest.mark.parametrize(
    ("told", "deviation"),
    [
        ({}, (2 / 200) ** 0.5),
        ({"nonlinearity": "leaky_relu", "negative_slope": 1.0}, (1 / 200) ** 0.5),
        ({"nonlinearity": "tanh"}, 5 / 3 / 200**0.5),
        ({"fan_in": 50, "nonlinearity": "linear"}, (1 / 50) ** 0.5),
    ],
)
@pytest.mark.parametrize("kind", ["KaimingNormal", "KaimingUniform"])
def test_weights_begin_by_what_follows(kind: str, told: dict[str, Any], deviation: float) -> None:
    made = paddle.create_parameter(
        [200, 300], "float32", default_initializer=getattr(nn.initializer, kind)(**told)
    )
    static.Executor().run(static.default_startup_program())
    drawn = np.asarray(static.global_scope().find_var(made.name).get_tensor())
    assert drawn.std() == pytest.approx(deviation, rel=0.02)


def test_channels_that_come_last_are_dropped_and_bent_as_channels() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(2, 3, 4, 5)),), feed)
    slopes = np.arange(5, dtype="float32")
    bent = nn.PReLU(5, weight_attr=nn.initializer.Assign(slopes), data_format="NHWC")(x)
    dropped = nn.Dropout2D(0.5, data_format="NHWC")(x)
    found, gone = ran([bent, dropped], feed)
    value = feed[x.name]
    assert found == pytest.approx(np.where(value > 0, value, value * slopes), abs=1e-6)
    by_channel = (gone == 0).mean(axis=(1, 2))
    assert set(by_channel.reshape(-1).tolist()) == {0.0, 1.0}


class _Sum(nn.RNNCellBase):
    """Adds up what it sees, and says the sum of the step before."""

    @property
    def state_shape(self) -> Any:
        return ((2,), (2,))

    def forward(self, inputs: Any, states: Any) -> Any:
        before, _ = states
        return before, (before + inputs, inputs)


def test_a_cell_of_ones_own_says_what_its_states_are_like() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((RNG.normal(size=(3, 4, 2)),), feed)
    outputs, (total, last) = nn.RNN(_Sum())(x)
    made = nn.RNNCellBase().get_initial_states(x, [2, 3], init_value=2.0)
    seen, whole, end, begun = ran([outputs, total, last, made], feed)
    sums = np.cumsum(feed[x.name], axis=1)
    assert seen[:, 1:] == pytest.approx(sums[:, :-1], abs=1e-6)
    assert (seen[:, 0] == 0).all()
    assert whole == pytest.approx(sums[:, -1], abs=1e-6)
    assert end == pytest.approx(feed[x.name][:, -1])
    assert (begun == np.full((3, 2, 3), 2.0)).all()
    with pytest.raises(NotImplementedError, match="state_shape"):
        nn.RNNCellBase().get_initial_states(x)


def test_a_table_says_of_which_class_it_is() -> None:
    ids = static.data("ids", [-1, 1], "int64")
    assert static.nn.sparse_embedding(ids, [9, 3], table_class="CommonSparseTable", slot=6).shape == (-1, 3)
    with pytest.raises(ValueError, match="table_class is one of"):
        static.nn.sparse_embedding(ids, [9, 3], table_class="Other")


@pytest.mark.parametrize(
    ("mode", "in_numpy"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")]
)
def test_a_convolution_pads_with_what_an_image_has(mode: str, in_numpy: Any) -> None:
    image, kernel = RNG.normal(size=(5, 4)), RNG.normal(size=(3, 3))
    told = {"padding": 1, "padding_mode": mode, "weight_attr": nn.initializer.Assign(kernel[None, None])}
    feed: dict[str, np.ndarray] = {}
    x, y = data((image[None, None], image[None, :, :, None]), feed)
    any_size = paddle.static.data("any_size", [-1, 1, -1, -1])
    feed["any_size"] = feed[x.name]
    wanted = [nn.Conv2D(1, 1, 3, **told)(each) for each in (x, any_size)]
    wanted.append(nn.Conv2D(1, 1, 3, data_format="NHWC", **told)(y))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, in_numpy), (3, 3))
    for found in ran(wanted, feed):
        assert found.reshape(5, 4) == pytest.approx((windows * kernel).sum((2, 3)), abs=1e-5)


def test_such_a_padding_is_a_known_one_of_numbers() -> None:
    with pytest.raises(
        ValueError, match="padding_mode is zeros, reflect, replicate or circular, and not 'odd'"
    ):
        nn.Conv1D(1, 1, 3, padding_mode="odd")
    with pytest.raises(ValueError, match="'circular' takes one padding, or one for each axis, not 'SAME'"):
        nn.Conv2D(1, 1, 3, padding="SAME", padding_mode="circular")


def test_what_pads_is_known() -> None:
    with pytest.raises(ValueError, match="pad: mode is constant, reflect, replicate or circular, not 'edge'"):
        nn.functional.pad(static.data("x", [1, 1, 3, 4]), [1, 1, 1, 1], "edge")


def test_no_more_is_reflected_than_there_is() -> None:
    known, any_size = static.data("known", [-1, 1, 3, 4]), static.data("any_size", [-1, 1, -1, -1])
    with pytest.raises(ValueError, match="reflects at most 3 along an axis of 4, and is told 4"):
        nn.functional.pad(known, [4, 0, 0, 0], "reflect")
    padded = nn.functional.pad(any_size, [0, 0, 2, 0], "reflect")
    executor = static.Executor()
    image = np.arange(12, dtype="float32").reshape(1, 1, 3, 4)
    found = executor.run(feed={"any_size": image}, fetch_list=[padded])[0]
    assert found.tolist() == np.pad(image, ((0, 0), (0, 0), (2, 0), (0, 0)), "reflect").tolist()
    with pytest.raises(ValueError, match="reflects at most 1 along an axis of 2, and is told 2"):
        executor.run(feed={"any_size": image[:, :, :2]}, fetch_list=[padded])
