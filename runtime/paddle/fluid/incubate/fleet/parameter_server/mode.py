"""Names of modes."""

__all__ = ["DistributedMode", "PSMode"]


class PSMode:
    """How programs of servers are made."""

    TRANSPILER = 1
    PSLIB = 2


class DistributedMode:
    """When what a trainer learns counts."""

    SYNC = 0
    ASYNC = 1
    HALF_ASYNC = 2
    GEO = 3
