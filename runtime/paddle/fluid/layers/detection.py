"""Layers that detect objects in images: names of upstream's, none of which is built.

It must never hold a layer. Guarantee: a name of fluid's says that it is not built.
"""

from paddle.fluid._listed import of_layers

__all__: list[str] = []

__getattr__ = of_layers(__name__)
