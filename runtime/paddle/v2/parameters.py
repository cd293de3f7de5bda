"""Parameters: the values that a network learns, by name, and the tar file that keeps them.

It must never know how a parameter is trained. Guarantee: reading gives the values that training uses now,
wherever they live; a tar file is as parameter_tar.py says.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from paddle._engine.checkpoint import parameter_tar
from paddle.v2 import _flags
from paddle.v2._config import ParameterConfig
from paddle.v2._pool import Pool
from paddle.v2._text import binary
from paddle.v2.config_base import Initializer, Layer
from paddle.v2.topology import Topology

__all__ = ["Parameters", "create"]


def create(layers: Layer | Sequence[Layer]) -> Parameters:
    """The parameters of the network that leads to ``layers``, at their first values.

    These follow from the flag ``seed`` and each parameter's name alone.
    """
    topology = Topology(layers)
    return Parameters(topology.proto().parameters, topology.initializers, seed=_flags.current().seed)


class Parameters:
    """A mapping from names to float32 arrays. What it returns are copies; assigning copies in."""

    def __init__(
        self,
        configs: Sequence[ParameterConfig] = (),
        initializers: Mapping[str, Initializer] | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self._pool = Pool(configs, initializers or {}, seed)

    def keys(self) -> list[str]:
        """The names, in the order in which the network was written."""
        return list(self._pool)

    names = keys

    def has_key(self, key: str) -> bool:
        """Whether there is a parameter of that name."""
        return key in self._pool

    __contains__ = has_key

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool)

    def __len__(self) -> int:
        return len(self._pool)

    def get_shape(self, key: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        return self._pool.shape(key)

    def get(self, parameter_name: str) -> np.ndarray:
        """A copy of a parameter's value."""
        (value,) = self._pool.current([parameter_name])
        return value.copy()

    __getitem__ = get

    def set(self, parameter_name: str, value: np.ndarray) -> None:
        """Copy ``value``, which has the parameter's shape, in."""
        self._pool.put(parameter_name, value)

    __setitem__ = set

    def get_grad(self, key: str) -> np.ndarray:
        """A copy of a parameter's gradient, in its shape, for the last batch that was trained on, summed over
        its samples. 0 before the first batch, and of a parameter that nobody trains."""
        return self._pool.gradient(key)

    def serialize(self, name: str, f: IO[bytes]) -> None:
        """Write one parameter's header and values."""
        (value,) = self._pool.current([name])
        f.write(parameter_tar.serialized(value))

    def deserialize(self, name: str, f: IO[bytes]) -> None:
        """Read one parameter's header and values."""
        self.set(name, parameter_tar.values_of(f.read(), name, self.get_shape(name)))

    def to_tar(self, f: IO[Any]) -> None:
        """Write all parameters to a file, open for writing (binary; text is written around)."""
        self._write_tar(f, {})

    def _write_tar(self, f: IO[Any], instead: Mapping[str, np.ndarray]) -> None:
        """The same, with those in ``instead`` in the place of the parameters of these names."""
        own = [name for name in self._pool if name not in instead]
        values = {**instead, **dict(zip(own, self._pool.current(own), strict=True))}
        with parameter_tar.open_to_write(binary(f, "parameters")) as tar:
            for name in self._pool:
                parameter_tar.add(tar, self._pool.config(name), values[name].size, [values[name]])

    @staticmethod
    def from_tar(f: IO[Any]) -> Parameters:
        """Read all parameters of a file, open for reading (binary; text is read around).

        Raises BadModelFile, a ValueError, where it is damaged or not such a file. It may be anybody's.
        """
        configs, values = [], {}
        for config, value in parameter_tar.read(binary(f, "parameters")):
            configs.append(config)
            values[config.name] = value
        parameters = Parameters(configs)
        parameters._pool.take(values)
        return parameters

    def init_from_tar(self, f: IO[Any], exclude_params: Container[str] = ()) -> None:
        """Take the values of those parameters that the file holds too, but not of ``exclude_params``."""
        found = Parameters.from_tar(f)
        for name in found:
            if name in self and name not in exclude_params:
                self.set(name, found.get(name))
