"""Lowering of recurrent groups: a step of the engine is written for each, out of the layers inside.

It must never know what these layers compute. Guarantee: outside a group there is, of each sequence, what its
step gives for each of the elements; a group that generates searches with the step that was trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable
from paddle._engine.steps.recurrence import Recurrence
from paddle.v2._config import LayerConfig, MemoryConfig, SubModelConfig
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.output import Output
from paddle.v2._lowering.standing import like, remembered, rows_of, walked, whole

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

_STANDING_IN = frozenset({"agent", "scatter_agent"})


def lower_group(net: Network, layer: LayerConfig) -> None:
    """Append a recurrent group, and give what it gives."""
    group = next(each for each in net.config.sub_models if each.name == layer.name)
    lowered = _Lowered(net, group)
    if group.HasField("generator"):
        lowered.generate()
    elif repeated := lowered.walk():
        _Lowered(net, group, repeated).walk()


class _Lowered:
    """A group that is being lowered, but for outputs that nobody reads outside. ``_runs``: the sequences
    outside that offsets in the step are of. ``repeated``: sequences that it sees whole, and is given as if
    they were inner ones, anew for each moment, since it gives at each moment one like them."""

    def __init__(
        self, net: Network, group: SubModelConfig, repeated: frozenset[tuple[Variable, ...]] = frozenset()
    ) -> None:
        self._net, self._group, self._repeated = net, group, repeated
        self._recurrence = Recurrence(net.builder, group.reversed)
        self._step = net.inside(self._recurrence.step)
        self._runs: dict[Variable, tuple[Variable, ...]] = {}
        self._along: tuple[Variable, ...] = ()
        self._is_inside = any(group.name in each.layer_names for each in net.config.sub_models[1:])
        self._whole: dict[Variable, tuple[Variable, ...]] = {}
        self._anew: dict[tuple[Variable, ...], Mapping[str, Variable]] = {}

    def walk(self) -> frozenset[tuple[Variable, ...]]:
        """One that walks along sequences; returns those that it is to be given anew for each moment, if any,
        and then it gives nothing yet."""
        for link in self._group.in_links:
            self._step.outputs[link.link_name] = self._given(link.layer_name)
        self._lower_inside()
        links = [each for each in self._group.out_links if self._net.has(each.link_name)]
        outputs = [self._step.outputs[link.layer_name] for link in links]
        if alike := frozenset(
            self._whole[e.runs[-1]] for e in outputs if e.runs and e.runs[-1] in self._whole
        ):
            return alike
        outside = [self._outside(each, link.layer_name) for each, link in zip(outputs, links, strict=True)]
        made = self._recurrence.done([rows_of(each) for each in outputs])
        for link, output, rows, runs in zip(links, outputs, made, outside, strict=True):
            self._net.outputs[link.link_name] = like(output, rows, runs)
        return frozenset()

    def generate(self) -> None:
        """One that makes sequences."""
        generator = self._group.generator
        end = self._net.layer(generator.eos_layer_name)
        found = self._net.layer(end.inputs[0].input_layer_name)
        word = self._lower_inside(found.name, end.name)
        assert word is not None
        ids, probs, offsets = self._recurrence.generate(
            self._step.value(found.inputs[0].input_layer_name),
            word,
            end=end.eos_id,
            longest=generator.max_num_frames,
            beam_size=generator.beam_size,
            results=generator.num_results_per_sample,
        )
        output = Output(id=ids, prob=probs, runs=(offsets,), filled=offsets)
        self._net.outputs[self._group.out_links[0].link_name] = output

    def _lower_inside(self, *searched: str) -> Variable | None:
        """Lower all layers but ``searched``; returns the memory of the first of these."""
        net, step = self._net, self._step
        memories = [(each, self._remembered(each)) for each in self._group.memories]
        for name in self._group.layer_names:
            layer = net.layer(name)
            if name not in searched and layer.type not in _STANDING_IN:
                step.lower(layer)
        of_searched = None
        for config, memory in memories:
            if memory is not None and config.layer_name in searched:
                of_searched = memory
            elif memory is not None:
                self._recurrence.remember(memory, rows_of(self._next(config)))
        return of_searched

    def _next(self, config: MemoryConfig) -> Output:
        """What a memory is one moment later: a sequence where it began with one, of as many elements."""
        now, found = self._step.outputs[config.link_name], self._step.outputs[config.layer_name]
        if now.runs != found.runs:
            kinds = ["a sequence" if each.runs else "a row of each sample" for each in (now, found)]
            raise WrongCall(
                f"memory {config.link_name!r} begins with {kinds[0]}, and what it remembers, "
                f"{config.layer_name!r}, is {kinds[1]}, or another one: boot_layer has to be like what is "
                "remembered"
            )
        return found

    def _remembered(self, config: MemoryConfig) -> Variable | None:
        """Give the step a memory and return its variable; None of what only is seen whole."""
        if config.layer_name != config.link_name:
            return remembered(self._net, self._recurrence, self._step, self._group, config)
        output = self._net.outputs[config.boot_layer_name]
        if output.runs in self._repeated:
            seen = self._repeat(output)
        else:
            seen = whole(self._net, self._recurrence, config.boot_layer_name)
            if seen.runs and seen.value is not None and not self._is_inside:
                self._whole[seen.runs[-1]] = output.runs
        self._step.outputs[config.link_name] = seen
        return None

    def _repeat(self, output: Output) -> Output:
        """A sequence that is seen whole, as an inner one of each moment."""
        builder, (along,) = self._net.builder, self._along
        if output.runs not in self._anew:
            self._anew[output.runs] = builder.ops("sequence_repeat", Offsets=output.runs[0], Times=along)
        anew = self._anew[output.runs]
        rows = builder.op("lookup_table", W=rows_of(output), Ids=anew["Rows"])
        own, ends = self._recurrence.inner(rows, anew["Out"], along)
        self._runs[ends] = (along, anew["Out"])
        return like(output, own, (ends,))

    def _outside(self, output: Output, name: str) -> tuple[Variable, ...]:
        """The sequences that are made of what a step gives."""
        if not output.runs:
            return self._along
        if output.runs[-1] not in self._runs:
            raise NotInThisRelease(
                f"layer {name!r} gives a sequence at each moment, which is none of the inner sequences that "
                "its group walks along, nor like one that a group by itself sees whole: pool it in the step"
            )
        return self._runs[output.runs[-1]]

    def _given(self, source: str) -> Output:
        """What there is of a sequence at a moment; of what is none, the row of each sample at all moments."""
        output = self._net.outputs[source]
        if not output.runs and source != walked(self._net, self._group):
            return whole(self._net, self._recurrence, source)
        runs, rows = self._net.runs(source, self._group.name), rows_of(output)
        self._along = self._along or runs[:1]
        if len(runs) == 1:
            return like(output, self._recurrence.each(rows, runs[0]), ())
        own, ends = self._recurrence.inner(rows, runs[1], runs[0])
        self._runs[ends] = runs
        return like(output, own, (ends,))
