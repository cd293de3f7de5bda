"""The fluid generation, which this release does not have: importing it says so."""

raise ImportError(
    "paddle.fluid is not in this release; programs of the v2 generation run (import paddle.v2)."
)
