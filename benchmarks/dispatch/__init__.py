"""``dispatch``: a package to eight nodes, whole and after one file has changed, against rsync and tar.

The nodes are namespaces of this machine with an sshd each (tests/lab), which takes root; all ends of all
connections share its cores, so what is compared is how much work each way makes.
"""

from __future__ import annotations

from benchmarks.benchmark import Benchmark, Case, Contender
from benchmarks.goal import Goal

NODES = 8
_OURS, _RSYNC, _TAR = "dispatch", "rsync -a", "tar | ssh"


def _case(name: str, megabytes: int, files: int, what: str, *goals: Goal, is_long: bool = False) -> Case:
    moved = megabytes if what == "full" else 1
    return Case(
        name=name,
        unit="deployment",
        volume=moved * NODES / 1e3,
        volume_unit="GB",
        settings={"megabytes": megabytes, "files": files, "what": what},
        goals=goals,
        tolerance=0.0,
        is_long=is_long,
    )


def _at_most(against: str, bound: float) -> Goal:
    return Goal(contender=_OURS, against=against, quantity="wall", at_most=bound)


BENCHMARK = Benchmark(
    name="dispatch",
    title=f"a package to {NODES} nodes over SSH, all at once, in and out of memory",
    contenders=(
        Contender(_OURS, "benchmarks.dispatch.ours"),
        Contender(_RSYNC, "benchmarks.dispatch.by_rsync"),
        Contender(_TAR, "benchmarks.dispatch.by_tar"),
    ),
    cases=(
        _case("all of 20 MB in 50 files", 20, 50, "full"),
        _case("one file of 20 MB in 50, replaced", 20, 50, "replaced"),
        _case(
            "one file of 200 MB in 500, replaced", 200, 500, "replaced", _at_most(_RSYNC, 0.7), is_long=True
        ),
        _case(
            "one file of 200 MB in 500, new folder", 200, 500, "beside", _at_most(_RSYNC, 0.7), is_long=True
        ),
        _case(
            "all of 200 MB in 500 files",
            200,
            500,
            "full",
            _at_most(_TAR, 1.3),
            _at_most(_RSYNC, 1.3),
            is_long=True,
        ),
    ),
)
