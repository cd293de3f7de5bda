"""A recurrent group while it is being written, and which one that is.

Between ``begin`` and ``end`` every layer is one of the group's: its name ends in ``@GROUP``, as do names of
its parameters, as in the original. It must never know what a layer computes.

Guarantee: a layer of a group is read inside it only, and it reads nothing outside: what it sees of the
outside is what the group was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from paddle.v2._config import (
    GeneratorConfig,
    LayerConfig,
    LinkConfig,
    MemoryConfig,
    ParameterConfig,
    SubModelConfig,
)
from paddle.v2._errors import WrongCall
from paddle.v2.config_base import Initializer, Layer

_open: list[Group] = []

Learned = Sequence[tuple[ParameterConfig, Initializer | None]]


class Group:
    """The layers of a recurrent group by their whole names, and its configuration."""

    def __init__(self, name: str, is_reverse: bool) -> None:
        self.parent = current()
        self.short_name, self.name = name, scoped(name)
        self.layers: dict[str, Layer] = {}
        self.outside: list[Layer] = []
        self.config = SubModelConfig(name=self.name, is_recurrent_layer_group=True, reversed=bool(is_reverse))

    def within(self, name: str) -> str:
        """The whole name of a layer of this group. A program may make it of another layer's name, which in
        the original is the short one: what that says of groups is left out."""
        for group in (self, *_parents(self)):
            name = name.replace(f"@{group.name}", "")
        return f"{name}@{self.name}"

    def adopt(self, layer: Layer) -> None:
        """Take in a layer that was written in this group."""
        if self.layers.setdefault(layer.name, layer) is not layer:
            raise WrongCall(f"two layers of one group are called {layer.name!r}: give one another name")
        layer.home = self

    def agent(
        self,
        type: str,
        name: str,
        of: Layer | None,
        size: int,
        learned: Learned = (),
        make: Callable[..., Layer] = Layer,
    ) -> Layer:
        """A layer that stands for something: ``of``, outside, or what is remembered."""
        config = LayerConfig(name=self.within(name), type=type, size=size)
        parents = [] if of is None else [of]
        for each in parents:
            self.check(each, self.parent, f"the group {self.name!r}")
            self.outside.append(each)
        layer = make(config, parents, parameters=learned)
        self.adopt(layer)
        return layer

    def link(self, layer: Layer, holds_ids: bool) -> Layer:
        """The layer that is at each moment an element of ``layer``."""
        agent = self.agent("scatter_agent", _short(layer), layer, layer.size)
        agent.holds_ids = holds_ids
        self.config.in_links.append(LinkConfig(layer_name=layer.name, link_name=agent.name))
        return agent

    def remember(self, memory: MemoryConfig) -> None:
        """Have a memory."""
        self.config.memories.append(memory)

    def generate(self, generator: GeneratorConfig) -> None:
        """Make sequences of its own."""
        self.config.generator = generator

    def memory_of(self, agent: Layer) -> MemoryConfig:
        """The memory that an agent stands for."""
        return next(each for each in self.config.memories if each.link_name == agent.name)

    @staticmethod
    def check(layer: Layer, home: Group | None, reader: str) -> None:
        """Refuse a layer that was not written in ``home``."""
        if layer.home is home:
            return
        if layer.home is None or (home is not None and layer.home in _parents(home)):
            raise WrongCall(
                f"{reader} reads {layer.name!r}, which stands outside the recurrent group it is in: "
                "give that to the group as input=[..., paddle.layer.StaticInput(layer)] and take it as an "
                "argument of step"
            )
        raise WrongCall(
            f"{reader} reads {layer.name!r}, which is a layer of the recurrent group {layer.home.name!r}: "
            "outside only what its step returns can be read"
        )

    def needed(self, outputs: Sequence[Layer]) -> list[Layer]:
        """The layers on which outputs depend, also by what is remembered, in the order of writing."""
        found: dict[str, Layer] = {}
        waiting = list(outputs)
        while waiting:
            layer = waiting.pop()
            if layer.home is not self or layer.name in found:
                continue
            found[layer.name] = layer
            waiting += layer.parents
            if layer.layer_type == "agent":
                waiting.append(self._remembered(layer))
        return sorted(found.values(), key=lambda each: each.number)

    def _remembered(self, agent: Layer) -> Layer:
        memory = self.memory_of(agent)
        name = memory.layer_name.removesuffix(f"@{self.name}")
        if not name:
            raise WrongCall(
                f"memory {agent.name!r} has no name: call its set_input with the layer it remembers"
            )
        layer = self.layers.get(memory.layer_name)
        if layer is None:
            raise WrongCall(
                f"memory(name={name!r}): no layer of the group {self.name!r} is called {name!r}; there are "
                f"{sorted(_short(each) for each in self.layers.values())}"
            )
        if layer.size != agent.size:
            raise WrongCall(
                f"memory(name={name!r}) has size {agent.size}, the layer that it remembers {layer.size}"
            )
        return layer


@contextmanager
def writing(group: Group) -> Iterator[None]:
    """Have what is written be the group's."""
    _open.append(group)
    try:
        yield
    finally:
        _open.pop()


def current() -> Group | None:
    """The group that is being written."""
    return _open[-1] if _open else None


def scoped(name: str) -> str:
    """The whole name of a layer that is being written."""
    group = current()
    return name if group is None else group.within(name)


def _short(layer: Layer) -> str:
    """The name that a program gave."""
    return layer.name if layer.home is None else layer.name.removesuffix(f"@{layer.home.name}")


def _parents(group: Group) -> Iterator[Group]:
    while group.parent is not None:
        group = group.parent
        yield group
