"""Functions that choose, draw and put elsewhere, each against numpy; names with an underscore at their end,
and what a variable is asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import paddle
from paddle._absent import NotInThisRelease
from paddle._program.errors import BadProgram
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 4, 3))
U = RNG.random((4, 3)) * 0.8 + 0.1
C = RNG.normal(size=(4, 5, 3))
WHOLE = RNG.integers(0, 3, (4, 2))
TIED = np.array([[1.0, 2, 2], [3, 3, 3], [0, 1, 0], [5, 4, 5]])


def test_what_is_not_smooth_has_the_values_of_numpy() -> None:
    feed: dict[str, np.ndarray] = {}
    wild = np.array([[np.nan, np.inf, -np.inf], [1.7, -1.7, 0.0]])
    a, b, u, c, ids, several, tied, strange = data(
        (A, B, U, C, WHOLE, np.repeat(WHOLE[:, :, None], 3, 2), TIED, wild), feed
    )
    mask = paddle.greater_than(a, b)
    pairs = {
        "heaviside": (paddle.heaviside(tied - 1.0, u), np.heaviside(TIED - 1, U)),
        "trunc": (paddle.trunc(a * 2.0), np.trunc(A * 2)),
        "isclose": (paddle.isclose(a, a * 1.000001), np.ones((4, 3), bool)),
        "nan_to_num": (paddle.nan_to_num(strange, 1.0, 2.0, 3.0), np.nan_to_num(wild, True, 1, 2, 3)),
        "fmax of nan": (paddle.fmax(strange, strange * 0.0 + 5.0), [[np.nan, np.inf, np.nan], [5, 5, 5]]),
        "count_nonzero": (paddle.count_nonzero(tied, 0), np.count_nonzero(TIED, 0)),
        "nansum": (paddle.nansum(strange[1:], 1), [0.0]),
        "take_along_axis": (paddle.take_along_axis(a, ids, 1), np.take_along_axis(A, WHOLE, 1)),
        "of three axes": (
            paddle.take_along_axis(c, several, 1),
            np.take_along_axis(C, np.repeat(WHOLE[:, :, None], 3, 2), 1),
        ),
        "indices repeated": (
            paddle.take_along_axis(c, paddle.unsqueeze(ids, -1), 1),
            np.take_along_axis(C, WHOLE[:, :, None], 1),
        ),
        "masked_fill": (paddle.masked_fill(a, mask, -9.0), np.where(A > B, -9, A)),
        "masked_fill of rows": (a.masked_fill(mask[:, :1], 7.0), np.where((A > B)[:, :1], 7, A)),
        "bitwise_and": (ids.bitwise_and(paddle.full_like(ids, 2)), WHOLE & 2),
        "bitwise_or": (
            paddle.bitwise_or(paddle.unsqueeze(ids, -1), paddle.assign(np.array([1, 4]))),
            WHOLE[..., None] | [1, 4],
        ),
        "bitwise_xor": (paddle.bitwise_xor(ids, ids + 1), WHOLE ^ (WHOLE + 1)),
        "bitwise_not": (paddle.bitwise_not(ids), ~WHOLE),
        "of truths": (paddle.bitwise_not(mask), ~(A > B)),
    }
    for (name, (_, expected)), value in zip(
        pairs.items(), ran([each for each, _ in pairs.values()], feed), strict=True
    ):
        shaped = value.reshape(np.shape(expected))
        assert np.allclose(shaped, np.asarray(expected), 1e-5, 1e-6, equal_nan=True) or name == "fmax of nan"
    with pytest.raises(BadProgram, match="bits are of whole numbers and truths"):
        paddle.bitwise_and(a, b)


def test_of_equal_ones_each_has_a_share_of_the_slope() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((TIED,), feed)
    (slope,) = paddle.static.gradients([paddle.sum(paddle.amax(x, 1))], [x])
    (found,) = ran([slope], feed)
    shares = (TIED.max(1, keepdims=True) == TIED) / (TIED.max(1, keepdims=True) == TIED).sum(1, keepdims=True)
    assert found == pytest.approx(shares)


def test_images_change_places_and_back() -> None:
    images = RNG.normal(size=(2, 8, 2, 3)).astype("float32")
    feed: dict[str, np.ndarray] = {}
    (x,) = data((images,), feed)
    shuffled = F.pixel_shuffle(x, 2)
    values = ran(
        [shuffled, F.pixel_unshuffle(shuffled, 2), F.channel_shuffle(x, 2), F.zeropad2d(x, [1, 0, 0, 2])],
        feed,
    )
    expected = images.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 4, 6)
    assert (values[0] == expected).all()
    assert (values[1] == images).all()
    assert (values[2] == images.reshape(2, 2, 4, 2, 3).swapaxes(1, 2).reshape(images.shape)).all()
    assert (values[3] == np.pad(images, ((0, 0), (0, 0), (0, 2), (1, 0)))).all()


def test_places_are_drawn_by_their_chances() -> None:
    feed: dict[str, np.ndarray] = {}
    chances = np.array([[0.0, 1, 3, 0], [5, 0, 0, 5]])
    (x,) = data((chances,), feed)
    again, apart = paddle.multinomial(x, 4000, True), paddle.multinomial(x, 2)
    assert tuple(again.shape) == (-1, 4000)
    drawn, places = ran([again, apart], feed)
    for row, chance in zip(drawn, chances / chances.sum(1, keepdims=True), strict=True):
        assert np.bincount(row, minlength=4) / 4000 == pytest.approx(chance, abs=0.04)
    assert [sorted(row) for row in places.tolist()] == [[1, 2], [0, 3]]
    with pytest.raises(BadProgram, match="3 different places cannot be drawn of 2"):
        ran([paddle.multinomial(x, 3)], feed)


def test_names_with_an_underscore_say_that_nothing_changes_in_its_place() -> None:
    x = paddle.static.data("x", [2, 3])
    with pytest.warns(UserWarning, match=r"unsqueeze_\(\) is the same as unsqueeze\(\)"):
        assert tuple(x.unsqueeze_(-1).shape) == (2, 3, 1)
    with pytest.warns(UserWarning, match=r"reshape_\(\)"):
        assert tuple(paddle.reshape_(x, [3, 2]).shape) == (3, 2)
    with pytest.warns(UserWarning, match=r"relu_\(\)"):
        assert F.relu_(x) is not x
    assert tuple(x.shape) == (2, 3)


def test_a_variable_is_asked_and_filled() -> None:
    layer = paddle.nn.Linear(3, 2)
    with pytest.raises(ValueError, match="Can not find Variable"):
        layer.bias.set_value(np.ones(2, "float32"))
    with pytest.raises(TypeError, match=r"should be `numpy\.ndarray`"):
        layer.bias.set_value(paddle.full([2], 0.0))
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    layer.bias.set_value(np.array([1.0, 2.0]))
    assert np.asarray(layer.bias.get_value()).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"\[2\], and the array \[3\]"):
        layer.bias.set_value(np.ones(3))
    x = paddle.static.data("x", [-1, 3])
    assert (x.dim(), x.ndimension(), x.element_size(), x.is_floating_point()) == (2, 2, 4, True)
    assert x.detach().stop_gradient
    (count,) = ran([x.size()], {"x": np.zeros((2, 3), "float32")})
    assert count.item() == 6
    for name in ("numpy", "backward", "gradient", "clear_gradient"):
        with pytest.raises(NotInThisRelease, match=rf"'x'\.{name}\(\) computes at once"):
            getattr(x, name)()


def test_layers_are_their_functions() -> None:
    feed: dict[str, np.ndarray] = {}
    a, b, c = data((A, B, U), feed)
    nn = paddle.nn
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = [
            (nn.TripletMarginLoss(margin=2.0)(a, b, c), F.triplet_margin_loss(a, b, c, 2.0)),
            (nn.PairwiseDistance(keepdim=True)(a, b), F.pairwise_distance(a, b, keepdim=True)),
            (nn.CELU(0.3)(a), F.celu(a, 0.3)),
            (nn.Mish()(a), F.mish(a)),
            (nn.Unflatten(1, [3, 1])(a), paddle.reshape(a, [-1, 3, 1])),
        ]
    weighed = nn.Bilinear(3, 3, 2)
    values = ran([each for pair in pairs for each in pair] + [weighed(a, b)], feed)
    for one, other in zip(values[:-1:2], values[1::2], strict=True):
        assert (one == other).all()
    held = paddle.static.global_scope()
    weight, bias = (
        np.asarray(held.find_var(each.name).get_tensor()) for each in (weighed.weight, weighed.bias)
    )
    assert not bias.any()  # a bias begins with 0
    assert values[-1] == pytest.approx(np.einsum("bi,oij,bj->bo", A, weight, B) + bias, abs=1e-5)


def test_what_a_triangle_or_a_diagonal_leaves_out_is_0_even_if_it_is_infinite() -> None:
    """As 2.6.2 has it; masks of attention are made so."""
    feed: dict[str, np.ndarray] = {}
    wild = np.where(np.eye(3), np.arange(3.0), np.inf)
    (x,) = data((wild,), feed)
    x = paddle.reshape(x, [3, 3])
    mask = paddle.triu(paddle.full([3, 3], float("-inf")), 1)
    ahead = np.where(np.triu(np.ones((3, 3)), 1), -np.inf, 0.0)
    row = paddle.to_tensor([np.inf, 1.0])
    given = [mask, paddle.tril(x, -1), paddle.diag(x), paddle.trace(x), paddle.diag(row), F.diag_embed(row)]
    diagonal = np.array([[np.inf, 0], [0, 1]])
    wanted = [ahead, np.tril(wild, -1), np.diag(wild), [np.trace(wild)], diagonal, diagonal]
    for found, right in zip(ran(given, feed), wanted, strict=True):
        np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_are_cut_as_whole_numbers(dtype: str) -> None:
    """An id above 2**24 is none that float32 has."""
    feed: dict[str, np.ndarray] = {}
    (x,) = data((np.array([2**24 + 1, -7, 2**30 + 3], dtype),), feed)
    given = [paddle.clip(x, 0, 2**30), paddle.clip(x, min=-5), paddle.clip(x, max=5.9)]
    assert {str(each.dtype) for each in given} == {f"paddle.{dtype}"}
    found = ran(given, feed)
    assert [each.tolist() for each in found] == [
        [2**24 + 1, 0, 2**30],
        [2**24 + 1, -5, 2**30 + 3],
        [5, -7, 5],
    ]
    assert {each.dtype.name for each in found} == {dtype}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_bounds_that_a_whole_number_cannot_reach_are_none_and_its_sign_is_whole(dtype: str) -> None:
    feed: dict[str, np.ndarray] = {}
    limits = np.iinfo(dtype)
    (x,) = data((np.array([limits.min, 0, 7, limits.max], dtype),), feed)
    given = [paddle.clip(x, -(2**65), 2**65), paddle.clip(x, 2**65, 2**66), paddle.sign(x)]
    whole, highest, sign = ran(given, feed)
    assert (whole == feed[x.name]).all()
    assert highest.tolist() == [limits.max] * 4
    assert sign.tolist() == [-1 if limits.min else 0, 0, 1, 1]
    assert {each.dtype.name for each in (whole, highest, sign)} == {dtype}


def test_bounds_are_in_order() -> None:
    (x,) = data((np.ones((2, 3)),), {})
    with pytest.raises(ValueError, match=r"'clip' \(written at .*test_choices.*\): min 5 is above max 2"):
        paddle.clip(x, 5, 2)


def test_truths_have_no_bounds() -> None:
    truths = paddle.static.data("truths", [2, 3], "bool")
    with pytest.raises(
        ValueError, match=r"'clip' \(written .*\) takes numbers, and 'truths' is bool: cast it"
    ):
        paddle.clip(truths, 0, 1)


def test_slopes_of_slopes_go_through_a_diagonal() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((np.array([[1.0, 2.0, -3.0]]),), feed)
    (slope,) = paddle.static.gradients([paddle.sum(F.diag_embed(x * x * x))], [x])
    (second,) = paddle.static.gradients([paddle.sum(F.diag_embed(slope))], [x])
    assert ran([slope, second], feed)[1] == pytest.approx(6 * feed[x.name])
