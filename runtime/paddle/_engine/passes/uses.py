"""Uses: who writes each variable of some operators and who reads it; operators in the place of others.

It must never know what an operator computes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from paddle._engine.program import GRAD, Operator

Replaced = dict[int, Sequence[Operator]]
"""What stands in the place of an operator, by its identity."""


class Uses:
    """See the module's text. ``keep``: variables that somebody wants after the run."""

    def __init__(self, operators: Sequence[Operator], keep: Collection[str]) -> None:
        self._keep = keep
        self._writers: dict[str, Operator] = {}
        self._readers: dict[str, list[Operator]] = {}
        self._several: set[str] = set()
        for operator in operators:
            for name in operator.writes():
                self._writers[name] = operator
                source, is_gradient, call = name.partition(GRAD)
                if is_gradient and call:
                    self._several.add(source)
            for name in dict.fromkeys(operator.reads()):
                self._readers.setdefault(name, []).append(operator)

    def writer(self, name: str) -> Operator | None:
        """The operator that makes it; None for data, parameters and what is made nowhere."""
        return self._writers.get(name)

    def readers(self, name: str) -> Sequence[Operator]:
        """All that read it, in their order."""
        return self._readers.get(name, ())

    def has_other_gradients(self, name: str) -> bool:
        """Whether a gradient of it goes by another name than its own: parts of it do, and those of a further
        loss."""
        return name in self._several

    def only_reader(self, name: str) -> Operator | None:
        """The one that reads it, where nobody else wants it."""
        readers = self.readers(name)
        return readers[0] if len(readers) == 1 and name not in self._keep else None


def replaced_in(operators: Sequence[Operator], replaced: Mapping[int, Sequence[Operator]]) -> list[Operator]:
    """The operators with others in the place of some."""
    if not replaced:
        return list(operators)
    return [each for operator in operators for each in replaced.get(id(operator), (operator,))]


def without(exchange: Operator, parameters: Collection[str]) -> Operator:
    """An exchange that is told no gradients of these."""
    pairs = zip(exchange.inputs["Param"], exchange.inputs["Grad"], strict=True)
    kept = [pair for pair in pairs if pair[0] not in parameters]
    return replace(exchange, inputs={"Param": tuple(p for p, _ in kept), "Grad": tuple(g for _, g in kept)})
