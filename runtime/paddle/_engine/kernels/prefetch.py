"""Asking the processor early for memory that will be needed: what hides the time that a miss takes.

It must never change a value. A prefetch of an address that nobody may read does nothing.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

AHEAD = 12
"""Items between asking for memory and using it: about as many misses as a core can have under way."""

LINE = 16
"""Numbers of 32 bits in a cache line."""

_FOR_WRITING, _KEEP, _DATA = 1, 3, 1


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of element ``index`` of a C-contiguous ``array``, counted as if it were flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(function, [address, *(word(n) for n in (_FOR_WRITING, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
