"""Role makers of 1.x."""

from __future__ import annotations

from typing import Any

from paddle import _absent
from paddle._fleet import role_makers
from paddle._fleet.general_role import GeneralRoleMaker
from paddle._fleet.place import Role
from paddle._fleet.role_makers import PaddleCloudRoleMaker, RoleMakerBase, UserDefinedCollectiveRoleMaker

__all__ = [
    "GeneralRoleMaker",
    "PaddleCloudRoleMaker",
    "Role",
    "RoleMakerBase",
    "UserDefinedCollectiveRoleMaker",
    "UserDefinedRoleMaker",
]

_LATER = {
    **dict.fromkeys(
        ("MPIRoleMaker", "MPISymetricRoleMaker"),
        "roles come from the environment, which python -m paddle.distributed.launch sets "
        "(PaddleCloudRoleMaker), or from the program (UserDefinedRoleMaker)",
    ),
    "HeterRoleMaker": "all processes compute on the CPU",
}


class UserDefinedRoleMaker(role_makers.UserDefinedRoleMaker):
    """The program says it."""

    def __init__(
        self,
        current_id: int = 0,
        role: int = Role.WORKER,
        worker_num: int = 0,
        server_endpoints: list[str] | None = None,
        **others: Any,
    ) -> None:
        super().__init__(
            current_id=current_id,
            role=role,
            worker_num=worker_num,
            server_endpoints=server_endpoints,
            **others,
        )


def __getattr__(name: str) -> Any:
    if name in _LATER:
        raise _absent.AbsentName(
            f"paddle.fluid.incubate.fleet.base.role_maker.{name} is not in this release: {_LATER[name]}."
        )
    raise AttributeError(f"paddle.fluid.incubate.fleet.base.role_maker.{name} does not exist", name=name)
