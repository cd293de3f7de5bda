"""Learning rates of a job: what of a program's schedules counts the steps of all its trainers.

Rules:

1.  A schedule that the program drives (2.x) and that servers know is theirs where they apply the rule: they
    count what trainers push, and it falls once in every so many pushes.
2.  A schedule of operators over a step counter (fluid) is computed in each trainer. Where trainers wait for
    each other it counts steps; where they do not, the counter of each goes on by as many as there are
    trainers, as servers of the original count the steps of all.
3.  Where trainers update by themselves (geo) a schedule is each trainer's own.

It must never know who serves. Guarantee: what is not declared here is told by the trainer at every step.
"""

from __future__ import annotations

from paddle._engine.exchange import ModeSpec, ScheduleSpec
from paddle._program.description.program import Program

COUNTER = "@LR_DECAY_COUNTER@"


def serve_rates(program: Program, mode: ModeSpec, trainers: int, every: int) -> list[str]:
    """Rules 1 and 3: declare them, to fall in every ``every`` pushes; 0: the program drives them. Gives what
    should be said of each."""
    if mode.is_local or not every:
        return []
    said = []
    for name, scheduler in program._rates.items():
        kind, known = type(scheduler).__name__, scheduler._of_steps(every)
        if known is None:
            said.append(
                f"{kind} is not a schedule that servers know: it changes when the program calls step(); each "
                "worker has to call it at the same steps"
            )
            continue
        rule, options = known
        options["pushes"] = float(_pushes(mode, trainers))
        program._schedules[name] = ScheduleSpec(
            name=rule, learning_rate=scheduler.base_lr, options=options, unit="steps"
        )
        how = f" once in every {every}, a_sync_configs['lr_decay_steps']" if "decay_steps" in options else ""
        said.append(
            f"{kind}: the servers count the steps of all workers, and the learning rate falls by them{how}. "
            "step() of it changes nothing; with lr_decay_steps 0 that alone drives it"
        )
    return said


def count_for_all(program: Program, mode: ModeSpec, trainers: int) -> None:
    """Rule 2."""
    if mode.is_local or mode.is_in_step:
        return
    for op in program.global_block().ops:
        if op.type == "increment" and op.input("X") == [COUNTER] and "counts_for" not in op.attrs:
            op.attrs["step"] = float(op.attrs.get("step", 1.0)) * trainers
            op.attrs["counts_for"] = trainers
    program._bump()


def _pushes(mode: ModeSpec, trainers: int) -> int:
    """Of how many steps of trainers a step of the servers is made."""
    return trainers if mode.is_in_step else mode.max_merge_var_num if mode.name == "half_async" else 1
