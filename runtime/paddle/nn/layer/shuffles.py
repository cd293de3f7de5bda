"""Images whose pixels and channels change places, as layers: ``paddle.nn.PixelShuffle`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning.
"""

from __future__ import annotations

from functools import partial

from paddle.nn.layer.activation import layer_of

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]

_layer = partial(layer_of, module=__name__)

ChannelShuffle = _layer("ChannelShuffle", "channel_shuffle", "groups", "data_format")
PixelShuffle = _layer("PixelShuffle", "pixel_shuffle", "upscale_factor", "data_format")
PixelUnshuffle = _layer("PixelUnshuffle", "pixel_unshuffle", "downscale_factor", "data_format")
