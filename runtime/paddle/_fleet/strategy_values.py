"""What a field of a DistributedStrategy takes, as upstream's message does.

Pure; it must never know a strategy. Guarantee: of the kinds of values that programs write a field takes those
that upstream's takes, and refuses others with its type of error. Refused, too, are a text or a dict where a
list is asked for, of whose letters or keys upstream makes the list; and keys of a group in a group that it
has not, which upstream leaves out. Not looked at is whether a number fits into upstream's 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from paddle._fleet.errors import BadStrategy, MistypedConfig, UnknownConfig
from paddle._fleet.strategy_fields import CONFIGS, ITEMS, OLDER

# How a flag of another type is refused; one that is in neither stays as it is.
_REFUSED = {"a_sync": BadStrategy, "adam_d2sum": BadStrategy, "fp16_allreduce": MistypedConfig}
_ABOVE_0 = "last_comm_group_size_MB"


class Group(dict[str, Any]):
    """Options of one group: a dict whose keys may be read as attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"this group has no {name!r}; it has {', '.join(self)}", name=name, obj=self
            ) from None


def flag(name: str, value: Any, usual: Any) -> Any:
    """A flag as it is kept; ``usual``: its default. ValueError (BadStrategy) or TypeError (MistypedConfig)
    where upstream raises it; a UserWarning where upstream leaves the flag as it is."""
    if name == _ABOVE_0:
        kept = _plain(value, usual, f"DistributedStrategy.{name}")
        if kept > 0:
            return kept
        raise BadStrategy(f"DistributedStrategy.{name} is above 0, and not {value!r}")
    kind = type(usual)
    if isinstance(value, kind):
        return kind(value)
    text = f"DistributedStrategy.{name} is of type {kind.__name__}, and not {value!r}"
    if name in _REFUSED:
        raise _REFUSED[name](text)
    raise UserWarning(text)


def group(name: str, given: Any) -> dict[str, Any]:
    """What is set of the group ``name``. MistypedConfig (TypeError), UnknownConfig (AssertionError)."""
    return _group(given, {**CONFIGS[name], **OLDER.get(name, {})}, f"DistributedStrategy.{name}")


def shown(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All of the group ``name``, where ``given`` is set."""
    usual = {key: _copied(value) for key, value in CONFIGS[name].items()}
    return Group({**usual, **{key: _copied(value) for key, value in given.items()}})


def listed(value: Any, usual: Any, key: str = "") -> Any:
    """What a file says, which does not tell a list of one from that one: as ``usual`` of this ``key`` is,
    groups and lists all the way down."""
    if isinstance(usual, list):
        items = value if isinstance(value, list) else [value]
        return [listed(item, ITEMS.get(key)) for item in items]
    if isinstance(usual, Mapping) and isinstance(value, Mapping):
        return {name: listed(of, usual.get(name), name) for name, of in value.items()}
    return value


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Group(value)
    return list(value) if isinstance(value, list) else value


def _group(given: Any, known: Mapping[str, Any], where: str) -> dict[str, Any]:
    keys = list(given) if isinstance(given, Iterable) else []
    for key in keys:
        if key not in known:
            raise UnknownConfig(f"{where} has no key {key!r}; it has {', '.join(known)}.")
    if isinstance(given, Mapping):
        return {key: _value(value, known[key], f"{where}[{key!r}]", key) for key, value in given.items()}
    if keys or not isinstance(given, Iterable):
        raise MistypedConfig(f"{where} is a dict, and not {given!r}")
    return {}


def _value(value: Any, usual: Any, where: str, key: str) -> Any:
    if isinstance(usual, Mapping):
        return {**usual, **_group(value, usual, where)}
    if not isinstance(usual, list):
        return _plain(value, usual, where)
    if isinstance(value, Real | None) and not value:
        return []
    if not isinstance(value, Iterable) or (value and isinstance(value, str | bytes | Mapping)):
        raise MistypedConfig(f"{where} is of type list, and not {value!r}")
    return [_item(item, ITEMS.get(key, ""), f"{where}[{at}]") for at, item in enumerate(value)]


def _item(item: Any, usual: Any, where: str) -> Any:
    return {**usual, **_group(item, usual, where)} if isinstance(usual, dict) else _plain(item, usual, where)


def _plain(value: Any, usual: Any, where: str) -> Any:
    """A text, a number or a truth value as it is kept: numbers and truth values stand for each other,
    but a number with a fraction for no whole one."""
    kind = type(usual)
    takes: Any = {str: str, float: Real}.get(kind, Integral)
    if not isinstance(value, takes):
        raise MistypedConfig(f"{where} is of type {kind.__name__}, and not {value!r}")
    return kind(value)
