"""The pool: the live arrays of a network's parameters, which training, tests and inference share.

It must never know a file or how a parameter is trained. Guarantee: one name has one array at a time, and
whoever computes with it sees what training did last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from paddle._engine.exchange import UpdateSpec
from paddle._engine.initial import generator_for
from paddle._engine.scope import Scope
from paddle.v2._config import ParameterConfig
from paddle.v2._lowering import initializer
from paddle.v2.config_base import Initializer


class Pool(Mapping[str, np.ndarray]):
    """Arrays by name, each drawn when somebody first needs it; ``scope`` is where the engine finds them."""

    def __init__(
        self, configs: Sequence[ParameterConfig], initializers: Mapping[str, Initializer], seed: int
    ) -> None:
        self.scope = Scope()
        self._configs = {each.name: ParameterConfig.FromString(each.SerializeToString()) for each in configs}
        self._initializers = initializers
        self._seed = seed
        self._refresh: Callable[[], None] | None = None
        self._remote = False

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.scope:
            self.scope.bind({name: self._drawn(name)})
        return self.scope.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._configs)

    def __len__(self) -> int:
        return len(self._configs)

    def __contains__(self, name: object) -> bool:
        return name in self._configs

    def config(self, name: str) -> ParameterConfig:
        """How a parameter starts and learns."""
        try:
            return self._configs[name]
        except KeyError:
            raise ValueError(
                f"there is no parameter {name!r}; there are {', '.join(self._configs)}"
            ) from None

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        config = self.config(name)
        return tuple(config.dims) or (1, config.size)

    def current(self, name: str) -> np.ndarray:
        """The live array of a parameter; of a table kept elsewhere, all rows are brought up to date first."""
        if self._refresh is not None and self.config(name).sparse_update:
            self._refresh()
        return self[name]

    def put(self, name: str, value: np.ndarray) -> None:
        """Copy a value in, which has the parameter's shape."""
        shape, value = self.shape(name), np.asarray(value, np.float32)
        if value.shape != shape:
            raise ValueError(f"parameter {name!r} has shape {shape}, the value given has {value.shape}")
        if self._remote and not self.config(name).is_static:
            raise RuntimeError(
                f"parameter {name!r} lives on the parameter servers by now: set it before train()"
            )
        self.scope.set(name, value)

    def follow(self, arrays: Mapping[str, np.ndarray], refresh: Callable[[], None], remote: bool) -> None:
        """From now on use ``arrays``, which an exchange keeps; ``refresh`` brings tables up to date."""
        self.scope.bind(arrays)
        self._refresh, self._remote = refresh, remote

    def note(self, update: UpdateSpec) -> None:
        """Write the optimizer's momentum, decay and clipping into the configuration of those that have none.

        This is what the original's tar files say of a parameter that was trained.
        """
        shared = {
            "momentum": update.rule.options.get("momentum", 0.0),
            "decay_rate": update.l2_rate,
            "gradient_clipping_threshold": update.gradient_clipping_threshold,
        }
        for config in self._configs.values():
            for field, value in shared.items():
                if value and not config.HasField(field):
                    setattr(config, field, value)

    def _drawn(self, name: str) -> np.ndarray:
        config, shape = self.config(name), self.shape(name)
        own = self._initializers.get(name)
        value = own(name) if own else initializer(config)(shape, generator_for(self._seed, name))
        value = np.ascontiguousarray(value, np.float32)
        if value.shape != shape:
            raise ValueError(
                f"the initializer of parameter {name!r} made {value.shape}, its shape is {shape}"
            )
        return value
