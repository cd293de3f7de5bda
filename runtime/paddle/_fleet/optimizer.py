"""The optimizer of a job: another one, and who keeps the parameters that it moves.

It must never know a rule. Guarantee: whatever is not said here is the other optimizer's, and the program that
is made is its own; a parameter server's program is the same, so that all processes run one text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DistributedOptimizer:
    """``inner``, whose programs are handed to ``awaited`` before it adds to them, and to ``placed`` once they
    are whole."""

    def __init__(
        self,
        inner: Any,
        strategy: Any,
        placed: Callable[[Any, Any], None],
        awaited: Callable[[Any], None] = lambda program: None,
    ) -> None:
        self.inner_opt, self.user_defined_optimizer, self.user_defined_strategy = inner, inner, strategy
        self._placed, self._awaited = placed, awaited

    def minimize(self, loss: Any, *others: Any, **named: Any) -> Any:
        """As the inner one's; ``loss`` may be a list of losses, of programs of their own."""
        losses = list(loss) if isinstance(loss, list | tuple) else [loss]
        programs = others[0] if others else named.get("startup_programs", named.get("startup_program"))
        named = {name: value for name, value in named.items() if not name.startswith("startup_program")}
        starts = list(programs) if isinstance(programs, list | tuple) else [programs] * len(losses)
        made = None
        for one, start in zip(losses, starts, strict=True):
            self._awaited(one.block.program)
            made = self.inner_opt.minimize(one, start, *others[1:], **named)
            self._placed(one.block.program, start)
        return made

    def apply_gradients(self, params_grads: Any) -> Any:
        """As the inner one's."""
        programs = [parameter.block.program for parameter, _ in params_grads[:1]]
        for program in programs:
            self._awaited(program)
        made = self.inner_opt.apply_gradients(params_grads)
        for program in programs:
            self._placed(program, None)
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["inner_opt"], name)
