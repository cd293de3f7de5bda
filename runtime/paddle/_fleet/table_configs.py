"""What a DistributedStrategy says of single tables: ``sparse_table_configs``, for each table a dict whose
keys begin with ``table_parameters.`` and its name; or ``fleet_desc_configs``, one whose keys are of pslib.

It must never know a program. Guarantee: what is taken changes nothing of what a table learns; what would is
refused by its key, with the place where this release has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet.errors import BadStrategy, MistypedConfig

FIELD, OF_PSLIB = "sparse_table_configs", "fleet_desc_configs"
# How the original's servers hold a table in memory and on disk, which is theirs here.
IDLE = (
    *("shard_num", "enable_sparse_table_cache", "sparse_table_cache_rate", "sparse_table_cache_file_num"),
    *("shard_merge_rate", "compress_in_save"),
)
_ONLY = {"table_class": "MemorySparseTable", "type": "PS_SPARSE_TABLE"}
# The same in the words of pslib.
_IDLE_OF_PSLIB = (
    *("sparse_shard_num", "sparse_enable_cache", "sparse_cache_rate", "sparse_cache_file_num"),
    "sparse_compress_in_save",
)
_ONLY_OF_PSLIB = {"sparse_table_class": "DownpourSparseTable"}


def checked(given: Any, field: str = FIELD) -> dict[str, dict[str, Any]]:
    """The same, once it may be taken."""
    if not given:  # as upstream takes it
        return {}
    if not isinstance(given, Mapping):
        raise MistypedConfig(f"DistributedStrategy.{field} is a dict, and not {given!r}")
    for table, configs in given.items():
        if not isinstance(configs, Mapping):
            raise MistypedConfig(f"DistributedStrategy.{field}[{table!r}] is a dict, and not {configs!r}")
        for key, value in configs.items():
            if field == FIELD:
                _check(table, str(key), value)
            elif key not in _IDLE_OF_PSLIB and _ONLY_OF_PSLIB.get(key) != value:
                raise _refused(field, key, value)
    return {table: dict(configs) for table, configs in given.items()}


def _check(table: str, key: str, value: Any) -> None:
    before = f"table_parameters.{table}."
    name = key.removeprefix(before)
    if name == key:
        raise BadStrategy(
            f"DistributedStrategy.{FIELD}[{table!r}] has keys that begin with {before!r}, and not {key!r}"
        )
    if name in IDLE or _ONLY.get(name) == value:
        return
    raise _refused(FIELD, key, value)


def _refused(field: str, key: str, value: Any) -> NotInThisRelease:
    return NotInThisRelease(
        f"DistributedStrategy.{field}: {key!r} = {value!r}, a table with a rule, an accessor or a store of "
        "its own, is not in this release, and training without it would be something else. Here a table is "
        "moved by the optimizer that minimizes its loss (another one for some tables: two optimizers, each "
        "with its parameter_list), rows enter by sparse_embedding's entry (CountFilterEntry, "
        "ProbabilityEntry) and begin as its initializer says. Leave this key out."
    )
