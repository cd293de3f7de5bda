"""ParameterConfig: what a v2 model says of a parameter beside its values; those fields that are used here.

It must never know a value. Guarantee: names, numbers and defaults of the fields are those of
``ParameterConfig.proto``, so the bytes are read by, and from, the original.
"""

from __future__ import annotations

from paddle._engine.protobuf import Field, Message


class HookConfig(Message):
    """What else an update does to a parameter: the original's ``ParameterUpdaterHookConfig``."""

    FIELDS = {  # noqa: RUF012
        "type": Field(1, "string"),
        "sparsity_ratio": Field(2, "double", 0.6),
    }


class ParameterConfig(Message):
    """One parameter: its size and how it starts and learns.

    ``initial_strategy`` 0 is normal with ``initial_mean`` and ``initial_std``; 1 is uniform in mean - std,
    mean + std. ``initial_smart`` marks a std that was made from ``dims[0]``.
    """

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string"),
        "size": Field(2, "uint64"),
        "learning_rate": Field(3, "double", 1.0),
        "momentum": Field(4, "double"),
        "initial_mean": Field(5, "double"),
        "initial_std": Field(6, "double", 0.01),
        "decay_rate": Field(7, "double"),
        "decay_rate_l1": Field(8, "double"),
        "dims": Field(9, "uint64", repeated=True),
        "initial_strategy": Field(11, "int32"),
        "initial_smart": Field(12, "bool"),
        "sparse_remote_update": Field(16, "bool"),
        "gradient_clipping_threshold": Field(17, "double"),
        "is_static": Field(18, "bool"),
        "update_hooks": Field(20, HookConfig, repeated=True),
        "sparse_update": Field(22, "bool"),
    }
