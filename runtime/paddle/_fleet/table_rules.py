"""A table's own rule, in the words of ``sparse_table_configs``: an accessor of the original, as numbers of
the engine's rule ``counted``.

It must never know a program. Guarantee: each number is the original's own where nothing is said, as of 2.6;
what is said has its meaning there, and what has none here is refused by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paddle._fleet.errors import BadStrategy, MistypedConfig

_CLASSES = ("SparseAccessor", "CtrCommonAccessor", "CtrDoubleAccessor")
_KINDS = {
    "SparseNaiveSGDRule": (0.0, "naive"),
    "SparseAdaGradSGDRule": (1.0, "adagrad"),
    "StdAdaGradSGDRule": (2.0, "adagrad"),
    "SparseAdamSGDRule": (3.0, "adam"),
}
_OF_RULES = {
    "learning_rate": "rate",
    "initial_g2sum": "first_sum",
    "initial_range": "reach",
    "beta1_decay_rate": "beta1",
    "beta2_decay_rate": "beta2",
    "ada_epsilon": "epsilon",
}
_NEEDED = {"adagrad": (), "naive": ("learning_rate",), "adam": ("learning_rate",)}
_PARTS = {"embed_sgd_param": "", "embedx_sgd_param": "x_"}
_COUNTING = {
    "nonclk_coeff": "show",
    "click_coeff": "click",
    "show_click_decay_rate": "keep",
    "delete_threshold": "least_score",
    "delete_after_unseen_days": "days",
    "zero_init": "begins_at_zero",
    "show_scale": "by_shows",
}
_OF_SAVING = ("base_threshold", "delta_threshold", "delta_keep_days", "ssd_unseenday_threshold")
"""Which rows saves of modes 1 and 2 leave out, or go to a disk: here none does (a save says so)."""
_SIZES = {"accessor.fea_dim": 2, "accessor.embedx_dim": -1}
_BOUNDS = "weight_bounds"

Refused = Callable[[str, str, Any], Exception]


@dataclass(frozen=True, slots=True)
class TableRule:
    """``options``: of the engine's rule. ``sizes``: what the program says of the width, by key, each with
    what it is more than that."""

    options: Mapping[str, float]
    sizes: Mapping[str, tuple[int, int]]

    def check(self, table: str, width: int) -> None:
        """Raise where the table's rows have another width."""
        for key, (said, more) in self.sizes.items():
            if said != width + more:
                raise BadStrategy(
                    f"DistributedStrategy.sparse_table_configs: {key!r} is {said}, and the rows of {table!r} "
                    f"have {width} numbers, so it is {width + more}. (An embedding that has shows and clicks "
                    "in it, as CtrCommonAccessor takes it from 2.4 on, is not in this release: let the "
                    "embedding have its own columns alone, and use SparseAccessor)"
                )


def knows(name: str) -> bool:
    """Whether a key, without the table's name, is one of an accessor."""
    if name in ("accessor.accessor_class", "accessor.embedx_threshold", *_SIZES):
        return True
    _, _, inner = name.partition("accessor.")
    group, _, key = inner.partition(".")
    if group == "ctr_accessor_param":
        return key in _COUNTING or key in _OF_SAVING
    kind, _, number = key.partition(".")
    told = number in _OF_RULES or number == _BOUNDS
    return group in _PARTS and (key == "name" or (kind in _NEEDED and told))


def read(table: str, configs: Mapping[str, Any], refused: Refused) -> TableRule | None:
    """The rule that a table is told, by keys that are known; None where it is told none."""
    if not configs:
        return None
    before, field = f"table_parameters.{table}.", "sparse_table_configs"
    said = {key.removeprefix(before): value for key, value in configs.items()}
    if said.get("accessor.accessor_class", _CLASSES[0]) not in _CLASSES:
        raise refused(field, f"{before}accessor.accessor_class", said["accessor.accessor_class"])
    options = {"threshold": _number(before, said, "accessor.embedx_threshold", 0.0)}
    for part, prefix in _PARTS.items():
        options |= _of_part(before, said, f"accessor.{part}.", prefix, refused)
    for key, name in _COUNTING.items():
        if (key := f"accessor.ctr_accessor_param.{key}") in said:
            options[name] = _number(before, said, key)
    sizes = {before + key: (int(_number(before, said, key)), _SIZES[key]) for key in _SIZES if key in said}
    return TableRule(options, sizes)


def _of_part(
    before: str, said: Mapping[str, Any], part: str, prefix: str, refused: Refused
) -> dict[str, float]:
    rule = said.get(f"{part}name")
    if rule is None:
        raise BadStrategy(
            f"DistributedStrategy.sparse_table_configs: {before}accessor says a rule of the table's own, and "
            f"not which: give {before}{part}name, one of {', '.join(_KINDS)}"
        )
    if rule not in _KINDS:
        raise refused("sparse_table_configs", f"{before}{part}name", rule)
    kind, own = _KINDS[rule]
    for name in _NEEDED[own]:  # which the original takes from the optimizer, or not, as its release is
        if f"{part}{own}.{name}" not in said:
            raise BadStrategy(
                f"DistributedStrategy.sparse_table_configs: {rule} needs {before}{part}{own}.{name}"
            )
    found = {f"{prefix}kind": kind}
    for name, option in _OF_RULES.items():
        if (key := f"{part}{own}.{name}") in said:
            found[prefix + option] = _number(before, said, key)
    bounds = said.get(f"{part}{own}.{_BOUNDS}")
    if bounds:
        if not isinstance(bounds, list | tuple) or len(bounds) < 2:
            raise MistypedConfig(f"{before}{part}{own}.{_BOUNDS} is [least, most], and not {bounds!r}")
        found[f"{prefix}least"], found[f"{prefix}most"] = float(bounds[0]), float(bounds[1])
    return found


def _number(before: str, said: Mapping[str, Any], key: str, usual: float | None = None) -> float:
    value = said.get(key, usual)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise MistypedConfig(
            f"DistributedStrategy.sparse_table_configs: {before}{key} is {value!r}, and a number is needed"
        ) from None
