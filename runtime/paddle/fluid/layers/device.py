"""Places that a program may be parted over: the module's name of 0.14.

It must never hold a layer of its own. Guarantee: each name is the very object of ``fluid.layers``.
"""

from paddle.fluid._listed import of_layers

__all__: list[str] = []

__getattr__ = of_layers(__name__)
