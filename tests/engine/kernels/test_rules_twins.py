"""Update rules, compiled, against the same formulas over whole arrays: in single precision and the same
order, so they agree bit for bit. See tests/engine/rules for what rules are to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle._engine.kernels import fluid_rules, rules
from tests.engine.kernels.case import Case, Draw, generator, held, integer, normal, special

Array = np.ndarray
Float = np.float32
ONE = Float(1)


def clipped(g: Array, clip: Any) -> Array:
    return np.where(g > clip, clip, np.where(g < -clip, -clip, g))


def shrunk(w: Array, l1: Any, l2: Any) -> Array:
    return np.where(w > l1, w - l1, np.where(w < -l1, w + l1, w * Float(0))) / (ONE + l2)


def on_rows(slots: int, formula: Callable[..., Array], is_followed: bool = False) -> Callable[..., None]:
    """A twin of the formula of one step: it gives the values of rows, and moves their slots. ``is_followed``:
    by penalties, where there are any."""

    def twin(
        table: Array,
        index: Array,
        gradient: Array,
        last: Array,
        clip: Any,
        l1: Any,
        l2: Any,
        rate: Any,
        *rest: Any,
    ) -> None:
        own = [None if slot is None else slot[index] for slot in rest[:slots]]
        penalties = () if is_followed else (l1, l2)
        numbers = (*rest[slots:], *penalties)
        found = formula(table[index], clipped(gradient, clip), rate, last[:, None], *own, *numbers)
        if is_followed and l1 + l2 > 0:
            found = shrunk(found, l1 * rate, l2 * rate)
        table[index] = found
        for slot, mine in zip(rest[:slots], own, strict=True):
            if slot is not None:
                slot[index] = mine

    return twin


def moved(w: Array, slope: Array, rate: Any, v: Array | None, m: Any, l1: Any, l2: Any) -> Array:
    move = -(rate * (slope + (Float(0) if l1 > 0 else l2) * w))
    if v is not None:
        v[:] = move = m * v + move
    return shrunk(w + move, l1 * rate, l2 * rate) if l1 > 0 else w + move


def momentum(w: Array, g: Array, rate: Any, last: Array, v: Array, m: Any, l1: Any, l2: Any) -> Array:
    return moved(w, g, rate, v, m, l1, l2)


def adagrad(
    w: Array, g: Array, rate: Any, last: Array, s: Array, v: Array, m: Any, epsilon: Any, *penalties: Any
) -> Array:
    s += g * g
    return moved(w, g, rate / np.sqrt(s + epsilon), v, m, *penalties)


def _kept(s: Array, g: Array, last: Array, rho: Any) -> None:
    """A mean square, of which the first is the square itself."""
    s[:] = rho * s + np.where(last <= 0, ONE, ONE - rho) * (g * g)


def decayed_adagrad(
    w: Array,
    g: Array,
    rate: Any,
    last: Array,
    s: Array,
    v: Array,
    m: Any,
    rho: Any,
    epsilon: Any,
    *penalties: Any,
) -> Array:
    _kept(s, g, last, rho)
    return moved(w, g, rate / np.sqrt(s + epsilon), v, m, *penalties)


def rmsprop(w: Array, g: Array, rate: Any, last: Array, s: Array, f: Array, v: Array, *numbers: Any) -> Array:
    m, rho, epsilon, *penalties = numbers
    _kept(s, g, last, rho)
    f[:] = rho * f + (ONE - rho) * g
    variance = s - f * f
    variance[variance < 0] = 0
    return moved(w, g, rate / np.sqrt(variance + epsilon), v, m, *penalties)


def adadelta(
    w: Array, g: Array, rate: Any, last: Array, s: Array, d: Array, v: Array, *numbers: Any
) -> Array:
    m, rho, epsilon, *penalties = numbers
    s[:] = rho * s + (ONE - rho) * (g * g)
    scale = np.sqrt((d + epsilon) / (s + epsilon))
    d[:] = rho * d + (ONE - rho) * (g * scale * (g * scale))
    return moved(w, g, rate * scale, v, m, *penalties)


def _means(g: Array, m: Array, v: Array, beta1: Any, beta2: Any) -> None:
    m[:] = beta1 * m + (ONE - beta1) * g
    v[:] = beta2 * v + (ONE - beta2) * (g * g)


def adam(
    w: Array,
    g: Array,
    rate: Any,
    last: Array,
    m: Array,
    v: Array,
    own: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
) -> Array:
    _means(g, m, v, beta1, beta2)
    return w - m * own / (np.sqrt(v) + epsilon)


def adamax(
    w: Array,
    g: Array,
    rate: Any,
    last: Array,
    m: Array,
    u: Array,
    own: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
) -> Array:
    m[:] = beta1 * m + (ONE - beta1) * g
    faded = beta2 * u + epsilon
    u[:] = np.where(faded > abs(g), faded, abs(g))
    return np.where(u == 0, w, w - own * (m / u))


def ftrl(
    w: Array, g: Array, rate: Any, last: Array, s: Array, z: Array, l1: Any, l2: Any, power: Any
) -> Array:
    before, s[:] = s.copy(), s + g * g
    roots = [np.sqrt(each) if power == Float(0.5) else each**power for each in (before, s)]
    z += g - (roots[1] - roots[0]) / rate * w
    size = roots[1] / rate + l2 + l2
    return np.where(z > l1, (l1 - z) / size, np.where(z < -l1, -(l1 + z) / size, Float(0) * z))


def _norm(x: Array) -> Array:
    """The squares of each row, added up in order, (n, 1)."""
    return np.cumsum(x.astype(np.float64) ** 2, axis=1)[:, -1:]


def lamb(w: Array, g: Array, rate: Any, last: Array, m: Array, v: Array, *numbers: Any) -> Array:
    correction1, correction2, beta1, beta2, epsilon, decay, adapts = numbers
    _means(g, m, v, beta1, beta2)
    move = m / correction1 / (np.sqrt(v / correction2) + epsilon) + decay * w
    size, length = _norm(w), _norm(move)
    adapted = (rate * np.sqrt(size / length)).astype(np.float32)
    return w - np.where((adapts > 0) & (size > 0) & (length > 0), adapted, rate) * move


def fluid_momentum(w: Array, g: Array, rate: Any, last: Array, v: Array, m: Any, ahead: Any) -> Array:
    v[:] = m * v + g
    return w - rate * (g + m * v if ahead > 0 else v)


def lars_momentum(w: Array, g: Array, rate: Any, last: Array, v: Array, m: Any, c: Any, decay: Any) -> Array:
    size, length = _norm(w), _norm(g)
    share = np.sqrt(size) / (np.sqrt(length) + decay * np.sqrt(size))
    own = np.where((size > 0) & (length > 0), (rate * c * share).astype(np.float32), rate)
    v[:] = m * v + own * (g + decay * w)
    return w - v


def fluid_adagrad(
    w: Array, g: Array, rate: Any, last: Array, s: Array, keep: Any, take: Any, e: Any
) -> Array:
    s[:] = keep * s + take * (g * g)
    return w - rate * g / (np.sqrt(s) + e)


def fluid_rmsprop(
    w: Array, g: Array, rate: Any, last: Array, s: Array, f: Array, v: Array, *numbers: Any
) -> Array:
    rho, epsilon, m, centered = numbers
    s[:] = rho * s + (ONE - rho) * (g * g)
    spread = s
    if centered > 0:
        f[:] = rho * f + (ONE - rho) * g
        spread = s - f * f
        spread[spread < 0] = 0
    v[:] = m * v + rate * g / np.sqrt(spread + epsilon)
    return w - v


def fluid_adadelta(w: Array, g: Array, rate: Any, last: Array, s: Array, d: Array, *numbers: Any) -> Array:
    rho, epsilon, later = numbers
    s[:] = rho * s + (ONE - rho) * (g * g)
    guess = np.sqrt((d + epsilon) / (s + epsilon)) * g
    d[:] = rho * d + (ONE - rho) * (guess * guess)
    return w - rate * (guess if later == 1 else np.sqrt((d + epsilon) / (s + epsilon)) * g)


def touched(
    squares: int, others: int, *numbers: tuple[float, ...], has_velocity: bool = False, is_plain: bool = False
) -> Callable[[Draw], tuple[Any, ...]]:
    """What draws the arguments of a rule with so many slots of squares, which are not below 0, and of others;
    perhaps with the velocity that may be none; and for each of its numbers one of some. ``is_plain``: no
    gradient is infinite or not a number."""

    def draw_them(draw: Draw) -> tuple[Any, ...]:
        height, width = integer(draw, 1, 30), integer(draw, 1, 40)
        random = generator(draw)
        index = random.permutation(height)[: integer(draw, 0, height)]
        rows = (len(index), width)
        gradient = normal(draw, *rows) if is_plain else special(draw, *rows)
        chosen = [
            Float(random.choice(each)) for each in ((np.inf, 0.5), (0, 0.02), (0, 0.3), (0.1,), *numbers)
        ]
        slots: list[Any] = [np.abs(normal(draw, height, width)) for _ in range(squares)]
        slots += [normal(draw, height, width) for _ in range(others)]
        if has_velocity:
            slots.append(normal(draw, height, width) if random.random() < 0.5 else None)
        last = random.integers(-3, 4, len(index))
        return normal(draw, height, width), index, gradient, last, *chosen[:4], *slots, *chosen[4:]

    return draw_them


RATE, RHO, BETA2, EPSILON, SWITCH, MOMENTUM = (
    (0.03, 0.2),
    (0.9, 0.5),
    (0.99, 0.7),
    (1e-3, 1e-6),
    (0, 1),
    (0.6, 0.0),
)
OF_ADAM = RATE, RHO, BETA2, EPSILON

test_a_rule_is_its_twin = held(
    [
        Case(rules.momentum, on_rows(1, momentum), touched(0, 0, MOMENTUM, has_velocity=True)),
        Case(rules.adagrad, on_rows(2, adagrad), touched(1, 0, MOMENTUM, EPSILON, has_velocity=True)),
        Case(
            rules.decayed_adagrad,
            on_rows(2, decayed_adagrad),
            touched(1, 0, MOMENTUM, RHO, EPSILON, has_velocity=True),
        ),
        Case(rules.rmsprop, on_rows(3, rmsprop), touched(1, 1, MOMENTUM, RHO, EPSILON, has_velocity=True)),
        Case(rules.adadelta, on_rows(3, adadelta), touched(2, 0, MOMENTUM, RHO, EPSILON, has_velocity=True)),
        Case(rules.adam, on_rows(2, adam, True), touched(2, 0, *OF_ADAM)),
        Case(rules.adamax, on_rows(2, adamax, True), touched(2, 0, *OF_ADAM[:3], (0.0, 1e-8))),
        Case(rules.ftrl, on_rows(2, ftrl, True), touched(1, 1, (0.05, 0), (0.02, 0), (0.5,))),
        Case(
            rules.ftrl,
            on_rows(2, ftrl, True),
            touched(1, 1, (0.05, 0), (0.02, 0), (0.3, 1), is_plain=True),
            rtol=1e-4,
            atol=1e-4,
        ),
        Case(
            rules.lamb,
            on_rows(2, lamb, True),
            touched(2, 0, (0.5, 1), (0.25, 1), RHO, BETA2, EPSILON, (0.01, 0), SWITCH),
        ),
        Case(fluid_rules.momentum, on_rows(1, fluid_momentum, True), touched(0, 1, MOMENTUM, SWITCH)),
        Case(
            fluid_rules.lars_momentum,
            on_rows(1, lars_momentum, True),
            touched(0, 1, MOMENTUM, (0.1, 0.001), (0.01, 0)),
        ),
        Case(
            fluid_rules.adagrad, on_rows(1, fluid_adagrad, True), touched(1, 0, (1, 0.9), (1, 0.1), EPSILON)
        ),
        Case(
            fluid_rules.rmsprop,
            on_rows(3, fluid_rmsprop, True),
            touched(1, 2, RHO, EPSILON, MOMENTUM, SWITCH),
        ),
        Case(fluid_rules.adadelta, on_rows(2, fluid_adadelta, True), touched(2, 0, RHO, EPSILON, SWITCH)),
    ]
)
