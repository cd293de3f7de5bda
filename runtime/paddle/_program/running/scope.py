"""Scope: the values that outlive a run, by name, as programs see them and as the engine computes with them.

It must never know a program. Guarantee: what ``find_var(name).get_tensor()`` gives is live: it shows what
training did last, and what is set in it is what the next run computes with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from paddle._engine.scope import Scope as EngineScope
from paddle._program.description.written import now
from paddle._program.running.lod_tensor import LoDTensor


class ScopeVariable:
    """One name of a scope: a tensor, or anything else."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.name = name
        self._tensor = LoDTensor()
        self._tensor._replaced = scope._change
        self.value: Any = None

    def get_tensor(self) -> LoDTensor:
        """Its tensor, live."""
        return self._tensor

    def get_lod_tensor_array(self) -> Any:
        """Its list of tensors."""
        self.value = [] if self.value is None else self.value
        return self.value

    def is_initialized(self) -> bool:
        """Whether it holds anything."""
        return self._tensor._is_initialized() or self.value is not None


class Scope:
    """Variables by name; those of ``parent`` are seen too. ``keepers``: who moves parameters here.
    ``ready``: what executors have made ready to run here."""

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._kids: list[Scope] = []
        self._variables: dict[str, ScopeVariable] = {}
        self.engine = EngineScope()
        self._changes = 0
        self.keepers: dict[object, Any] = {}
        self.ready: WeakKeyDictionary[object, Any] = WeakKeyDictionary()

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name, made here if there is none."""
        found = self.find_var(name)
        if found is None:
            found = self._variables[name] = ScopeVariable(self, name)
            self._change()
        return found

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of that name here or in a parent, or None."""
        found = self._variables.get(name)
        return found if found is not None or self._parent is None else self._parent.find_var(name)

    def new_scope(self) -> Scope:
        """A scope within this one."""
        self._kids.append(Scope(self))
        return self._kids[-1]

    def drop_kids(self) -> None:
        """Forget the scopes within."""
        self._kids.clear()

    def local_var_names(self) -> list[str]:
        """The names that it has itself."""
        return list(self._variables)

    def erase(self, names: list[str]) -> None:
        """Forget variables."""
        for name in names:
            self._variables.pop(name, None)
        self._change()

    def value(self, name: str) -> np.ndarray | None:
        """The array behind a name, None where there is none."""
        found = self.find_var(name)
        return found.get_tensor()._array if found is not None else None

    def adopt(self, name: str, array: np.ndarray, refresh: Any = None) -> None:
        """Have this very array be the value of a name; ``refresh`` brings it up to date for who reads it."""
        tensor = self.var(name).get_tensor()
        tensor._refresh = refresh
        if tensor._array is not array:
            tensor._array = array
            self._change()

    def change(self) -> None:
        """Have runs find anew who keeps what."""
        self._change()

    @property
    def generation(self) -> int:
        """How often an array was replaced, here or in a parent."""
        return self._changes if self._parent is None else self._changes + self._parent.generation

    def _change(self) -> None:
        self._changes += 1


def global_scope() -> Scope:
    """The scope in which programs run that are not told another."""
    writing = now()
    if writing.scope is None:
        writing.scope = Scope()
    found: Scope = writing.scope
    return found


def _switch_scope(scope: Scope) -> Scope:
    before = global_scope()
    now().scope = scope
    return before


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Run in another scope within the block."""
    before = _switch_scope(scope)
    try:
        yield
    finally:
        _switch_scope(before)
