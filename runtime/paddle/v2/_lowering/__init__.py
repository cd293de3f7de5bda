"""Lowering: a network of layers becomes a program of the engine's operators.

``network`` walks over the layers and has the rules of those that see each row by itself; ``sequences`` has
those of layers that see which rows belong together; ``output`` is what a layer gives.
"""
