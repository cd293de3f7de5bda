"""The best tags of a sequence, by what each is worth and what passing from tag to tag is.

It must never compute: the function appends an operator to the default program. Guarantee: no gradient goes
back; training is by ``paddle.static.nn.crf_decoding``'s kin, ``linear_chain_crf``.
"""

from __future__ import annotations

from typing import Any

from paddle.nn.layer.layers import Layer
from paddle.tensor._append import append_all

__all__ = ["ViterbiDecoder", "viterbi_decode"]


def viterbi_decode(
    potentials: Any,
    transition_params: Any,
    lengths: Any,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """What the best chain of each sequence is worth, (n), and its tags, (n, the longest), 0 behind its end.

    ``potentials``: what each tag is worth, (n, time, tags). ``transition_params``: from tag to tag, (tags,
    tags). With ``include_bos_eos_tag`` the last tag begins each sequence, and the one before it ends it.
    """
    inputs = {"Input": potentials, "Transition": transition_params, "Length": lengths}
    scores, path = append_all(
        "viterbi_decode",
        inputs,
        {"include_bos_eos_tag": include_bos_eos_tag},
        outputs=("Scores", "Path"),
        dtypes={"Path": "int64"},
        stop_gradient=True,
        name=name,
    )
    return scores, path


class ViterbiDecoder(Layer):
    """See ``viterbi_decode``; ``transitions`` are its ``transition_params``."""

    def __init__(self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions, self.include_bos_eos_tag, self.name = transitions, include_bos_eos_tag, name

    def forward(self, potentials: Any, lengths: Any) -> tuple[Any, Any]:
        """Append the decoding."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)
