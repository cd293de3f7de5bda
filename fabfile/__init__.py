"""The tasks of ``fab``: the launcher, spoken to from any shell, in this folder or one below it.

    fab --list          fab --help stop

Tasks are a few lines each and have no logic; what they do is in runtime/paddle/_launch/jobs.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime"))

from invoke import Collection

from fabfile import job

ns = Collection.from_module(job)
