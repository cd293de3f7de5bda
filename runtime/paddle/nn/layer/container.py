"""Layers that hold others: ``Sequential``, ``LayerList``, ``ParameterList``.

They must never compute but in the order in which they hold. Guarantee: what they hold is found by
``parameters`` and ``state_dict`` under its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

from paddle.nn.layer.layers import Layer

__all__ = ["LayerDict", "LayerList", "ParameterList", "Sequential"]


class Sequential(Layer):
    """Calls its layers one after another. They are given one by one, or as pairs (name, layer)."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if layers and isinstance(layers[0], (list, tuple)):
            named = [(str(name), layer) for name, layer in layers]
        else:
            named = [(str(place), layer) for place, layer in enumerate(layers)]
        for name, layer in named:
            self.add_sublayer(name, layer)

    def forward(self, input: Any) -> Any:
        """Call them."""
        for layer in self._sub_layers.values():
            input = layer(input)
        return input

    def __getitem__(self, name: int | str) -> Layer:
        if isinstance(name, int):
            found: Layer = list(self._sub_layers.values())[name]
            return found
        held: Layer = self._sub_layers[str(name)]
        return held

    def __setitem__(self, name: int | str, layer: Layer) -> None:
        self.add_sublayer(str(name), layer)

    def __delitem__(self, name: int | str) -> None:
        del self._sub_layers[str(name)]

    def __len__(self) -> int:
        return len(self._sub_layers)


class LayerList(Layer):
    """A list of layers."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or [])

    def __getitem__(self, idx: int | slice) -> Any:
        held = list(self._sub_layers.values())
        return type(self)(held[idx]) if isinstance(idx, slice) else held[idx]

    def __setitem__(self, idx: int, sublayer: Layer) -> None:
        self.add_sublayer(str(range(len(self))[idx]), sublayer)

    def __delitem__(self, idx: int | slice) -> None:
        held = list(self._sub_layers.values())
        del held[idx]
        self._hold(held)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(list(self._sub_layers.values()))

    def append(self, sublayer: Layer) -> Self:
        """Put a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Put a layer before the one at ``index``."""
        held = list(self)
        held.insert(index, sublayer)
        self._hold(held)

    def extend(self, sublayers: Iterable[Layer]) -> Self:
        """Put layers at the end."""
        for sublayer in sublayers:
            self.append(sublayer)
        return self

    def _hold(self, layers: list[Layer]) -> None:
        self._sub_layers.clear()
        self.extend(layers)


class LayerDict(Layer):
    """Layers by name."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.update(sublayers or {})

    def __getitem__(self, key: str) -> Layer:
        found: Layer = self._sub_layers[key]
        return found

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Hold none any more."""
        self._sub_layers.clear()

    def pop(self, key: str) -> Layer:
        """Hold one no longer; returns it."""
        taken: Layer = self._sub_layers.pop(key)
        return taken

    def keys(self) -> Any:
        """As a dict's."""
        return self._sub_layers.keys()

    def values(self) -> Any:
        """As a dict's."""
        return self._sub_layers.values()

    def items(self) -> Any:
        """As a dict's."""
        return self._sub_layers.items()

    def update(self, sublayers: Any) -> None:
        """Hold those, too: a dict or pairs (name, layer)."""
        for key, layer in dict(sublayers).items():
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters."""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for parameter in parameters or []:
            self.append(parameter)

    def __getitem__(self, idx: int) -> Any:
        return list(self._parameters.values())[idx]

    def __setitem__(self, idx: int, parameter: Any) -> None:
        self._parameters[str(range(len(self))[idx])] = parameter

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def append(self, parameter: Any) -> Self:
        """Put a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self
