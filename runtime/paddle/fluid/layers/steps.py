"""Layers that take a step at each moment of sequences, as a block of one's own says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.block import Block
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.branching import touched, writing
from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["DynamicRNN", "StaticRNN"]


class _Steps:
    """What both kinds have in common: a block, and what its names stand for."""

    type = named = ""

    def __init__(self, name: str | None = None) -> None:
        self.helper = LayerHelper(self.named, name=name)
        self._inner: Block | None = None
        self._outer: Block | None = None
        self._is_over = False
        self.is_reverse = False
        """Whether the last moment comes first."""
        self._steps: dict[str, Variable] = {}
        self._statics: dict[str, Variable] = {}
        self._memories: dict[str, tuple[Variable | None, float]] = {}
        self._ranked: list[str] = []
        self._nexts: dict[str, Variable] = {}
        self._results: list[Variable] = []
        self._given: list[Variable] = []

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._is_over:
            raise BadArgument(f"the block of {type(self).__name__} is written once")
        self._outer = self.helper.main_program.current_block()
        with writing(self.helper) as self._inner:
            yield
        self._is_over = True
        self._append()

    def _here(self, method: str) -> Block:
        if self._inner is None or self._is_over:
            raise BadArgument(f"{type(self).__name__}.{method}() is called in its block")
        return self._inner

    def _within(self, shape: Sequence[int], dtype: Any, lod_level: int = 0) -> Variable:
        name = unique_name.generate(f"{self.helper.name}.in")
        return self._here("input").create_var(name, shape=shape, dtype=dtype, lod_level=lod_level)

    def _remember(self, before: Variable, now: Variable) -> None:
        self._here("update_memory")
        if before.name not in self._memories:
            raise BadArgument(f"update_memory takes a memory of this block, and {before.name!r} is none")
        self._nexts[before.name] = now

    def output(self, *outputs: Variable) -> None:
        """Say what is given of each moment."""
        self._here("output")
        self._results += outputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What is given: one variable, or several."""
        if not self._given:
            raise BadArgument(f"{type(self).__name__} gives nothing: call output(...) in its block")
        return self._given[0] if len(self._given) == 1 else self._given

    def _name(self) -> str:
        """What the next result is called, as in the original."""
        return unique_name.generate(f"{self.helper.name}.tmp")

    def _append(self) -> None:
        inner, outer = self._inner, self._outer
        assert inner is not None
        assert outer is not None
        if missing := [name for name in self._memories if name not in self._nexts]:
            raise BadArgument(
                f"{type(self).__name__}: update_memory was not called for {missing[0]!r}: one that never "
                "changes is a static_input"
            )
        self._given = [outer.create_var(self._name(), dtype=each.dtype) for each in self._results]
        boots = [boot for boot, _ in self._memories.values()]
        own = {*self._steps, *self._statics, *self._memories}
        inputs = {
            "Steps": list(self._steps.values()),
            "Statics": list(self._statics.values()),
            "Boots": [each for each in boots if each is not None],
            "X": [name for name in touched(inner)[0] if name not in own],
        }
        attrs = {
            "sub_block": inner,
            "steps": list(self._steps),
            "statics": list(self._statics),
            "memories": list(self._memories),
            "nexts": [self._nexts[name].name for name in self._memories],
            "boots": ["" if boot is None else boot.name for boot in boots],
            "starts": [start for _, start in self._memories.values()],
            "results": [each.name for each in self._results],
            "ranked": self._ranked,
            "reverse": self.is_reverse,
        }
        outer.append_op(self.type, inputs=inputs, outputs={"Out": self._given}, attrs=attrs)


class DynamicRNN(_Steps):
    """Walks along sequences of different lengths: ``with rnn.block(): ...``, then ``rnn()``."""

    type, named = "dynamic_recurrent", "dynamic_rnn"

    def _name(self) -> str:
        return unique_name.generate(f"{unique_name.generate('array_to_lod_tensor')}.tmp")

    def block(self) -> Any:
        """What is done at each moment."""
        return self._writing()

    def step_input(self, x: Variable, level: int = 0) -> Variable:
        """Of each sequence of ``x`` the element of the moment."""
        self._here("step_input")
        if not x.lod_level:
            raise BadArgument(f"step_input takes sequences, and {x.name!r} has none (lod_level 0)")
        made = self._within((-1, *x.shape[1:]), x.dtype, x.lod_level - 1)
        self._steps[made.name] = x
        return made

    def static_input(self, x: Variable) -> Variable:
        """What each sequence has at all moments: its row of ``x``, or its sequence."""
        self._here("static_input")
        made = self._within(x.shape, x.dtype, x.lod_level)
        self._statics[made.name] = x
        return made

    def update_memory(self, ex_mem: Variable, new_mem: Variable) -> None:
        """Say what a memory is one moment later."""
        self._remember(ex_mem, new_mem)

    def _append(self) -> None:
        """Memories that never change are static inputs, where their rows are in the order of these."""
        for name, (boot, _) in list(self._memories.items()):
            later = self._nexts.get(name)
            if later is not None and later.name == name and boot is not None and name not in self._ranked:
                del self._memories[name]
                self._statics[name] = boot
        super()._append()

    def memory(
        self,
        init: Variable | None = None,
        shape: Sequence[int] | None = None,
        value: float = 0.0,
        need_reorder: bool = False,
        dtype: Any = "float32",
    ) -> Variable:
        """What was remembered one moment earlier; first a row of ``init`` for each sequence, or ``value``.

        The rows of ``init`` are in the order of the sequences with ``need_reorder``; without it in that of
        their lengths, the longest first. One that is its own next value may be sequences, as a static input.
        """
        self._here("memory")
        if init is None and shape is None:
            raise BadArgument("DynamicRNN.memory takes init, or the shape of a row")
        if init is not None:
            made = self._within((-1, *init.shape[1:]), init.dtype, init.lod_level if need_reorder else 0)
        else:
            made = self._within((-1, *(size for size in shape or () if size >= 0)), dtype)
        self._memories[made.name] = (init, float(value))
        if init is not None and not need_reorder:
            self._ranked.append(made.name)
        return made


class StaticRNN(_Steps):
    """Walks along the first axis of tensors, of a known size: ``with rnn.step(): ...``, then ``rnn()``."""

    type, named = "recurrent", "static_rnn"

    def step(self) -> Any:
        """What is done at each moment."""
        return self._writing()

    def step_input(self, x: Variable) -> Variable:
        """The element of ``x`` along its first axis at the moment."""
        self._here("step_input")
        made = self._within(x.shape[1:], x.dtype)
        self._steps[made.name] = x
        return made

    def memory(
        self,
        init: Variable | None = None,
        shape: Sequence[int] | None = None,
        batch_ref: Variable | None = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Variable:
        """What was remembered one moment earlier; first ``init``, or ``init_value`` in a ``shape`` with as
        many rows as ``batch_ref`` has."""
        inner = self._here("memory")
        if init is None:
            if shape is None or batch_ref is None:
                raise BadArgument("StaticRNN.memory takes init, or shape and batch_ref")
            init = self._first(shape, batch_ref, init_value, init_batch_dim_idx, ref_batch_dim_idx)
        made = self._within(init.shape, init.dtype)
        self._memories[made.name] = (init, 0.0)
        assert inner is self._inner
        return made

    def _first(
        self, shape: Sequence[int], like: Variable, value: float, own_axis: int, axis: int
    ) -> Variable:
        outer = self._outer
        assert outer is not None
        if like.name in self._steps:  # an element of what is walked along, which has one axis more
            like = self._steps[like.name]
        made = outer.create_var(unique_name.generate(f"{self.helper.name}.boot"), dtype=like.dtype)
        attrs = {
            "shape": list(shape),
            "value": float(value),
            "dtype": int(like.dtype),
            "input_dim_idx": axis,
            "output_dim_idx": own_axis,
        }
        outer.append_op("fill_constant_batch_size_like", {"Input": [like]}, {"Out": [made]}, attrs)
        return made

    def update_memory(self, mem: Variable, var: Variable) -> None:
        """Say what a memory is one moment later."""
        self._remember(mem, var)

    def step_output(self, o: Variable) -> None:
        """Say what is given of each moment."""
        self.output(o)
