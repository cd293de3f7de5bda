"""The tasks of ``fab``: the launcher, spoken to from any shell, in this folder or one below it.

    fab --list          fab --help stop

Tasks are a few lines each and have no logic; what they do is in runtime/paddle/_launch, jobs and nodes.
"""

import os
import signal
import sys
import threading
from pathlib import Path

# Another program that imports this has its own signals, and its own way to print.
if (
    is_fab := threading.current_thread() is threading.main_thread()
    and (Path(sys.argv[0]).name == "fab" or sys.modules["__main__"].__package__ == "fabric")
) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # until a task begins there is nothing to end
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime"))

from invoke import Collection

from fabfile import answer, job, nodes

if is_fab:
    answer.have_last_word()
ns = Collection()
for module in (job, nodes):
    for task in Collection.from_module(module).tasks.values():
        ns.add_task(task)
