"""Admission: whom a shard lets in. Every refusal tells the trainer, in one paragraph, what to change.

It must never know who is in already: that is the roster's.
"""

from __future__ import annotations

from paddle._pserver.errors import (
    ProtocolMismatch,
    TrainerCountMismatch,
    TrainerIdOutOfRange,
    WrongPort,
)
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import PROTOCOL, Hello


def check(hello: Hello, options: ShardOptions) -> None:
    """Raise a Refused where ``hello`` does not fit a shard with these options."""
    trainers, roles = options.num_gradient_servers, options.roles
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
    if hello.num_gradient_servers != trainers:
        raise TrainerCountMismatch(
            f"this pserver was started with num_gradient_servers={trainers} and the trainer "
            f"with {hello.num_gradient_servers}: give both the number of trainers"
        )
    if not 0 <= hello.trainer_id < trainers:
        raise TrainerIdOutOfRange(
            f"trainer_id={hello.trainer_id} is not in 0..{trainers - 1}: there are "
            f"num_gradient_servers={trainers} trainers, numbered from 0"
        )
