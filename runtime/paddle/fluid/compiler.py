"""Compiled programs: what upstream compiles a program to, with how it is to be done.

It must never run anything. Guarantee: a compiled program is run as its program is, since every program is
compiled before it runs.
"""

from __future__ import annotations

import warnings
from typing import Any

from paddle._program.description.options import BuildStrategy, ExecutionStrategy
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument
from paddle._program.upstream_flags import cpu_count

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]


class CompiledProgram:
    """A program, and how it is to be compiled. ``Executor.run`` takes it wherever it takes a Program."""

    def __init__(self, program_or_graph: Any, build_strategy: BuildStrategy | None = None) -> None:
        program = getattr(program_or_graph, "_program", program_or_graph)
        if not isinstance(program, Program):
            raise BadArgument(f"CompiledProgram takes a Program, and not {program_or_graph!r}")
        self._program = program
        self._build_strategy = build_strategy
        self._exec_strategy: ExecutionStrategy | None = None
        self._loss_name: str | None = None
        self._is_data_parallel = False
        self._predictor: Any = None

    def with_data_parallel(
        self,
        loss_name: str | None = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: CompiledProgram | None = None,
        places: Any = None,
    ) -> CompiledProgram:
        """Have each batch computed by all places. There is one, so each batch is computed as a whole.
        ``places``: a list of places, or one place."""
        if self._is_data_parallel:
            raise BadArgument("with_data_parallel has been called already: it is called once")
        if share_vars_from is not None and not isinstance(share_vars_from, CompiledProgram):
            raise BadArgument(f"share_vars_from is a CompiledProgram, and not {share_vars_from!r}")
        self._is_data_parallel = True
        self._loss_name = loss_name
        self._build_strategy = build_strategy or self._build_strategy
        self._exec_strategy = exec_strategy
        several = places if isinstance(places, list | tuple) else [places] * (places is not None)
        tell_of_sums(self._build_strategy, len(several) or cpu_count())
        return self

    def with_inference_optimize(self, config: Any) -> CompiledProgram:
        """Have an Executor compute the model that a NativeConfig or AnalysisConfig names: it is fed a list of
        PaddleTensors then, in the order of the model's inputs, and gives such a list."""
        from paddle.fluid.core import create_paddle_predictor

        if self._predictor is not None:
            raise BadArgument("with_inference_optimize has been called already: it is called once")
        self._predictor = create_paddle_predictor(config)
        return self

    _with_inference_optimize = with_inference_optimize

    @property
    def _is_inference(self) -> bool:
        return self._predictor is not None


def tell_of_sums(build_strategy: BuildStrategy | None, places: int) -> None:
    """Warn where gradients would be the sum of those of several places, and are of the whole batch here."""
    ways = BuildStrategy.GradientScaleStrategy
    if places == 1 or build_strategy is None or build_strategy.gradient_scale_strategy == ways.CoeffNumDevice:
        return
    by_hand = "the gradient of the loss that is fed is not used"
    by_sum = f"to learn as by the sum over {places} places, multiply the loss by {places}"
    is_fed = build_strategy.gradient_scale_strategy == ways.Customized
    warnings.warn(
        "gradient_scale_strategy changes nothing: the gradient is that of the loss of the whole batch; "
        f"{by_hand if is_fed else by_sum}",
        stacklevel=3,
    )
