"""Whether the processor computes with numbers below the least normal one, 1.2e-38, or takes them for 0: with
each of them an addition takes a hundred times as long. It is said for one thread, and holds until it is said
anew.

It must never compute itself. Guarantee: ``restore`` of what ``flush`` has given leaves all as it was.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from paddle._engine.kernels.kernel import kernel

IS_THERE = binding.get_default_triple().startswith("x86_64")
"""Whether this processor can be told, by the word that is written here."""

_BITS = 0x8040
"""Results that are too small become 0, and so do such operands."""


def _by(name: str, cell: Any, builder: Any) -> None:
    """Read the word into memory, or write it from there."""
    address = builder.bitcast(cell, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [address.type])
    builder.call(builder.module.declare_intrinsic(f"llvm.x86.sse.{name}", (), kind), [address])


@intrinsic
def _read(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cell = builder.alloca(ir.IntType(32))
        _by("stmxcsr", cell, builder)
        return builder.load(cell)

    return types.uint32(), generate


@intrinsic
def _write(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cell = builder.alloca(ir.IntType(32))
        builder.store(arguments[0], cell)
        _by("ldmxcsr", cell, builder)
        return context.get_dummy_value()

    return types.void(types.uint32), generate


@kernel
def flush() -> int:
    """From now on they are 0; gives what ``restore`` takes."""
    before = _read()
    _write(types.uint32(before | _BITS))
    return before  # type: ignore[no-any-return]


@kernel
def restore(before: int) -> None:
    """All is as it was before ``flush``."""
    _write(types.uint32(before))
