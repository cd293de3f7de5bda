"""Networks: layers combined in well-known ways. All of them need sequences or convolution, which come later.

Guarantee: every name of the original is there and says so when it is called.
"""

from paddle._absent import absent

_OF_SEQUENCES = (
    *("bidirectional_gru", "bidirectional_lstm", "dot_product_attention", "gru_group", "gru_unit"),
    *("lstmemory_group", "lstmemory_unit", "multi_head_attention", "sequence_conv_pool", "simple_attention"),
    *("simple_gru", "simple_gru2", "simple_lstm", "text_conv_pool"),
)
_OF_IMAGES = (*("img_conv_bn_pool", "img_conv_group", "simple_img_conv_pool", "small_vgg", "vgg_16_network"),)

__all__ = [*_OF_SEQUENCES, *_OF_IMAGES]


def _stand_ins(names: tuple[str, ...], needs: str) -> None:
    globals().update({name: absent(f"paddle.networks.{name}", needs) for name in names})


_stand_ins(_OF_SEQUENCES, "its layers work on sequences, which come in a later release")
_stand_ins(_OF_IMAGES, "its layers convolve images, which comes in a later release")
