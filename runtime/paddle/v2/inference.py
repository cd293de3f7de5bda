"""Inference: what a trained network says of new data.

It must never train. Guarantee: it computes as a test does, with the parameters as they are when it is called;
threads that ask one Inference take turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import IO, Any

import numpy as np

from paddle._engine.executor import Executor
from paddle.v2._errors import WrongCall
from paddle.v2._lowering.network import Network
from paddle.v2._lowering.output import Output
from paddle.v2._measures.meters import printed
from paddle.v2.config_base import Layer
from paddle.v2.data_feeder import DataFeeder
from paddle.v2.parameters import Parameters
from paddle.v2.topology import Topology, read_for_inference

__all__ = ["Inference", "infer"]

_FIELDS = ("value", "id", "prob")
Feeding = Mapping[str, int] | Sequence[str] | None


class Inference:
    """The network that leads to ``output_layer``, or that ``serialize_for_inference`` wrote."""

    def __init__(
        self,
        parameters: Any,
        output_layer: Any = None,
        fileobj: IO[Any] | None = None,
    ) -> None:
        if isinstance(output_layer, Parameters):  # programs of 0.10 pass the two the other way round
            parameters, output_layer = output_layer, parameters
        if output_layer is not None:
            topology = Topology(output_layer)
            config, types = topology.proto(), dict(topology.fed_type())
        elif fileobj is not None:
            config, types = read_for_inference(fileobj)
        else:
            raise WrongCall("Inference needs an output_layer, or a fileobj with a saved network")
        parameters._pool.check(config.parameters)
        self._types = types
        self._lower(Network(config, types))
        self._pool = parameters._pool
        self._executor = Executor(self._pool.scope)
        self._turn = Lock()

    def _lower(self, net: Network) -> None:
        """Make a program of a network."""
        self._net = net
        self._program = net.program.clone(for_test=True)
        self._printed = printed(net)
        self._outputs: list[Output] = [net.outputs[name] for name in net.config.output_layer_names]

    def iter_infer(self, input: Sequence[Any], feeding: Feeding = None) -> Iterator[list[dict[str, Any]]]:
        """Yield, for the one batch ``input``, a list of {"value", "id", "prob"} for each output layer."""
        feed = DataFeeder(self._types.items(), feeding, self._net.images)(list(input))
        self._pool.current(parameter.name for parameter in self._program.parameters())
        found = self._found(feed, len(input))
        yield [
            {
                field: _flat(field, found.get((number, field)), found.get((number, "filled")))
                for field in _FIELDS
            }
            for number in range(len(self._outputs))
        ]

    def _found(self, feed: Mapping[str, np.ndarray], samples: int) -> dict[tuple[int, str], np.ndarray]:
        """What each output layer gives, by its number and a field; and print what is to be printed."""
        fields = (*_FIELDS, "filled")
        with self._turn:
            net = self._net.opened(feed)
            if net is not self._net:
                self._lower(net)
            outputs = enumerate(self._outputs)
            wanted = {(i, field): getattr(out, field) for i, out in outputs for field in fields}
            present = {key: variable for key, variable in wanted.items() if variable is not None}
            shown = [variable for meter in self._printed for variable in meter.reads]
            run = self._executor.run(self._program, net.fitted(feed), [*present.values(), *shown])
        values, left = run[: len(present)], iter(run[len(present) :])
        for meter in self._printed:
            meter.measure([next(left) for _ in meter.reads], samples)
        return dict(zip(present, values, strict=True))

    def iter_infer_field(
        self, field: str | Sequence[str], input: Sequence[Any], feeding: Feeding = None
    ) -> Iterator[list[np.ndarray]]:
        """Yield, for each output layer, a list of its asked fields."""
        fields = [field] if isinstance(field, str) else list(field)
        if unknown := set(fields) - set(_FIELDS):
            raise WrongCall(f"field is {', '.join(_FIELDS)} or a list of these, not {sorted(unknown)}")
        for outputs in self.iter_infer(input, feeding):
            for each in outputs:
                yield [_present(each, name) for name in fields]

    def infer(
        self,
        input: Sequence[Any],
        field: str | Sequence[str] = "value",
        flatten_result: bool = True,
        feeding: Feeding = None,
    ) -> Any:
        """Compute the output layers for rows of data.

        ``field``: ``value``; ``id`` and ``prob`` of a max_id layer; or a list of these. Returns an array of
        one row for each row of ``input`` (of detection_output, for each object that is found), or a list of
        them where there are several layers or fields: the first field of each layer, then the second...
        Without ``flatten_result`` a list with an array for each layer; of several fields, one such list for
        each.
        """
        fields = [list(each) for each in zip(*self.iter_infer_field(field, input, feeding), strict=True)]
        found = list(chain.from_iterable(fields)) if flatten_result else fields
        return found[0] if len(found) == 1 else found


def infer(
    output_layer: Layer | Sequence[Layer],
    parameters: Parameters,
    input: Sequence[Any],
    feeding: Feeding = None,
    field: str | Sequence[str] = "value",
) -> Any:
    """Compute ``output_layer`` for rows of data; see :meth:`Inference.infer`."""
    return Inference(parameters, output_layer).infer(input, field=field, feeding=feeding)


def _flat(field: str, value: np.ndarray | None, filled: np.ndarray | None) -> np.ndarray | None:
    if value is None or field == "prob":
        return value
    return (value.reshape(-1) if field == "id" else value)[: None if filled is None else int(filled[-1])]


def _present(output: Mapping[str, Any], field: str) -> np.ndarray:
    found = output[field]
    if found is None:
        there = [name for name in _FIELDS if output[name] is not None]
        raise WrongCall(
            f"an output layer has no {field!r}, it has {there}; 'id' and 'prob' are those of max_id"
        )
    return np.asarray(found)
