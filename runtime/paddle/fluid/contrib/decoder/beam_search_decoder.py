"""The module that programs import decoders from. It must never hold code of its own."""

from paddle.fluid.contrib.decoder.beams import BeamSearchDecoder
from paddle.fluid.contrib.decoder.states import InitState, StateCell
from paddle.fluid.contrib.decoder.training import TrainingDecoder

__all__ = ["BeamSearchDecoder", "InitState", "StateCell", "TrainingDecoder"]
