"""Functions of one number or two, and what runs along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as special

from .case import Case

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 3, 4))
U = RNG.uniform(-0.7, 0.7, (3, 4))
ABOVE = RNG.uniform(0.3, 3, (3, 4))
BOTH = np.concatenate([ABOVE, -ABOVE + 0.07])
C = RNG.normal(size=(2, 3, 4))
WHOLE, OTHER = RNG.integers(-9, 9, (2, 3, 4))
TRUE, FALSE = WHOLE > 0, OTHER > 0


def _beyond(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.nextafter(x.astype(np.float32), y.astype(np.float32))


def _log_sums(x: np.ndarray) -> np.ndarray:
    return np.log(np.cumsum(np.exp(x), -1))


def _log_sums_of_others(x: np.ndarray) -> np.ndarray:
    """Of those behind an element, and first of none."""
    turned = np.exp(x[:, ::-1])
    with np.errstate(divide="ignore"):
        return np.log((np.cumsum(turned, 1) - turned)[:, ::-1])


def _with_places(best: Any) -> Any:
    def twin(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = best.accumulate(x, 1)
        places = [
            [max(np.flatnonzero(row[: at + 1] == most)) for at, most in enumerate(of)]
            for row, of in zip(x, found, strict=True)
        ]
        return found, np.array(places)

    return twin


def _taught(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    """As 1.8 has it: below -1 no click and no teacher, below 0 a click, then a teacher's, both ways."""
    plain = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    clicked = plain - x
    with_teacher = np.where(label < 1, plain + plain - x * label, clicked + plain - x * (label - 1))
    return np.where(label < -1, plain, np.where(label < 0, clicked, with_teacher))


def _placed(x: np.ndarray) -> np.ndarray:
    turns = np.arange(3)[:, None] / 10000.0 ** np.array([0, 1])
    return 0.5 * x + 2 * np.concatenate([np.sin(turns), np.cos(turns)], 1)


NO_TEACHER = "no such function: a student's cost is of 1.8"
CASES = [
    Case("erfinv", {"X": U}, special.erfinv, lambda t, x: t.erfinv(x)),
    Case("erfinv", {"X": np.array([0.0, 1, -1, 2])}, special.erfinv, lambda t, x: t.erfinv(x), of=""),
    Case("i0", {"x": A * 3}, special.i0, lambda t, x: t.special.i0(x), "out"),
    Case("i0e", {"x": A * 3}, special.i0e, lambda t, x: t.special.i0e(x), "out"),
    Case("i1", {"x": A * 3}, special.i1, lambda t, x: t.special.i1(x), "out"),
    Case("i1e", {"x": A * 3}, special.i1e, lambda t, x: t.special.i1e(x), "out"),
    Case("i1e", {"x": A * 300}, special.i1e, lambda t, x: t.special.i1e(x), "out"),
    Case("lgamma", {"X": BOTH}, special.gammaln, lambda t, x: t.lgamma(x)),
    Case("digamma", {"X": BOTH}, special.digamma, lambda t, x: t.digamma(x)),
    *(
        Case(
            "polygamma",
            {"x": ABOVE},
            lambda x, n=n: special.polygamma(n, x),
            lambda t, x, n=n: t.special.polygamma(n, x),
            "out",
            {"n": n},
        )
        for n in (0, 1, 2, 3)
    ),
    Case("atan2", {"X1": A, "X2": B[:1]}, np.arctan2, lambda t, x, y: t.atan2(x, y)),
    Case("nextafter", {"x": A, "y": B}, _beyond, lambda t, x, y: t.nextafter(x.float(), y.float()), "out"),
    Case("gcd", {"x": WHOLE, "y": OTHER[:1]}, np.gcd, lambda t, x, y: t.gcd(x, y), "out"),
    Case("bitwise_and", {"X": WHOLE, "Y": OTHER}, np.bitwise_and, lambda t, x, y: x & y),
    Case("bitwise_or", {"X": WHOLE, "Y": OTHER}, np.bitwise_or, lambda t, x, y: x | y),
    Case("bitwise_xor", {"X": TRUE, "Y": FALSE}, np.logical_xor, lambda t, x, y: x ^ y),
    Case("bitwise_not", {"X": WHOLE}, np.invert, lambda t, x: ~x),
    Case(
        "allclose",
        {"Input": A, "Other": A + 1e-3},
        lambda x, y: np.array([np.allclose(x, y, 0, 2e-3)]),
        lambda t, x, y: t.tensor([t.allclose(x, y, 0, 2e-3)]),
        told={"rtol": 0.0, "atol": 2e-3},
    ),
    Case("cumprod", {"X": C}, lambda x: np.cumprod(x, 1), lambda t, x: x.cumprod(1), told={"dim": 1}),
    Case(
        "cumprod",
        {"X": C * (C > 0)},
        lambda x: np.cumprod(x, -1),
        lambda t, x: x.cumprod(-1),
        told={"dim": -1},
    ),
    Case("logcumsumexp", {"X": C}, _log_sums, lambda t, x: x.logcumsumexp(-1)),
    Case(
        "logcumsumexp",
        {"X": A},
        lambda x: np.log(np.cumsum(np.exp(x[::-1]), 0)[::-1]),
        lambda t, x: x.flip(0).logcumsumexp(0).flip(0),
        told={"axis": 0, "reverse": True},
    ),
    Case(
        "logcumsumexp",
        {"X": A},
        lambda x: _log_sums(x.reshape(-1)),
        lambda t, x: x.reshape(-1).logcumsumexp(0),
        told={"flatten": True},
    ),
    Case(
        "logcumsumexp",
        {"X": A},
        lambda x: np.where(np.isfinite(_log_sums_of_others(x)), _log_sums_of_others(x), -np.inf),
        "no sum there leaves its own element out",
        told={"axis": 1, "reverse": True, "exclusive": True},
        of="",
    ),
    Case(
        "cummax",
        {"x": A},
        _with_places(np.maximum),
        lambda t, x: tuple(x.cummax(1)),
        "out indices",
        {"axis": 1},
    ),
    Case(
        "cummin",
        {"x": np.round(A)},
        _with_places(np.minimum),
        lambda t, x: tuple(x.cummin(1)),
        "out indices",
        {"axis": 1},
        of="",  # where some are alike no difference is
    ),
    Case(
        "cummin",
        {"x": A},
        _with_places(np.minimum),
        lambda t, x: tuple(x.cummin(1)),
        "out indices",
        {"axis": -1},
    ),
    Case(
        "teacher_student_sigmoid_loss",
        {"X": A.reshape(-1, 1), "Label": np.resize([-2.0, -1.0, 0.3, 1.6], (12, 1))},
        _taught,
        NO_TEACHER,
        "Y",
        of="X",
    ),
    Case("add_position_encoding", {"X": C}, _placed, "no such function", told={"alpha": 0.5, "beta": 2.0}),
    Case(
        "linspace",
        {"Start": np.array([1.0]), "Stop": np.array([4.0]), "Num": np.array([7])},
        lambda a, b, n: np.linspace(1, 4, 7),
        lambda t, a, b, n: t.linspace(1, 4, 7),
    ),
    Case(
        "range",
        {"Start": np.array([1.0]), "End": np.array([4.0]), "Step": np.array([0.4])},
        lambda a, b, s: np.arange(1, 4, 0.4),
        lambda t, a, b, s: t.arange(1, 4, 0.4),
    ),
]
