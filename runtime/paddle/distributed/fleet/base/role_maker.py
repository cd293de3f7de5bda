"""Role makers of 2.x."""

from paddle._fleet.place import Role
from paddle._fleet.role_makers import PaddleCloudRoleMaker, RoleMakerBase, UserDefinedRoleMaker

__all__ = ["PaddleCloudRoleMaker", "Role", "RoleMakerBase", "UserDefinedRoleMaker"]
