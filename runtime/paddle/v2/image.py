"""Image preprocessing, which comes with convolution. Guarantee: every name is there and says so."""

from paddle._absent import absent

_NAMES = (
    *("batch_images_from_tar", "center_crop", "left_right_flip", "load_and_transform", "load_image"),
    *("load_image_bytes", "random_crop", "resize_short", "simple_transform", "to_chw"),
)
_NEEDS = "images come with convolution in a later release. Make arrays with numpy and feed dense_vector"

__all__ = [*_NAMES]

globals().update({name: absent(f"paddle.image.{name}", _NEEDS) for name in _NAMES})
