"""The launcher of fleet 1.x, ``python -m paddle.distributed.launch_ps``: its flags, as those of fleetrun.

It must never start a process. Guarantee: a program is started as that launcher says, two servers and two
workers where nothing is said, logs in ``logs``. Border: ``print_config``, ``cluster_node_ips``, ``node_ip``
change nothing, as there; where no port is said free ones are taken, not 6170 and what follows.
"""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser
from collections.abc import Sequence

__all__ = ["as_fleetrun"]


def as_fleetrun(argv: Sequence[str]) -> list[str]:
    """The command line of fleetrun that starts the same processes."""
    asked = _parser().parse_args(argv)
    endpoints = asked.endpoints.split(",") if asked.endpoints else []
    number = 2 if asked.server_num is None else asked.server_num
    if asked.start_port is not None and not endpoints:
        ports = range(asked.start_port, asked.start_port + number)
        endpoints = [f"127.0.0.1:{port}" for port in ports]
    flags = [f"--worker_num={asked.worker_num}", f"--log_dir={asked.log_dir}"]
    if endpoints:
        flags.append(f"--servers={','.join(endpoints)}")
    if asked.server_num is not None or not endpoints:
        flags.append(f"--server_num={number}")
    return [*flags, asked.training_script, *asked.training_script_args]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m paddle.distributed.launch_ps",
        description="Starts a program as servers and trainers of this machine, as fleet 1.x does.",
        epilog="fleetrun (python -m paddle.distributed.launch) starts it on several machines too.",
    )
    parser.add_argument("--worker_num", type=int, default=2, help="how many trainers; 2")
    parser.add_argument("--server_num", type=int, help="how many servers; 2, or as many as --endpoints lists")
    parser.add_argument("--endpoints", default="", help="host:port,... of the servers")
    parser.add_argument("--start_port", type=int, help="the first server's port; else free ones")
    parser.add_argument(
        "--log_dir", default="logs", help="where serverlog.N and workerlog.N are written; logs"
    )
    for name in ("print_config", "cluster_node_ips", "node_ip"):
        parser.add_argument(f"--{name}", help="taken, and of no effect")
    parser.add_argument("training_script", help="the program; what follows it is its own")
    parser.add_argument("training_script_args", nargs=REMAINDER)
    return parser
