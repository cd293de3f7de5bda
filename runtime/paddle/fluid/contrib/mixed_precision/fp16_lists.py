"""Which operators are meant for 16 bits. It must never compute. Guarantee: lists are kept as told."""

from paddle._program.writing.mixed_precision import OperatorLists as AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists"]
