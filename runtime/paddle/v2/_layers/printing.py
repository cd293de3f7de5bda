"""What a network prints of its layers while it is run: no layer reads it, so it is part of any that has them.

It must never know how values are found. Guarantee: what is printed is what was computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._absent import NotInThisRelease
from paddle.v2._config import LayerConfig, LayerInputConfig
from paddle.v2._draft import listed
from paddle.v2._errors import WrongCall
from paddle.v2._scope import current
from paddle.v2.config_base import Layer, default_name

__all__ = ["printer"]


def printer(input: Layer | Sequence[Layer], format: str | None = None, name: str | None = None) -> None:
    """Print what layers give, batch by batch: in training, in tests and where something is inferred.

    ``format`` has a ``%s`` for each of them.
    """
    name = name or default_name("print")
    layers = listed(name, input)
    if current() is not None or any(each.home is not None for each in layers):
        raise NotInThisRelease(
            f"layer {name!r}: what goes on inside of a recurrent group is not printed in this release: print "
            "what it gives, or return one more layer from its step"
        )
    form = "\n".join(f"layer={each.name} %s" for each in layers) if format is None else format
    if form.replace("%%", "").count("%s") != len(layers):
        raise WrongCall(f"layer {name!r}: format has one %s for each of {len(layers)} layers, not {format!r}")
    reads = [LayerInputConfig(input_layer_name=each.name) for each in layers]
    config = LayerConfig(name=name, type="print", inputs=reads, user_arg=form)
    layers[0].printers.append(Layer(config, layers))
