"""Fuse lookups in one table with the concat that puts their rows side by side: rows are written where they
are wanted, and their gradients are where the concat's gradient is.

Repeated rows are then summed sample by sample, and no more lookup by lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from paddle._engine.passes.setting import Setting
from paddle._engine.passes.uses import Replaced, Uses, replaced_in
from paddle._engine.program import EMPTY, GRAD, Operator, Slots


def fuse_lookups(operators: Sequence[Operator], setting: Setting) -> list[Operator]:
    """In each concat of columns, lookups in one table that stand side by side become one."""
    uses = Uses(operators, setting.keep)
    for concat in [each for each in operators if each.type == "concat" and each.attrs["axis"] in (1, -1)]:
        found = _Concat(concat, uses, setting)
        parts = list(found.parts())
        if any(len(part.lookups) > 1 for part in parts):
            operators = replaced_in(operators, found.fused(parts))
            uses = Uses(operators, setting.keep)
    return list(operators)


@dataclass(frozen=True)
class _Part:
    """What stands side by side in a concat: some ``lookups`` in one table, or one thing that is none."""

    names: tuple[str, ...]
    lookups: tuple[Operator, ...]
    gradients: tuple[Operator, ...]

    @property
    def name(self) -> str:
        """Of all together."""
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]}+{len(self.names) - 1}"


@dataclass(frozen=True)
class _Concat:
    """One concat, and what makes its parts."""

    concat: Operator
    uses: Uses
    setting: Setting

    @property
    def grad(self) -> Operator | None:
        """Its gradient, if there is one."""
        (out,) = self.concat.outputs["Out"]
        return next((each for each in self.uses.readers(out + GRAD) if each.type == "concat_grad"), None)

    def parts(self) -> Iterator[_Part]:
        """All parts, in their order; those that can be fused as one."""
        numbered = enumerate(self.concat.inputs["X"])
        for way, group in groupby(numbered, lambda each: self._way(each[1]) or each[0]):
            names = tuple(name for _, name in group)
            made = [self.uses.writer(name) for name in names] if isinstance(way, tuple) else []
            lookups = tuple(each for each in made if each is not None)
            gradients = tuple(each for each in map(self._gradient, names) if each is not None) if made else ()
            if len(gradients) in (0, len(names)) and self._are_summed(gradients):
                yield _Part(names, lookups, gradients)
            else:
                yield from (_Part((name,), (), ()) for name in names)

    def _way(self, part: str) -> tuple[str, bool] | None:
        """The table that a part is looked up in, and whether its gradient is rows, where nobody but the
        concat wants that part."""
        lookup = self.uses.writer(part)
        if lookup is None or lookup.type != "lookup_table" or part in self.setting.keep:
            return None
        if self.uses.has_other_gradients(part):
            return None
        (table,), (ids,) = lookup.inputs["W"], lookup.inputs["Ids"]
        pointing = self.setting.variables[ids]
        readers = {id(each) for each in self.uses.readers(part)}
        is_alone = readers <= {id(self.concat), id(self.grad)} and self.concat.inputs["X"].count(part) == 1
        is_like = is_alone and len(pointing.shape) <= 2 and self._goes_one_way(part + GRAD)
        return (table, lookup.attrs["is_sparse"]) if is_like else None

    def _goes_one_way(self, gradient: str) -> bool:
        """Whether a part's gradient goes from the concat's to the table's; or there is none."""
        made, reader = self.uses.writer(gradient), self.uses.only_reader(gradient)
        return made is None or (
            made is self.grad and reader is not None and reader.type == "lookup_table_grad"
        )

    def _gradient(self, part: str) -> Operator | None:
        return self.uses.only_reader(part + GRAD)

    def _sum(self, gradient: Operator) -> Operator | None:
        """What adds up the gradients of a table."""
        return self.uses.only_reader(gradient.outputs["W" + GRAD][0])

    def _are_summed(self, gradients: Sequence[Operator]) -> bool:
        sums = [self._sum(each) for each in gradients]
        return not sums or all(each is not None and each.type == "sum" and each is sums[0] for each in sums)

    def fused(self, parts: Sequence[_Part]) -> Replaced:
        """What stands in the place of each operator that is replaced."""
        is_all, replaced = len(parts) == 1, Replaced()
        names = self.concat.outputs["Out"] if is_all else tuple(part.name for part in parts)
        replaced[id(self.concat)] = () if is_all else (replace(self.concat, inputs={"X": names}),)
        if self.grad is not None:
            replaced[id(self.grad)] = () if is_all else (self._concat_grad(self.grad, names, parts),)
        for name, part in zip(names, parts, strict=True):
            if len(part.lookups) > 1:
                replaced |= _forward(part, name)
                replaced |= self._backward(part, name, replaced)
        return replaced

    def _concat_grad(self, grad: Operator, names: tuple[str, ...], parts: Sequence[_Part]) -> Operator:
        given = dict(zip(grad.inputs["X"], grad.outputs["X" + GRAD], strict=True))
        wanted = [given[part.names[0]] if len(part.names) == 1 else _gradient_name(part) for part in parts]
        return replace(grad, inputs={**grad.inputs, "X": names}, outputs={"X" + GRAD: tuple(wanted)})

    def _backward(self, part: _Part, name: str, before: Replaced) -> Replaced:
        """``before``: what stands there because of other parts, whose gradients may be in the same sum."""
        if not part.gradients:
            return {}
        total = self._sum(part.gradients[0])
        assert total is not None
        (now,) = before.get(id(total), (total,))
        gone = {each.outputs["W" + GRAD][0] for each in part.gradients}
        written, others = (
            part.gradients[0].outputs["W" + GRAD],
            [n for n in now.inputs["X"] if n not in gone],
        )
        replaced: Replaced = dict.fromkeys(map(id, part.gradients), ())
        if others:
            replaced[id(total)] = (replace(now, inputs={"X": (*written, *others)}),)
        else:
            written = total.outputs["Out"]
            replaced[id(total)] = ()
        inputs: Slots = {"Ids": _ids(part), "Out" + GRAD: (name + GRAD,)}
        made = Operator(
            "lookup_beside_grad", inputs, {"W" + GRAD: written}, part.lookups[0].attrs, "backward"
        )
        replaced[id(part.gradients[-1])] = (made,)
        return replaced


def _gradient_name(part: _Part) -> str:
    return part.name + GRAD if part.gradients else EMPTY


def _ids(part: _Part) -> tuple[str, ...]:
    return tuple(each.inputs["Ids"][0] for each in part.lookups)


def _forward(part: _Part, name: str) -> Replaced:
    first, *_, last = part.lookups
    inputs: Slots = {"W": first.inputs["W"], "Ids": _ids(part)}
    made = Operator("lookup_beside", inputs, {"Out": (name,)}, first.attrs)
    return dict.fromkeys(map(id, part.lookups), ()) | {id(last): (made,)}
