"""How often a program has which operators, and which pairs of them follow each other.

It must never run a program. Guarantee: operators that train nothing are counted as all others are.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

from paddle._program.description.program import Program
from paddle._program.errors import BadArgument

__all__ = ["op_freq_statistic"]


def op_freq_statistic(program: Program) -> tuple[OrderedDict[str, int], OrderedDict[str, int]]:
    """Types by how often they are there, and pairs ``writer->reader`` likewise, most frequent first."""
    if not isinstance(program, Program):
        raise BadArgument(f"op_freq_statistic takes a Program, and not {program!r}")
    single: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    writers: dict[str, str] = {}
    for op in program.global_block().ops:
        single[op.type] += 1
        pairs.update(f"{writers[name]}->{op.type}" for name in op.input_arg_names if name in writers)
        writers.update(dict.fromkeys(op.output_arg_names, op.type))
    return OrderedDict(single.most_common()), OrderedDict(pairs.most_common())
