"""Distributions against SciPy's, how far two are apart against sums and integrals, and transforms against
their numerical slopes. Beforehand all were held to the wheel of 2.6.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle import distribution as D  # noqa: N812
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import Case, hold

stats = pytest.importorskip("scipy.stats")
pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(4)
LOC, SCALE = RNG.normal(size=(2, 3)), RNG.random((2, 3)) + 0.5
SHARE, OTHER = RNG.random((2, 3)) * 0.8 + 0.1, RNG.random((2, 3)) * 0.8 + 0.1
VALUE = RNG.random((2, 3)) * 0.8 + 0.1
COUNTS = np.array([[1.0, 0, 3], [2, 1, 1]])
PARTS = VALUE / VALUE.sum(-1, keepdims=True)

LOCATED: dict[str, tuple[Any, Any]] = {
    "Normal": (D.Normal, stats.norm),
    "Laplace": (D.Laplace, stats.laplace),
    "Cauchy": (D.Cauchy, stats.cauchy),
    "Gumbel": (D.Gumbel, stats.gumbel_r),
    "LogNormal": (D.LogNormal, lambda loc, scale: stats.lognorm(scale, scale=np.exp(loc))),
}


def _of(kind: Any, name: str, value: np.ndarray | None = None) -> Callable[..., Any]:
    def function(*parameters: Any) -> Any:
        found = getattr(kind(*parameters), name)
        if callable(found):
            found = found() if value is None else found(paddle.to_tensor(value.astype("float32")))
        return found

    return function


def _scipy(kind: Any, name: str, value: np.ndarray | None = None) -> Callable[..., Any]:
    def function(*parameters: Any) -> Any:
        method = getattr(kind(*parameters), name)
        return method() if value is None else method(value)

    return function


@pytest.mark.parametrize("name", LOCATED)
def test_places_and_widths(name: str) -> None:
    ours, theirs = LOCATED[name]
    given = (LOC, SCALE)
    cases: dict[str, Case] = {
        "log_prob": (_of(ours, "log_prob", VALUE), _scipy(theirs, "logpdf", VALUE), given),
        "prob": (_of(ours, "prob", VALUE), _scipy(theirs, "pdf", VALUE), given),
        "entropy": (_of(ours, "entropy"), _scipy(theirs, "entropy"), given),
    }
    if name in ("Laplace", "Cauchy", "Gumbel"):
        cases["cdf"] = (_of(ours, "cdf", VALUE), _scipy(theirs, "cdf", VALUE), given)
    if name != "Cauchy":
        cases["mean"] = (_of(ours, "mean"), _scipy(theirs, "mean"), given)
        cases["variance"] = (_of(ours, "variance"), _scipy(theirs, "var"), given)
    if name == "Laplace":
        cases["icdf"] = (_of(ours, "icdf", VALUE), _scipy(theirs, "ppf", VALUE), given)
    hold(cases)


def test_chances_shares_and_counts() -> None:
    def bernoulli(p: np.ndarray) -> Any:
        return stats.bernoulli(p)

    def geometric(p: np.ndarray) -> Any:
        return stats.geom(p, loc=-1)

    def dirichlet(name: str, *value: np.ndarray) -> Callable[..., Any]:
        return lambda a: np.array(
            [getattr(stats.dirichlet(row), name)(*(each[at] for each in value)) for at, row in enumerate(a)]
        )

    ones, pair = np.round(VALUE), (SHARE + 0.5, OTHER + 0.5)
    hold(
        {
            "Bernoulli": (_of(D.Bernoulli, "log_prob", ones), _scipy(bernoulli, "logpmf", ones), (SHARE,)),
            "left open": (_of(D.Bernoulli, "entropy"), _scipy(bernoulli, "entropy"), (SHARE,)),
            "cdf": (_of(D.Bernoulli, "cdf", VALUE), _scipy(bernoulli, "cdf", VALUE), (SHARE,)),
            "Geometric": (_of(D.Geometric, "log_pmf", COUNTS), _scipy(geometric, "logpmf", COUNTS), (SHARE,)),
            "its cdf": (_of(D.Geometric, "cdf", COUNTS), _scipy(geometric, "cdf", COUNTS), (SHARE,)),
            "its mean": (_of(D.Geometric, "mean"), _scipy(geometric, "mean"), (SHARE,)),
            "its variance": (_of(D.Geometric, "variance"), _scipy(geometric, "var"), (SHARE,)),
            "Beta": (_of(D.Beta, "log_prob", VALUE), _scipy(stats.beta, "logpdf", VALUE), pair),
            "its entropy": (_of(D.Beta, "entropy"), _scipy(stats.beta, "entropy"), pair),
            "of Beta": (_of(D.Beta, "variance"), _scipy(stats.beta, "var"), pair),
            "Dirichlet": (_of(D.Dirichlet, "log_prob", PARTS), dirichlet("logpdf", PARTS), (SHARE + 0.5,)),
            "open": (_of(D.Dirichlet, "entropy"), dirichlet("entropy"), (SHARE + 0.5,)),
            "of shares": (_of(D.Dirichlet, "variance"), dirichlet("var"), (SHARE + 0.5,)),
        }
    )


def test_one_of_several_and_how_often() -> None:
    x, w, n = data((LOC, SHARE, np.array([[2, 0], [1, 1]])), feed := {})
    one, two = D.Categorical(x), D.Categorical(w)
    four = D.Multinomial(4, w)
    counts = paddle.to_tensor(COUNTS.astype("float32"))
    values = [one.entropy(), one.kl_divergence(two), two.probs(n), two.log_prob(n), four.log_prob(counts)]
    found = ran([*values, four.mean, four.variance, D.Multinomial(4, w[0]).entropy()], feed)
    p, q = (np.exp(each) / np.exp(each).sum(-1, keepdims=True) for each in (LOC, SHARE))
    weights = SHARE / SHARE.sum(-1, keepdims=True)
    said = np.take_along_axis(weights, np.array([[2, 0], [1, 1]]), 1)
    pairs = zip(weights, COUNTS, strict=True)
    wanted = [
        -(p * np.log(p)).sum(-1),
        (p * np.log(p / q)).sum(-1, keepdims=True),
        said,
        np.log(said),
        [stats.multinomial(4, row).logpmf(each) for row, each in pairs],
        4 * weights,
        4 * weights * (1 - weights),
        [stats.multinomial(4, weights[0]).entropy()],
    ]
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-4)


LINE = np.linspace(-60, 60, 240001)
INSIDE = np.linspace(1e-7, 1 - 1e-7, 200001)


@pytest.mark.parametrize(
    ("kind", "oracle", "points"),
    [
        (D.Normal, lambda a, b: stats.norm(a, b).logpdf(LINE), LINE),
        (D.Laplace, lambda a, b: stats.laplace(a, b).logpdf(LINE), LINE),
        (D.Beta, lambda a, b: stats.beta(a + 3, b + 2).logpdf(INSIDE), INSIDE),
    ],
    ids=["Normal", "Laplace", "Beta"],
)
def test_how_far_two_are_apart_is_an_integral(kind: Any, oracle: Any, points: np.ndarray) -> None:
    moved = (3.0, 2.0) if kind is D.Beta else (0.0, 0.0)
    one, two = ((LOC, SCALE), (LOC[::-1] * 0.5, SCALE + 0.3))
    if kind is D.Beta:
        one, two = (SHARE, OTHER), (OTHER, SHARE)
    variables = data((*one, *two), feed := {})
    p = kind(variables[0] + moved[0], variables[1] + moved[1])
    q = kind(variables[2] + moved[0], variables[3] + moved[1])
    found = ran([D.kl_divergence(p, q), p.kl_divergence(q)], feed)
    for at in np.ndindex(2, 3):
        first, second = oracle(one[0][at], one[1][at]), oracle(two[0][at], two[1][at])
        wanted = np.trapezoid(np.exp(first) * (first - second), points)
        assert found[0][at] == pytest.approx(wanted, rel=1e-3) and found[1][at] == found[0][at]


def test_how_far_counts_are_apart() -> None:
    a, b = data((SHARE, OTHER), feed := {})
    scale = [D.Cauchy(a, b), D.Cauchy(b, a)]
    tries = [D.Bernoulli(a), D.Bernoulli(b)]
    shares = [D.Dirichlet(a + 1.0), D.Dirichlet(b + 1.0)]
    found = ran([D.kl_divergence(*each) for each in (scale, tries, shares)], feed)
    both = (SHARE + OTHER) ** 2
    np.testing.assert_allclose(
        found[0], np.log((both + (SHARE - OTHER) ** 2) / (4 * SHARE * OTHER)), rtol=1e-4
    )
    one = SHARE * np.log(SHARE / OTHER) + (1 - SHARE) * np.log((1 - SHARE) / (1 - OTHER))
    np.testing.assert_allclose(found[1], one, rtol=1e-3, atol=1e-5)
    drawn = [stats.dirichlet(row + 1).rvs(200000, random_state=1).T for row in SHARE]
    for at, points in enumerate(drawn):
        pair = [stats.dirichlet(row[at] + 1).logpdf(points) for row in (SHARE, OTHER)]
        assert found[2][at] == pytest.approx((pair[0] - pair[1]).mean(), abs=0.01)


def test_a_family_by_its_normalizer_and_a_pair_of_ones_own() -> None:
    class Poisson(D.ExponentialFamily):
        def __init__(self, logs: Any) -> None:
            self.logs = logs
            super().__init__(logs.shape)

        @property
        def _natural_parameters(self) -> tuple[Any, ...]:
            return (self.logs,)

        def _log_normalizer(self, *parameters: Any) -> Any:
            return paddle.exp(parameters[0])

    (x,) = data((LOC,), feed := {})
    one, two = Poisson(x), Poisson(x * 0.5)
    (apart,) = ran([D.kl_divergence(one, two)], feed)
    first, second = np.exp(LOC), np.exp(LOC / 2)
    np.testing.assert_allclose(apart, second - first + first * LOC / 2, rtol=1e-4, atol=1e-5)
    with pytest.raises(NotImplementedError, match="register_kl tells it"):
        D.kl_divergence(one, D.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="Poisson has no _mean_carrier_measure"):
        one.entropy()

    @D.register_kl(Poisson, D.Normal)
    def known(p: Any, q: Any) -> str:
        return "known"

    assert D.kl_divergence(one, D.Normal(0.0, 1.0)) == "known"


def test_what_is_drawn_has_the_shape_and_the_moments() -> None:
    loc, scale, weights = data((LOC, SCALE, SHARE), feed := {})
    drawn = {
        "Normal": D.Normal(loc, scale),
        "Uniform": D.Uniform(loc, loc + scale),
        "Laplace": D.Laplace(loc, scale),
        "Gumbel": D.Gumbel(loc, scale),
        "LogNormal": D.LogNormal(loc * 0.3, scale * 0.3),
        "Geometric": D.Geometric(weights),
        "Bernoulli": D.Bernoulli(weights),
        "Beta": D.Beta(scale, weights + 1.0),
        "Dirichlet": D.Dirichlet(scale),
        "Multinomial": D.Multinomial(5, weights),
    }
    wanted = [each for one in drawn.values() for each in (one.sample([4000]), one.mean, one.variance)]
    found = ran(wanted, feed)
    for at, name in enumerate(drawn):
        sample, mean, variance = found[3 * at : 3 * at + 3]
        assert sample.shape == (4000, 2, 3), name
        error = 5 * np.sqrt(variance / 4000) + 1e-6
        assert (np.abs(sample.mean(0) - mean) < error).all(), name
        np.testing.assert_allclose(sample.var(0), variance, rtol=0.35, err_msg=name)


def test_numbers_alone_give_the_shape_that_is_asked_for() -> None:
    plain = [D.Normal(0.0, 1.0), D.Uniform(0.0, 2.0), D.Beta(0.5, 0.5), D.Bernoulli(0.3), D.Cauchy(0.0, 1.0)]
    found = ran([each.sample([3, 2]) for each in plain], {})
    assert [each.shape for each in found] == [(3, 2)] * 5
    kinds = D.Categorical([0.1, 0.2, 0.7])
    (ids,) = ran([kinds.sample([4, 3])], {})
    assert ids.shape == (4, 3) and ids.dtype == np.int64
    assert plain[0].batch_shape == () and D.Normal([0.0, 1.0], [1.0, 1.0]).batch_shape == (2,)


def test_gradients_go_through_what_is_drawn_anew() -> None:
    loc, scale = data((LOC, SCALE), feed := {})
    normal = D.Normal(loc, scale)
    noisy = normal.rsample([5])
    slopes = paddle.static.gradients([paddle.sum(noisy)], [loc, scale])
    found = ran([noisy, *slopes, normal.sample([1])], feed)
    np.testing.assert_allclose(found[1], np.full((2, 3), 5.0))
    np.testing.assert_allclose(found[2], ((found[0] - LOC) / SCALE).sum(0), rtol=1e-3, atol=1e-4)
    assert normal.sample([1]).stop_gradient and not noisy.stop_gradient


POINTS = RNG.normal(size=(4, 3))
TRANSFORMS: dict[str, Callable[[], Any]] = {
    "Affine": lambda: D.AffineTransform(paddle.to_tensor([0.5]), paddle.to_tensor([-2.0])),
    "Exp": D.ExpTransform,
    "Sigmoid": D.SigmoidTransform,
    "Tanh": D.TanhTransform,
    "Chain": lambda: D.ExpTransform()(D.PowerTransform(paddle.to_tensor([2.0]))),
    "Independent": lambda: D.IndependentTransform(D.ExpTransform(), 1),
    "Stack": lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 1),
    "StickBreaking": D.StickBreakingTransform,
    "Reshape": lambda: D.ReshapeTransform((3,), (3, 1)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_come_back_and_spread_by_their_slope(name: str) -> None:
    (x,) = data((POINTS,), feed := {})
    transform = TRANSFORMS[name]()
    y = transform.forward(x)
    back, spread = transform.inverse(y), transform.forward_log_det_jacobian(x)
    found = ran([y, back, spread, transform.inverse_log_det_jacobian(y)], feed)
    assert found[0].shape == tuple(transform.forward_shape((4, 3)))
    assert tuple(transform.inverse_shape(found[0].shape)) == (4, 3)
    np.testing.assert_allclose(found[1], POINTS, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.broadcast_to(found[3], found[2].shape), -found[2], rtol=1e-3, atol=1e-4)
    shown = y if name != "StickBreaking" else y[:, :-1]
    lines = [paddle.static.gradients([paddle.sum(shown[:, at])], [x])[0] for at in range(3)]
    jacobian = np.stack(ran(lines, feed), 1)
    wanted = np.linalg.slogdet(jacobian)[1]
    told = np.broadcast_to(found[2], POINTS.shape) if found[2].ndim < 2 and found[2].size == 1 else found[2]
    total = told.sum(-1) if told.ndim == 2 else told
    np.testing.assert_allclose(total, wanted, rtol=1e-3, atol=1e-3)


def test_what_is_transformed_has_a_density_of_its_own() -> None:
    loc, scale = data((LOC, SCALE), feed := {})
    made = D.TransformedDistribution(D.Normal(loc, scale), [D.ExpTransform()])
    whole = D.Independent(D.Normal(loc, scale), 1)
    value = paddle.to_tensor(VALUE.astype("float32"))
    softer = D.SoftmaxTransform()
    wanted = [made.log_prob(value), whole.log_prob(value), whole.entropy(), softer(softer.inverse(value))]
    found = ran([*wanted, D.ExpTransform()(D.Normal(loc, scale)).sample([2])], feed)
    np.testing.assert_allclose(found[0], stats.lognorm(SCALE, scale=np.exp(LOC)).logpdf(VALUE), rtol=1e-4)
    np.testing.assert_allclose(found[1], stats.norm(LOC, SCALE).logpdf(VALUE).sum(-1), rtol=1e-4)
    np.testing.assert_allclose(found[2], stats.norm(LOC, SCALE).entropy().sum(-1), rtol=1e-4)
    np.testing.assert_allclose(found[3], PARTS, rtol=1e-4)
    assert found[4].shape == (2, 2, 3) and (found[4] > 0).all()
    assert (whole.batch_shape, whole.event_shape) == ((-1,), (3,))
    with pytest.raises(NotImplementedError, match="makes the same of several"):
        D.AbsTransform().forward_log_det_jacobian(value)
    with pytest.raises(ValueError, match="of one size"):
        D.ReshapeTransform((3,), (2, 2))
