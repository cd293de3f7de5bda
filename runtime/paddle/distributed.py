"""The fleet generation, which this release does not have: importing it says so."""

raise ImportError("paddle.distributed is not in this release; jobs are started by `python paddle.py --help`.")
