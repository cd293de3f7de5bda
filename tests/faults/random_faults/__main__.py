"""The random-fault run by hand; see the package's text."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from itertools import count
from pathlib import Path

from tests.faults.random_faults.run import Broken, run
from tests.faults.random_faults.scenario import MODES


def main() -> int:
    """One mode, or one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.random_faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    parser.add_argument("--mode", choices=MODES, help="only this one; else all, in turns of a minute")
    asked = parser.parse_args()
    turn_s = asked.seconds if asked.mode else min(60.0, asked.seconds / 2)
    left = asked.seconds
    for number in count():
        if left <= 0:
            return 0
        mode, seed = asked.mode or MODES[number % len(MODES)], asked.seed + number
        folder = Path(tempfile.mkdtemp(prefix="random-faults-"))
        try:
            print(run(seed, mode, min(turn_s, left), folder), flush=True)
        except Broken as broken:
            print(f"{broken}\nits logs are in {folder}", file=sys.stderr)
            return 1
        left -= turn_s
    return 0


if __name__ == "__main__":
    sys.exit(main())
