"""Side-by-side ratios against peers and against the physical limit; run as ``python -m benchmarks NAME``.

Absolute times say more about a machine than about a program, so a benchmark here never states one as its
goal. It runs the same work in several ways, in turns, in one run, and states its goals as ratios between
them.
"""
