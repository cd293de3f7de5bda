"""The tasks of ``fab``: the launcher, spoken to from any shell, in this folder or one below it.

    fab --list          fab --help stop

Tasks are a few lines each and have no logic; what they do is in runtime/paddle/_launch, jobs and nodes.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime"))

from invoke import Collection

from fabfile import job, nodes

ns = Collection()
for module in (job, nodes):
    for task in Collection.from_module(module).tasks.values():
        ns.add_task(task)
