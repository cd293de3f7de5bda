"""Plan text: what a plan does, for people: what was fused, what each operator writes and where, memory.

It must never change a plan, nor ask a pass again. Guarantee: it says what is, taken from the plan itself;
sizes are in bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from paddle._engine.layout import Layout, Place
from paddle._engine.memory import aligned
from paddle._engine.plan import Plan
from paddle._engine.program import Operator, Program
from paddle._engine.steps.loop import Loop


def plan_text(program: Program, plan: Plan) -> str:
    """The text, of lines. ``program``: the one that was planned."""
    operators = plan.improved.operators
    return "\n".join(
        [
            f"{len(program.main.operators)} operators, of which a run computes {len(operators)} "
            f"in {len(plan.steps)} calls",
            "fused:",
            *(list(_fused(plan)) or ["  nothing"]),
            "",
            *_listed(operators, plan.layout),
            "",
            *_memory(operators, plan),
        ]
    )


def _fused(plan: Plan) -> Iterator[str]:
    """What each pass has done, of those that have done anything."""
    for change in plan.improved.changes:
        yield f"  {change.name}: {_counted(change.gone)} -> {_counted(change.made)}"


def _counted(types: Counter[str]) -> str:
    counted = [f"{count} {type}" if count > 1 else type for type, count in sorted(types.items())]
    return " + ".join(counted) or "nothing"


def _listed(operators: Sequence[Operator], layout: Layout) -> Iterator[str]:
    width = len(str(len(operators)))
    for number, operator in enumerate(operators, 1):
        yield f"{number:>{width}}  {operator}"
        for place in layout.places(operator):
            yield f"{'':>{width}}      {_said(place)}"
        if operator.role == "forward" and isinstance(loop := operator.attrs.get("loop"), Loop):
            for each in loop.operators:
                yield f"{'':>{width}}      each moment: {each}"


def _said(place: Place) -> str:
    shape = f"{place.form.dtype}{list(place.form.shape)}"
    where = "not the plan's own" if place.offset is None else f"at {place.offset}"
    shared = f", {place.how} {place.of}" if place.how else ""
    return f"{place.name}: {shape}, {place.nbytes} bytes {where}{shared}"


def _memory(operators: Sequence[Operator], plan: Plan) -> Iterator[str]:
    places = [place for operator in operators for place in plan.layout.places(operator)]
    own = [place for place in places if place.offset is not None]
    apart = sum(aligned(place.nbytes) for place in own)
    lasting = sum(place.nbytes for place in places if place.offset is None and not place.how)
    feeds = sum(array.nbytes for array in plan.feeds.values())
    yield f"memory: {plan.layout.size} bytes; {apart} if nothing were shared"
    yield f"besides: {feeds} bytes of feeds, {lasting} of gradients that leave, and the parameters"
