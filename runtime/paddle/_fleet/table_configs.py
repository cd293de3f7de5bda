"""What a DistributedStrategy says of single tables: ``sparse_table_configs``, for each table a dict whose
keys begin with ``table_parameters.`` and its name; or ``fleet_desc_configs``, one whose keys are of pslib.

It must never know a program. Guarantee: what is taken has the original's meaning (table_rules.py), or changes
nothing of what a table learns; all else is refused by its key, with the place where this release has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet import table_rules
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
    found = {table: dict(configs) for table, configs in given.items()}
    if field == FIELD:
        rules(found)
    return found


def rules(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, table_rules.TableRule]:
    """The rules of their own that tables are told, by their names. Raises what cannot be had."""
    found = {
        table: table_rules.read(
            table, {key: of[key] for key in of if not _is_idle(table, key, of[key])}, _refused
        )
        for table, of in configs.items()
    }
    return {table: told for table, told in found.items() if told is not None}


def _check(table: str, key: str, value: Any) -> None:
    before = f"table_parameters.{table}."
    name = key.removeprefix(before)
    if name == key:
        raise BadStrategy(
            f"DistributedStrategy.{FIELD}[{table!r}] has keys that begin with {before!r}, and not {key!r}"
        )
    if not (_is_idle(table, key, value) or table_rules.knows(name)):
        raise _refused(FIELD, key, value)


def _is_idle(table: str, key: str, value: Any) -> bool:
    name = key.removeprefix(f"table_parameters.{table}.")
    return name in IDLE or _ONLY.get(name) == value


def _refused(field: str, key: str, value: Any) -> NotInThisRelease:
    return NotInThisRelease(
        f"DistributedStrategy.{field}: {key!r} = {value!r} of a table is not in this release, and training "
        "without it would be something else. Here a table is moved by the optimizer that minimizes its loss "
        "(another one for some tables: two optimizers, each with its parameter_list), or by a rule of its "
        f"own, in the words of {FIELD}: accessor_class SparseAccessor, embed_sgd_param, embedx_sgd_param, "
        "ctr_accessor_param. Leave this key out."
    )
