"""Tensors whose rows are sequences, made of lists and arrays."""

from paddle._program.running.lod_tensor import create_lod_tensor, create_random_int_lodtensor

__all__ = ["create_lod_tensor", "create_random_int_lodtensor"]
