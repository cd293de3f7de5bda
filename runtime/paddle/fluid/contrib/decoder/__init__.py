"""Decoders of sequences: one that is trained, and one that searches by beams."""

from paddle.fluid.contrib.decoder.beam_search_decoder import (
    BeamSearchDecoder,
    InitState,
    StateCell,
    TrainingDecoder,
)

__all__ = ["BeamSearchDecoder", "InitState", "StateCell", "TrainingDecoder"]
