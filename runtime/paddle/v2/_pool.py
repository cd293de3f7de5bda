"""The pool: the live arrays of a network's parameters, which training, tests and inference share.

It must never know a file or how a parameter is trained. Guarantee: one name has one array at a time, and
whoever computes with it sees what training did last. Where several train the same parameters, one of them
keeps each at a time, and who takes it over goes on from its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paddle._engine.checkpoint.parameter_tar import shape_of
from paddle._engine.exchange import UpdateSpec
from paddle._engine.initial import generator_for
from paddle._engine.scope import Scope
from paddle.v2._config import ParameterConfig
from paddle.v2._errors import WrongCall
from paddle.v2._feeding.slots import shown
from paddle.v2._lowering.network import initializer
from paddle.v2.config_base import Initializer


@dataclass(frozen=True, eq=False)
class Keeper:
    """Who trains parameters: in ``arrays``, of which ``fetch`` brings all rows up to date, and ``averages``
    gives those over the last steps. ``settle`` waits until a step that is under way is over; ``gradient``
    gives that of the last batch.

    A ``remote`` one mirrors what others own, so it does not take values in.
    """

    arrays: Mapping[str, np.ndarray]
    fetch: Callable[[], None]
    averages: Callable[[], Mapping[str, np.ndarray]]
    remote: bool
    settle: Callable[[], object] = lambda: None
    gradient: Callable[[str], np.ndarray] | None = None


class Pool(Mapping[str, np.ndarray]):
    """Arrays by name, each drawn when somebody first needs it; ``scope`` is where the engine finds them."""

    def __init__(
        self, configs: Sequence[ParameterConfig], initializers: Mapping[str, Initializer], seed: int
    ) -> None:
        self.scope = Scope()
        self._given = {each.name: each for each in configs}
        self._configs: dict[str, ParameterConfig] = dict(self._given)
        self._initializers = initializers
        self._seed = seed
        self._keepers: dict[str, Keeper] = {}

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
            raise WrongCall(f"there is no parameter {name!r}; there are {', '.join(self._configs)}") from None

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        return shape_of(self.config(name))

    def current(self, names: Iterable[str]) -> list[np.ndarray]:
        """The live arrays of parameters; what is under way to them is waited for, and of tables kept
        elsewhere all rows are first brought up to date.

        Each keeper is asked once, whatever the number of its tables.
        """
        listed = list(names)
        for keeper in {id(each): each for name in listed if (each := self._keepers.get(name))}.values():
            keeper.settle()
        behind = (self._keepers.get(name) for name in listed if self.config(name).sparse_update)
        for keeper in dict.fromkeys(each for each in behind if each is not None):
            keeper.fetch()
        return [self[name] for name in listed]

    def gradient(self, name: str) -> np.ndarray:
        """The gradient of a parameter for the last batch that was trained on, 0 where nobody trains it."""
        shape, keeper = self.shape(name), self._keepers.get(name)
        if keeper is None or keeper.gradient is None:
            return np.zeros(shape, np.float32)
        return keeper.gradient(name)

    def check(self, configs: Iterable[ParameterConfig]) -> None:
        """Raise where a network's parameters are not those of this pool."""
        for config in configs:
            if config.name not in self._configs:
                raise WrongCall(
                    f"the network has a parameter {config.name!r}, and these Parameters have "
                    f"{', '.join(self._configs) or 'none'}: make them of all its layers, the "
                    "extra ones too, with paddle.parameters.create([...]). (Layers that a "
                    "program writes twice have two names: name them, or their param_attr and bias_attr)"
                )
            if self.shape(config.name) != tuple(config.dims):
                raise WrongCall(
                    f"parameter {config.name!r} has shape {tuple(config.dims)} in the network and "
                    f"{self.shape(config.name)} in these Parameters, which are those of another network"
                )

    def grow(self, configs: Iterable[ParameterConfig], initializers: Mapping[str, Initializer]) -> None:
        """Have those of a network's parameters, too, that are lacking."""
        new = {each.name: each for each in configs if each.name not in self._configs}
        self._given |= new
        self._configs |= new
        made = {name: each for name, each in initializers.items() if name in new}
        self._initializers = {**self._initializers, **made}

    def put(self, name: str, value: np.ndarray) -> None:
        """Copy a value in, which has the parameter's shape."""
        shape = self.shape(name)
        try:
            array = np.asarray(value, np.float32)
        except (TypeError, ValueError):
            array = None
        if array is None or array.shape != shape:
            found = f"has {array.shape}" if array is not None and array.ndim else f"is {shown(value)}"
            raise WrongCall(f"parameter {name!r} has shape {shape}, the value given {found}")
        if name in self._keepers and self._keepers[name].remote:
            raise RuntimeError(
                f"parameter {name!r} lives on the parameter servers by now: set it before train()"
            )
        self.current([name])  # rows of a table are up to date before they are replaced
        self.scope.set(name, array)

    def take(self, values: Mapping[str, np.ndarray]) -> None:
        """Have these arrays, which have the parameters' shapes, be what was not drawn yet."""
        self.scope.bind(values)

    def follow(self, keeper: Keeper) -> None:
        """From now on a new keeper's arrays, which hold the values already, are the parameters."""
        self.scope.bind(keeper.arrays)
        self._keepers.update(dict.fromkeys(keeper.arrays, keeper))

    def follows(self, keeper: Keeper) -> bool:
        """Whether all parameters of a keeper are still its own."""
        keepers = self._keepers
        for name in keeper.arrays:  # noqa: SIM110 (half of the time, at every step)
            if keepers[name] is not keeper:
                return False
        return True

    def hand_back(self, keeper: Keeper) -> None:
        """Follow a keeper again, which takes in what others made of its parameters meanwhile."""
        lost = [name for name in keeper.arrays if self._keepers[name] is not keeper]
        if keeper.remote:
            raise RuntimeError(
                f"another trainer has taken over the parameters {', '.join(lost)}, and the parameter servers "
                "of this one go on from their own values alone: go on with the other trainer, or give each "
                "trainer Parameters of its own (to_tar and from_tar copy them)"
            )
        for name, value in zip(lost, self.current(lost), strict=True):
            np.copyto(keeper.arrays[name], value)
        self.follow(keeper)

    def note(self, update: UpdateSpec) -> None:
        """Write an optimizer's momentum, decay and clipping into the configuration of those that have none.

        This is what the original's tar files say of a trained parameter; the newest optimizer's hold.
        """
        shared = {
            "momentum": update.rule.options.get("momentum", 0.0),
            "decay_rate": update.l2_rate,
            "gradient_clipping_threshold": update.gradient_clipping_threshold,
        }
        for name, given in self._given.items():
            config = self._configs[name] = ParameterConfig.FromString(given.SerializeToString())
            for field, value in shared.items():
                if value and not config.HasField(field):
                    setattr(config, field, value)

    def _drawn(self, name: str) -> np.ndarray:
        config, shape = self.config(name), self.shape(name)
        own = self._initializers.get(name)
        value = own(name) if own else initializer(config)(shape, generator_for(self._seed, name))
        value = np.ascontiguousarray(value, np.float32)
        if value.shape != shape:
            raise WrongCall(f"the initializer of parameter {name!r} made {value.shape}, its shape is {shape}")
        return value
