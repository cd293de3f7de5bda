"""Sentences that are made step by step: ``paddle.nn.BeamSearchDecoder`` and ``dynamic_decode``, as in fluid.

They must never know what a cell computes. Guarantee: a beginning that has ended, and is overtaken by one that
has not, ends nothing.
"""

from paddle.fluid.layers import beam_decoder
from paddle.fluid.layers.decoding import Decoder, dynamic_decode

__all__ = ["BeamSearchDecoder", "Decoder", "dynamic_decode"]


class BeamSearchDecoder(beam_decoder.BeamSearchDecoder):
    """As ``fluid.layers`` has it; but the decoding goes on while any beginning that is kept goes on."""

    tracks_own_finished = True
