"""Admission: whom a shard lets in. Every refusal tells the trainer, in one paragraph, what to change.

It must never know who is in already: that is the roster's.
"""

from __future__ import annotations

from collections.abc import Set

from paddle._pserver.errors import (
    ProtocolMismatch,
    TrainerCountMismatch,
    TrainerIdOutOfRange,
    WrongPort,
)
from paddle._pserver.messages import PROTOCOL, Hello, Role


def check(hello: Hello, num_gradient_servers: int, roles: Set[Role]) -> None:
    """Raise a Refused where ``hello`` does not fit a shard with these options."""
    if hello.protocol != PROTOCOL:
        raise ProtocolMismatch(
            f"the trainer speaks protocol {hello.protocol} and this pserver {PROTOCOL}: run the same release "
            "on both"
        )
    if hello.role not in roles:
        raise WrongPort(
            f"the trainer takes this {'/'.join(sorted(roles))} port for a {hello.role} one: start trainers "
            "and pservers with the same port, ports_num and ports_num_for_sparse"
        )
    if hello.num_gradient_servers != num_gradient_servers:
        raise TrainerCountMismatch(
            f"this pserver was started with num_gradient_servers={num_gradient_servers} and the trainer "
            f"with {hello.num_gradient_servers}: give both the number of trainers"
        )
    if not 0 <= hello.trainer_id < num_gradient_servers:
        raise TrainerIdOutOfRange(
            f"trainer_id={hello.trainer_id} is not in 0..{num_gradient_servers - 1}: there are "
            f"num_gradient_servers={num_gradient_servers} trainers, numbered from 0"
        )
