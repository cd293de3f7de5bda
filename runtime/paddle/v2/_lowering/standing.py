"""What stands in a step for what is outside it, or was one moment earlier.

It must never know whether a step walks along sequences or makes them. Guarantee: what is seen gives ids where
what it stands for does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable
from paddle._engine.steps.recurrence import Recurrence
from paddle.v2._config import MemoryConfig, SubModelConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def rows_of(output: Output) -> Variable:
    """The variable of a layer's rows."""
    found = output.id if output.value is None else output.value
    if found is None:
        raise NotInThisRelease("a sparse layer is not seen inside recurrent groups: multiply it before")
    return found


def like(output: Output, rows: Variable, runs: tuple[Variable, ...]) -> Output:
    """The same as ``output``, ids or values, with other rows."""
    return Output(id=rows, runs=runs) if output.value is None else Output(value=rows, runs=runs)


def remembered(
    net: Network, recurrence: Recurrence, step: Network, group: SubModelConfig, config: MemoryConfig
) -> Variable:
    """Give the step a memory and return its variable."""
    if config.HasField("boot_with_const_id"):
        memory = recurrence.memory(1, start=float(config.boot_with_const_id), dtype="int64")
        step.outputs[config.link_name] = Output(id=memory)
        return memory
    if config.boot_layer_name and (begun := net.outputs[config.boot_layer_name]).runs:
        if len(begun.runs) > 1:
            raise NotInThisRelease(
                f"memory {config.link_name!r} begins with {config.boot_layer_name!r}, which is a sequence of "
                "sequences: that is not in this release, pool its inner sequences before"
            )
        memory, ends = recurrence.memory_runs(_begun(net, config), begun.runs[0])
        step.outputs[config.link_name] = Output(value=memory, runs=(ends,))
        return memory
    memory = recurrence.memory(net.layer(config.link_name).size, _first(net, group, config))
    step.outputs[config.link_name] = Output(value=memory)
    return memory


def whole(net: Network, recurrence: Recurrence, source: str) -> Output:
    """What a step sees of a layer at every moment."""
    output = net.outputs[source]
    if not output.runs:
        return like(output, recurrence.static(rows_of(output)), ())
    if len(output.runs) > 1:
        raise NotInThisRelease(
            f"StaticInput({source!r}) is a sequence of sequences, which is not in this release: pool its "
            "inner sequences before"
        )
    rows, ends = recurrence.static_runs(rows_of(output), output.runs[0])
    return like(output, rows, (ends,))


def walked(net: Network, group: SubModelConfig) -> str:
    """The layer along which a group walks: the first that gives sequences, or the first one."""
    names = [each.layer_name for each in group.in_links]
    return next((name for name in names if net.outputs[name].runs), names[0])


def _first(net: Network, group: SubModelConfig, config: MemoryConfig) -> Variable | None:
    """What a memory begins with, a row for each sequence; None if that is zeros."""
    if config.boot_layer_name:
        return _begun(net, config)
    if not config.boot_bias_parameter_name:
        return None
    if not group.in_links:
        raise NotInThisRelease(
            f"memory {config.link_name!r}: boot_bias is not in this release where sequences are generated: "
            "take a layer over a StaticInput as boot_layer"
        )
    bias = net.parameter(config.boot_bias_parameter_name)
    bent = net.activated(config.link_name, config.boot_bias_active_type, bias)
    offsets = net.runs(walked(net, group), group.name)[0]
    return net.builder.op("spread_row", X=bent, Offsets=offsets)


def _begun(net: Network, config: MemoryConfig) -> Variable:
    """What the boot_layer of a memory gives, which is as wide."""
    found, size = net.value(config.boot_layer_name), net.layer(config.link_name).size
    if found.shape[1] not in (size, -1):
        raise WrongCall(
            f"memory {config.link_name!r} has size {size}, and {config.boot_layer_name!r}, with which it "
            f"begins, {found.shape[1]}"
        )
    return found
