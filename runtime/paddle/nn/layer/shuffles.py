"""Images whose pixels and channels change places, as layers: ``paddle.nn.PixelShuffle`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning.
"""

from __future__ import annotations

from paddle.nn.layer.activation import layer_of
from paddle.nn.layer.layers import Layer

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


def _layer(name: str, function: str, by: str) -> type[Layer]:
    return layer_of(name, function, by, "data_format", module=__name__, shows=by)


ChannelShuffle = _layer("ChannelShuffle", "channel_shuffle", "groups")
PixelShuffle = _layer("PixelShuffle", "pixel_shuffle", "upscale_factor")
PixelUnshuffle = _layer("PixelUnshuffle", "pixel_unshuffle", "downscale_factor")
