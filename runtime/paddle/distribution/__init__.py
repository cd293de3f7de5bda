"""Distributions: ``paddle.distribution``. A name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "composed": "ChainTransform IndependentTransform ReshapeTransform StackTransform",
    "counted": "Bernoulli Categorical Geometric Multinomial",
    "distribution": "Distribution ExponentialFamily",
    "kl": "kl_divergence register_kl",
    "located": "Cauchy Gumbel Laplace Normal Uniform",
    "shares": "Beta Dirichlet",
    "transform": """
        AbsTransform AffineTransform ExpTransform PowerTransform SigmoidTransform SoftmaxTransform
        StickBreakingTransform TanhTransform Transform
        """,
    "transformed": "Independent LogNormal TransformedDistribution",
}
_CALLED = {
    "counted": "bernoulli categorical geometric multinomial",
    "distribution": "exponential_family",
    "located": "cauchy gumbel laplace normal uniform",
    "shares": "beta dirichlet",
    "transformed": "independent lognormal transformed_distribution",
}
"""Modules as the original calls them."""
_MODULES = {called: module for module, names in _CALLED.items() for called in names.split()}
_MODULES |= {module: module for module in _HOMES}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.distribution.{_MODULES[name]}")
    if name not in _WHERE:
        raise AttributeError(f"paddle.distribution.{name} does not exist", name=name)
    value = globals()[name] = getattr(import_module(f"paddle.distribution.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
