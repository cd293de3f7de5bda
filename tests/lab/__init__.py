"""A cluster of real machines, as far as a program can see, on the one machine that runs the tests.

`cluster.py` says what tests may ask of any of them, `lab.py` makes one of namespaces. CONTRIBUTING.md shows a
test.
"""
