"""The flags of ``python -m paddle.distributed.launch``, which is ``fleetrun``: as the fleet generation spells
them, in 2.0 and since.

They are a part of the table in ``_launch.flags``, which everybody reads. It must never know what a flag does.
"""

from __future__ import annotations

from functools import partial

from paddle._launch.flag import Flag, row

_fleet = partial(row, "f", "acts")
_hint = partial(row, "f", "hint")
_forgone = partial(row, "f", "forgone")
_other = partial(row, "f", "absent")

# fmt: off
FLEET_FLAGS: tuple[Flag, ...] = (
    _fleet("server_num", "int", 0, "Number of parameter servers on this machine, on free ports",
           env="PADDLE_SERVER_NUM", low=0),
    _fleet("worker_num", "int", 0, "Number of trainers on this machine", env="PADDLE_TRAINER_NUM", low=0,
           also="trainer_num"),
    _fleet("servers", "names", (),
           "Parameter servers of all machines, host:port; positions are their numbers",
           env="PADDLE_SERVERS_ENDPOINTS"),
    _fleet("workers", "names", (), "Trainers of all machines, host or host:port; positions are their numbers",
           also="trainers",
           env="PADDLE_TRAINERS_ENDPOINTS"),
    _fleet("nnodes", "int", 1, "Number of machines, if they are not listed",
           env="PADDLE_NNODES", low=1, high=1000),
    _fleet("master", "str", "",
           "Where machines meet: host:port of one of them, with a port that is free there",
           env="PADDLE_MASTER"),
    _fleet("rank", "int", -1, "Number of this machine (-1: 0 for the master, then by arrival)",
           env="PADDLE_RANK PADDLE_TRAINER_ID", low=-1),
    _fleet("job_id", "str", "default", "Name of the job, the same on all machines",
           env="PADDLE_JOB_ID"),
    _fleet("sort_ip", "bool", False, "Number machines by their addresses", env="PADDLE_SORT_IP"),
    _fleet("master_timeout", "duration", 600.0, "How long machines wait for each other", low=1),
    _fleet("host", "str", "", "Address at which other machines reach this one, if it is not its own",
           env="POD_IP"),
    _fleet("log_dir", "str", "log", "Folder for serverlog.N and workerlog.N; it is created",
           env="PADDLE_LOG_DIR"),
    _fleet("http_port", "int", 0, "Port that PADDLE_GLOO_HTTP_ENDPOINT names (0: a free one)",
           env="PADDLE_GLOO_PORT", low=0, high=65535, also="gloo_port"),
    _fleet("with_gloo", "str", "", "Workers can communicate (unset: PADDLE_WITH_GLOO; with --master 1)",
           choices=("0", "1", "2")),
    _hint("log_level", "str", "INFO", "How much the launcher says"),
    _hint("log_overwrite", "bool", False, "Whether logs of an earlier job are emptied, as they always are"),
    _hint("enable_gpu_log", "bool", True, "Whether what GPUs do is logged"),
    _hint("legacy", "bool", False, "Whether to start as 2.0 does"),
    _hint("start_port", "int", 6070, "First port of collective training"),
    _hint("max_restart", "int", 3, "How often an elastic job is started again"),
    _hint("elastic_timeout", "int", 30, "How long an elastic job waits"),
    _fleet("run_mode", "str", "", "Train with parameter servers (ps), or in one process (collective)",
           choices=("ps", "collective")),
    _fleet("nproc_per_node", "int", 0, "Processes per machine without parameter servers: only 1 is supported",
           low=0),
    _fleet("ips", "names", (), "Machines without parameter servers: only one is supported",
           also="cluster_node_ips"),
    _other("heter_workers", "names", (), "Trainers on other devices"),
    _other("heter_worker_num", "int", 0, "Number of trainers on other devices"),
    _other("heter_devices", "str", "", "Their devices"),
    _forgone("gpus", "names", (), "GPUs of the trainers", also="selected_gpus"),
    _forgone("xpus", "names", (), "XPUs of the trainers", also="selected_xpus"),
    _forgone("devices", "names", (), "Devices of the trainers"),
    _other("auto_parallel_config", "str", "", "How collective training is laid out"),
    _other("auto_tuner_json", "str", "", "What of collective training is tried out"),
    _other("elastic_server", "str", "", "Server that knows who has come and gone"),
    _other("elastic_level", "int", -1, "What an elastic job does when a machine is lost"),
    _other("np", "str", "", "Number of machines of an elastic job"),
    _other("scale", "int", 0, "By how many machines an elastic job grows"),
    _other("force", "bool", False, "Take over an elastic job"),
)
# fmt: on
