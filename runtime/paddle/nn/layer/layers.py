"""A piece of a network that has parameters and other pieces of its own.

It must never compute: ``forward`` of who derives from it does, and appends to the default program. Guarantee:
what is set as an attribute is known by that attribute's name, wherever it lies: a parameter, a buffer or a
layer; names in ``state_dict`` are these, joined by dots.
"""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from paddle import _mode
from paddle._program.description import unique_name
from paddle._program.description.variable import Parameter, Variable
from paddle._program.files.state_dict import put_state
from paddle._program.writing.layer_helper import LayerHelper
from paddle.nn.layer._hooks import HookRemoveHelper, Hooks

__all__ = ["Layer"]

_KINDS = ("_parameters", "_buffers", "_sub_layers")


class Layer:
    """What every layer derives from. ``name_scope``: how it is called in names of parameters."""

    _shown = ""
    """What is said of a layer in its text, with its own attributes in it: ``p={0.p}``."""

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        _mode.need_static(f"paddle.nn.{type(self).__name__}")
        put = object.__setattr__
        put(self, "_parameters", OrderedDict())
        put(self, "_buffers", OrderedDict())
        put(self, "_sub_layers", OrderedDict())
        self._non_persistable_buffer_names_set: set[str] = set()
        self._full_name = unique_name.generate(name_scope or _in_snakes(type(self).__name__))
        self._dtype = dtype
        self.training = True
        self._forward_pre_hooks = Hooks()
        self._forward_post_hooks = Hooks()

    # What it does.

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Append what it computes; returns the outputs."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """``forward``, between the hooks."""
        for hook in self._forward_pre_hooks:
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in self._forward_post_hooks:
            changed = hook(self, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """``hook(layer, inputs)`` before each call; what it returns stands in for the inputs."""
        return self._forward_pre_hooks.add(hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """``hook(layer, inputs, outputs)`` after each call; what it returns stands in for the outputs."""
        return self._forward_post_hooks.add(hook)

    def train(self) -> Self:
        """From now on dropout drops and batch normalization goes by its batch."""
        for layer in self.sublayers(include_self=True):
            layer.training = True
        return self

    def eval(self) -> Self:
        """From now on dropout drops nothing and batch normalization goes by its averages."""
        for layer in self.sublayers(include_self=True):
            layer.training = False
        return self

    def apply(self, fn: Callable[[Layer], Any]) -> Self:
        """Calls ``fn`` with all layers below, then with this one."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def full_name(self) -> str:
        """Its name in the program, such as ``linear_0``."""
        return self._full_name

    # What it makes.

    def create_parameter(
        self,
        shape: list[int],
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:
        """A parameter that is initialized by the startup program; None where ``attr`` is False."""
        if attr is False:
            return None
        return self._helper.create_parameter(
            attr=attr,
            shape=list(shape),
            dtype=dtype or self._dtype,
            is_bias=is_bias,
            default_initializer=default_initializer,
        )

    def create_variable(
        self, name: str | None = None, persistable: bool | None = None, dtype: Any = None
    ) -> Variable:
        """A variable of the default program, for what ``forward`` appends."""
        return self._helper.main_program.current_block().create_var(
            name=name or unique_name.generate(f"{self._full_name}._generated_var"),
            persistable=bool(persistable),
            dtype=dtype or self._dtype,
        )

    create_tensor = create_variable

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Makes a parameter this layer's, by ``name``."""
        self._check_name(name, "_parameters")
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(f"{self._full_name}.{name} is to be a Parameter, not {parameter!r}")
        self._parameters[name] = parameter
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Makes a layer a part of this one, by ``name``."""
        if not isinstance(sublayer, Layer):
            raise TypeError(f"{self._full_name}.{name} is to be a Layer, not {sublayer!r}")
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def register_buffer(self, name: str, tensor: Variable | None, persistable: bool = True) -> None:
        """Makes a variable that no gradient moves this layer's, by ``name``."""
        self._check_name(name, "_buffers")
        if tensor is not None and not isinstance(tensor, Variable):
            raise TypeError(f"{self._full_name}.{name} is to be a variable, not {tensor!r}")
        self._buffers[name] = tensor
        (
            self._non_persistable_buffer_names_set.discard
            if persistable
            else self._non_persistable_buffer_names_set.add
        )(name)

    def _check_name(self, name: Any, kind: str) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise KeyError(f"a name in {self._full_name} is text without dots, not {name!r}")
        if hasattr(self, name) and name not in getattr(self, kind):
            raise KeyError(f"{self._full_name} has an attribute {name!r} already")

    @property
    def _helper(self) -> LayerHelper:  # programs that write layers of their own append operators by it
        return LayerHelper(self._full_name, name=self._full_name)

    # What it has.

    def children(self) -> Iterator[Layer]:
        """The layers that it has itself."""
        return (layer for _, layer in self.named_children())

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers that it has itself, each once, by name."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers below, each once."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: set[Any] | None = None
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below, each once, by names joined with dots."""
        seen: set[Any] = set() if layers_set is None else layers_set
        if self in seen:
            return
        seen.add(self)
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer.named_sublayers(_joined(prefix, name), True, seen)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, each once."""
        return [found for _, found in self.named_parameters(include_sublayers=include_sublayers)]

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, by names joined with dots."""
        return self._named("_parameters", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Variable]:
        """All buffers, each once."""
        return [found for _, found in self.named_buffers(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Variable]]:
        """All buffers, each once, by names joined with dots."""
        return self._named("_buffers", prefix, include_sublayers)

    def _named(self, kind: str, prefix: str, include_sublayers: bool) -> Iterator[tuple[str, Any]]:
        within = self.named_sublayers(prefix, include_self=True) if include_sublayers else [(prefix, self)]
        seen: set[int] = set()
        for where, layer in within:
            for name, found in getattr(layer, kind).items():
                if found is not None and id(found) not in seen:
                    seen.add(id(found))
                    yield _joined(where, name), found

    # What it saves.

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
    ) -> dict[str, Any]:
        """All parameters and persistable buffers by name, of layers that are there twice by each name."""
        found = OrderedDict() if destination is None else destination
        for name, parameter in self._parameters.items():
            if parameter is not None:
                found[structured_name_prefix + name] = parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistable_buffer_names_set:
                found[structured_name_prefix + name] = buffer
        for name, layer in self._sub_layers.items():
            if layer is not None and include_sublayers:
                layer.state_dict(found, True, f"{structured_name_prefix}{name}.")
        return found

    def set_state_dict(
        self, state_dict: Mapping[str, Any], include_sublayers: bool = True, use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Set parameters and buffers in the current scope; names are ``state_dict``'s, or the variables'.

        Returns the names that it lacks, which stay as they are, after a warning, and those that are of
        nothing here.
        """
        own = self.state_dict(include_sublayers=include_sublayers)
        missing, unexpected = put_state(self._full_name, own, state_dict, structured=use_structured_name)
        if missing:
            warnings.warn(
                f"{self._full_name}.set_state_dict: the state has no {', '.join(missing)}, so these stay as "
                "they are",
                stacklevel=2,
            )
        return missing, unexpected

    set_dict = set_state_dict
    load_dict = set_state_dict

    # Its attributes.

    def __setattr__(self, name: str, value: Any) -> None:
        kind = _kind_of(value)
        if kind == "_buffers" and name not in self.__dict__.get("_buffers", ()):
            kind = ""  # a variable that nobody registered is an ordinary attribute
        if kind and kind not in self.__dict__:
            raise ValueError(f"super().__init__() of {type(self).__name__} comes before its first {name!r}")
        if not kind and value is None:
            kind = next((one for one in _KINDS if name in self.__dict__.get(one, ())), "")
        for other in _KINDS:
            if other != kind:
                self.__dict__.get(other, {}).pop(name, None)
        if kind:
            self.__dict__.pop(name, None)
            self.__dict__[kind][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for kind in _KINDS:
            if name in self.__dict__.get(kind, ()):
                return self.__dict__[kind][name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)

    def __delattr__(self, name: str) -> None:
        for kind in _KINDS:
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        named = {name for kind in _KINDS for name in self.__dict__.get(kind, ())}
        return sorted({*object.__dir__(self), *named})

    def extra_repr(self) -> str:
        """What ``repr`` says of the layer itself."""
        return self._shown.format(self)

    def __repr__(self) -> str:
        parts = [f"({name}): {layer!r}" for name, layer in self._sub_layers.items()]
        below = "".join("\n" + part for part in parts).replace("\n", "\n  ")
        return f"{type(self).__name__.lstrip('_')}({self.extra_repr()}{below}{chr(10) if below else ''})"


def _kind_of(value: Any) -> str:
    if isinstance(value, Parameter):
        return "_parameters"
    if isinstance(value, Layer):
        return "_sub_layers"
    return "_buffers" if isinstance(value, Variable) else ""


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _in_snakes(name: str) -> str:
    """``BatchNorm1D`` -> ``batch_norm1d``."""
    split = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", split).lower()
