"""DistributedStrategy: how a job trains, as its program says it.

It must never know who reads it. Guarantee: what is set is checked when it is set, by its name and type, as
upstream's is; what is saved is upstream's message in text, and can be loaded again.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet import prototxt, strategy_values, table_configs
from paddle._fleet.errors import BadStrategy, NotOptions
from paddle._fleet.strategy_fields import BEGINS, CONFIGS, FLAGS
from paddle._program.description.options import BuildStrategy, ExecutionStrategy, changed, changed_by

_WIDTH = 88
# Fields whose properties are spelt otherwise.
_SPELT = {f"_{name}": name for name in ("calc_comm_same_stream", "fuse_grad_size_in_TFLOPS")}
_OBJECTS = {"build_strategy": BuildStrategy, "execution_strategy": ExecutionStrategy}


class DistributedStrategy:
    """Which way of training, and its numbers.

    ``a_sync``: trainers do not wait for each other (True unless it is set). Setting it sets
    ``a_sync_configs["k_steps"]`` to 0; with more, trainers update by themselves and meet every so many steps.
    """

    def __init__(self) -> None:
        self._set({"_values": {}, "_configs": {}, "_objects": {}, "_is_told": False})

    def _set(self, own: Mapping[str, Any]) -> None:
        vars(self).update(own)

    def __getattr__(self, name: str) -> Any:
        name = _SPELT.get(name, name)
        if name in FLAGS:
            return self._values.get(name, FLAGS[name])
        if name in CONFIGS:
            return strategy_values.shown(name, self._configs.get(name, {}))
        if name in _OBJECTS:
            return self._objects.setdefault(name, _begun(name))
        raise AttributeError(f"DistributedStrategy has no attribute {name!r}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FLAGS, *CONFIGS, *_OBJECTS})

    def __setattr__(self, name: str, value: Any) -> None:
        name = _SPELT.get(name, name)
        if name in FLAGS:
            self._set_flag(name, value)
        elif name in CONFIGS:
            self._set_configs(name, value)
        elif name in _OBJECTS:
            if not isinstance(value, _OBJECTS[name]):
                raise NotOptions(
                    f"DistributedStrategy.{name} is a {_OBJECTS[name].__name__}, and not {value!r}"
                )
            self._objects[name] = value
        else:
            raise TypeError(
                f"{name} is not a attribute of DistributedStrategy. It has {', '.join(sorted(FLAGS))}."
            )

    def _set_flag(self, name: str, value: Any) -> None:
        try:
            self._values[name] = strategy_values.flag(name, value, FLAGS[name])
        except UserWarning as told:  # as upstream goes on
            warnings.warn(f"{told}; it stays {getattr(self, name)!r}", stacklevel=3)
            return
        if name == "a_sync":
            self._set({"_is_told": True})
            self._set_configs("a_sync_configs", {"k_steps": 0})

    def _set_configs(self, name: str, given: Any) -> None:
        if name in (table_configs.FIELD, table_configs.OF_PSLIB):
            self._configs[name] = table_configs.checked(given, name)
            return
        self._configs.setdefault(name, {}).update(strategy_values.group(name, given))

    def save_to_prototxt(self, output: str) -> None:
        """Write it to a file, in protobuf's text: all that was set, but for what tables are told that
        has no effect. Raises NotInThisRelease where they are told more."""
        if rules := table_configs.rules(self._configs.get(table_configs.FIELD, {})):
            raise NotInThisRelease(
                f"a DistributedStrategy whose {table_configs.FIELD} give {', '.join(rules)} a rule of its "
                "own cannot be written to a file: set them in the program"
            )
        told = (table_configs.FIELD, table_configs.OF_PSLIB)
        configs = {name: of for name, of in self._configs.items() if name not in told}
        objects = {name: changed(of, _begun(name)) for name, of in self._objects.items()}
        Path(output).write_text(prototxt.written({**self._values, **configs, **objects}), encoding="utf-8")

    def load_from_prototxt(self, pb_file: str) -> None:
        """Read it from such a file."""
        found = prototxt.read(Path(pb_file).read_text(encoding="utf-8"))
        for name, value in found.items():
            if name in CONFIGS:
                self._set_configs(name, strategy_values.listed(value, CONFIGS[name]))
            elif name in FLAGS:
                self._values[name] = value
                self._set({"_is_told": self._is_told or name == "a_sync"})
            elif name in _OBJECTS and isinstance(value, Mapping):
                self._objects[name] = changed_by(_begun(name), value)
            elif name != "mode":
                raise BadStrategy(f"{pb_file}: DistributedStrategy has no field {name!r}")

    def __deepcopy__(self, memo: Any) -> DistributedStrategy:
        twin = DistributedStrategy()
        configs = {name: dict(of) for name, of in self._configs.items()}
        twin._set({"_values": dict(self._values), "_configs": configs, "_is_told": self._is_told})
        twin._set({"_objects": copy.deepcopy(self._objects)})
        return twin

    def __repr__(self) -> str:
        edge = "+" + "=" * _WIDTH + "+"
        rows = [f"|{'DistributedStrategy Overview':^{_WIDTH}}|", edge]
        for name in FLAGS:
            if (value := getattr(self, name)) != FLAGS[name] or name == "a_sync":
                rows.append(_row(name, value))
                rows += [_row(f"  {key}", of) for key, of in getattr(self, f"{name}_configs", {}).items()]
        return "\n".join([edge, *rows, edge])


def _begun(name: str) -> Any:
    """What a strategy begins with: options of building, or of running."""
    return changed_by(_OBJECTS[name](), BEGINS[name])


def _row(name: str, value: Any) -> str:
    half = _WIDTH // 2
    return f"|{name:^{half}.{half}}|{value!s:^{_WIDTH - half - 1}.{_WIDTH - half - 1}}|"
