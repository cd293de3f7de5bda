"""Random faults: real pservers and trainers, a schedule of faults drawn from a seed, and a monitor that looks
for broken promises while they happen. ``python -m tests.faults.random_faults --seconds 600 --seed 7``.
"""
