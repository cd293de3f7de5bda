"""Every flag of the project, one row each: the only place where a name, a default or a help line is written.

The command lines, ``paddle.init``, ``PADDLE_INIT_*``, ``conf.py`` and the reference pages read this table. It
must never know a process, a file or an environment; a row only turns text into a typed value and back.

Guarantee: there is no other place. A name that is in no row is refused, with those that are near to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from types import MappingProxyType

from paddle._launch.errors import FlagError, NotInThisRelease
from paddle._launch.flag import Effect, Flag, Kind, User, Value

_COMMANDS = frozenset(
    {
        *("paddle.py", "paddle pserver", "paddle master", "paddle reshard", "paddle export"),
        *("paddle snapshot", "fleetrun", "paddle rank", "paddle pod"),
    }
)
_MOST_PODS = 1000
_MOST_TRAINERS = 1 << 16  # a pserver keeps something of each from the start


def _users(letters: str) -> frozenset[User]:
    names: dict[str, User] = {
        "l": "launcher", "p": "pserver", "t": "trainer", "m": "master", "r": "reshard",
        "e": "export", "s": "snapshot", "f": "fleetrun", "k": "rank", "o": "pod",
    }  # fmt: skip
    return frozenset(names[letter] for letter in letters)


def _row(
    users: str,
    effect: Effect,
    name: str,
    kind: Kind,
    default: Value,
    help: str,
    *,
    env: str = "",
    conf: str | None = None,
    short: str | None = None,
    also: str | None = None,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] = (),
) -> Flag:
    own = (f"PADDLE_INIT_{name.upper()}",) if "t" in users else ()
    return Flag(
        name=name, kind=kind, default=default, help=help, users=_users(users), effect=effect,
        env=own + tuple(env.split()), conf=conf, short=short, also=also, low=low, high=high, choices=choices,
    )  # fmt: skip


_job = partial(_row, "l", "acts")  # only the launcher reads it
_all = partial(_row, "lpt", "acts")  # it means the same to every role
_trainer = partial(_row, "t", "acts")
_program = partial(_row, "t", "program")
_hint = partial(_row, "pt", "hint")
_master = partial(_row, "m", "acts")

# One row each, and the rows of one purpose together: (users, effect,) name, kind, default, help.
# fmt: off
FLAGS: tuple[Flag, ...] = (
    # The job
    _job("job_dispatch_package", "str", "", "Local workspace folder that is sent to every node", short="p"),
    _job("job_workspace", "str", "", "Workspace folder that every node has already; none is sent", short="j"),
    _job("shard_data", "str", "", "Folder of the package; of its files -0000i a node is sent only its own"),
    _job("job_prepare", "str", "", "Python program of the package that is run here before it is sent"),
    _job("job_program", "str", "train.py", "Program of the workspace that every trainer runs"),
    _job("conf", "str", "conf.py", "Settings file: nodes, folders, ports"),
    _job("dry_run", "bool", False, "Print the plan and stop before anything is started or changed"),
    _job("detach", "bool", False, "Leave the job in the background once it trains: fab status, logs, stop"),
    _job("resume", "str", "", "Go on from the snapshots of this job that has ended, in its workspaces"),
    _job("format", "str", "text", "What is printed: for people, or JSON, an object per line",
         choices=("text", "json")),
    _job("show_logs", "bool", False, "Show what the roles print, too, each line with its role and address"),
    _job("grep_logs", "str", "", "Of that the lines in which this regular expression is found"),
    _job("hosts", "names", (), "Nodes, local or user@host[:sshport]; the place in the list is the node's id",
         conf="HOSTS"),
    _job("root_dir", "str", "jobs", "Folder on every node for the JOB folders", conf="ROOT_DIR"),
    _job("platform", "str", "fabric", "What has nodes: fabric (SSH, or this machine), mpi or kubernetes",
         conf="PLATFORM", choices=("fabric", "mpi", "kubernetes")),
    _job("mpirun_flags", "str", "", "Flags of mpirun beside those that it needs", conf="MPIRUN_FLAGS"),
    _job("pserver_hosts", "names", (), "Nodes of HOSTS, by name or number, with a pserver (unset: all)",
         conf="PSERVER_HOSTS"),
    _job("trainer_hosts", "names", (), "Nodes with a trainer; the place in this list is its id (unset: all)",
         conf="TRAINER_HOSTS"),
    _job("ld_library_path", "str", "", "Put before LD_LIBRARY_PATH on every node", conf="LD_LIBRARY_PATH"),
    _job("host_keys", "str", "known", "Machines to log in to: those of known_hosts; new ones, too; or any",
         conf="HOST_KEYS", choices=("known", "new", "any")),
    _job("node_python", "str", "", "Python of the nodes (unset: that of ROOT_DIR/.paddle/venv, or python3)",
         conf="NODE_PYTHON"),
    _job("tls", "str", "", "Encrypt, by an authority of this job: auto or off (unset: auto over SSH)"),
    _job("max_restart", "int", 0, "How often a process that was killed, or the whole job, is started again",
         conf="PADDLE_MAX_RESTART", low=0),
    # Pods, which Kubernetes has for nodes
    _job("image", "str", "", "Image of the pods, which has the runtime", conf="KUBERNETES_IMAGE"),
    _job("pserver_num", "int", 1, "Number of pods with a parameter server", conf="PSERVER_NUM",
         low=1, high=_MOST_PODS),
    _job("trainer_num", "int", 1, "Pods with a trainer", conf="TRAINER_NUM", low=1, high=_MOST_PODS),
    _job("namespace", "str", "", "Namespace of the job (unset: kubectl's)", conf="KUBERNETES_NAMESPACE"),
    _job("context", "str", "", "Context of kubectl that names the cluster (unset: its current one)",
         conf="KUBERNETES_CONTEXT"),
    _job("image_pull_policy", "str", "IfNotPresent", "When the image is fetched",
         choices=("Always", "IfNotPresent", "Never")),
    _job("image_pull_secret", "str", "", "Secret with which it is fetched, there already"),
    _job("pserver_cpu", "str", "500m", "Processors that a pod of a parameter server asks for"),
    _job("pserver_memory", "str", "512Mi", "Its memory; if given, it may not have more, either"),
    _job("trainer_cpu", "str", "500m", "Processors that a trainer's pod asks for"),
    _job("trainer_memory", "str", "512Mi", "Its memory; if given, it may not have more, either"),
    _job("storage", "str", "1Gi", "Volume of each parameter server for --snapshot_dir"),
    _job("storage_class", "str", "", "Kind of that volume (unset: the cluster's usual one)"),
    _job("collect_timeout", "duration", 3600.0, "How long pods wait to be collected", low=1, high=2592000),
    _job("kubernetes_version", "str", "", "Version of the cluster, from 1.20 on (unset: it is asked)"),
    # Where parameter servers listen and trainers find them
    _row("lpts", "acts", "port", "int", 7164, "First port; sparse ones follow the dense",
         env="PADDLE_PSERVER_PORT PADDLE_PORT", conf="PADDLE_PORT", low=1, high=65535),
    _row("lptrs", "acts", "ports_num", "int", 1,
         "Number of dense ports; each is one process of the parameter server",
         env="PADDLE_PORTS_NUM", conf="PADDLE_PORTS_NUM", low=1, high=1024),
    _row("lptrs", "acts", "ports_num_for_sparse", "int", 0,
         "Number of ports for parameters with sparse_update",
         conf="PADDLE_PORTS_NUM_FOR_SPARSE", low=0, high=1024),
    _all("nics", "names", (), "Network devices whose address is bound (none: loopback)", conf="PADDLE_NIC"),
    _row("p", "acts", "host", "names", (), "Addresses to bind in place of those of --nics"),
    _row("pt", "acts", "num_gradient_servers", "int", 1, "Number of trainers of the job",
         env="PADDLE_TRAINERS_NUM PADDLE_TRAINERS TRAINERS PADDLE_NUM_GRADIENT_SERVERS",
         low=1, high=_MOST_TRAINERS),
    _trainer("trainer_id", "int", 0, "Number of this trainer, counted from 0",
         env="PADDLE_TRAINER_ID", low=0, high=_MOST_TRAINERS - 1),
    _row("ts", "acts", "pservers", "names", ("127.0.0.1",),
         "Hosts of the parameter servers, all with the same ports",
         env="PADDLE_PSERVERS_IP_PORT_LIST PADDLE_PSERVERS PADDLE_PSERVER_IPS"),
    _row("lp", "acts", "barrier_timeout", "float", 600.0, "Seconds that a step waits for a trainer", low=1),
    _row("lp", "acts", "min_trainers", "int", 0, "Go on with this many trainers without others (0: with all)",
         low=0, high=_MOST_TRAINERS),
    _row("lts", "acts", "connect_timeout", "float", 60.0, "Seconds to wait for a parameter server", low=0),
    _all("comment", "str", "", "A word to find the processes by; it has no other meaning"),
    _row("lp", "acts", "log_period_server", "int", 500, "Steps between two lines of a server's log", low=1),
    # In which numbers gradients travel
    _trainer("wire", "str", "float32", "Gradients on their way, the same for all trainers",
             choices=("float32", "bfloat16", "float16", "topk")),
    _trainer("wire_topk", "float", 0.01, "Share of a parameter's gradient that travels, for topk, above 0",
             low=0, high=1),
    _trainer("wire_answers", "str", "float32", "New parameters on their way back, the same for all trainers",
             choices=("float32", "bfloat16")),
    _row("lp", "acts", "memory_limit", "int", 0,
         "MiB that parameters, and what goes with them, may need here (0: all there is)", low=0),
    # What survives a broken connection, and a parameter server that is killed
    _trainer("reconnect_timeout", "float", 60.0,
             "Seconds to come back after a connection broke (0: not at all)", low=0),
    _trainer("journal_limit", "int", 512,
             "MiB that a trainer keeps, to tell a restored parameter server again", low=1),
    _row("lp", "acts", "snapshot_dir", "str", "",
         "Folder of the snapshots that a killed server, or the next job, goes on from",
         conf="PADDLE_SNAPSHOT_DIR"),
    _row("lp", "acts", "snapshot_period", "int", 1000, "Steps between two snapshots",
         conf="PADDLE_SNAPSHOT_PERIOD", low=1),
    _row("lp", "acts", "snapshot_interval", "duration", 600.0,
         "Time between two snapshots, if that is sooner",
         conf="PADDLE_SNAPSHOT_INTERVAL", low=1),
    _row("lp", "acts", "snapshot_keep", "int", 3, "Number of snapshots that are kept",
         conf="PADDLE_SNAPSHOT_KEEP", low=1),
    _row("lp", "acts", "snapshot_restarts", "int", 3,
         "How often a process that was killed is started again from its newest snapshot",
         conf="PADDLE_SNAPSHOT_RESTARTS", low=0),
    _row("pt", "absent", "rdma_tcp", "str", "tcp", "Transport: tcp or rdma"),
    _row("pts", "acts", "token_file", "str", "",
         "File with the job's token, the same for all; launched jobs have their own",
         env="PADDLE_TOKEN_FILE"),
    _row("p", "acts", "tls_cert", "str", "", "Certificate to show, PEM: what comes over TCP is encrypted",
         env="PADDLE_TLS_CERT"),
    _row("p", "acts", "tls_key", "str", "", "Its key, PEM without a password", env="PADDLE_TLS_KEY"),
    _row("ts", "acts", "tls_ca", "str", "",
         "Authority of the parameter servers' certificates, PEM: encrypts", env="PADDLE_TLS_CA"),
    # The trainer
    _row("lpt", "forgone", "use_gpu", "bool", False, "Train on a GPU", conf="PADDLE_USE_GPU"),
    _trainer("trainer_count", "int", 1, "Threads of a trainer", env="PADDLE_TRAINER_COUNT", low=1, high=1024),
    _trainer("read_ahead", "bool", True, "Read the next batch in a thread, while a step is computed"),
    _trainer("seed", "int", 1, "Seed of the initial values and of dropout", low=0),
    _trainer("profile", "bool", False, "Write beside the trainer's log where the time of its steps went"),
    _program("log_period", "int", 100, "Batches between two lines of the log", low=0),
    _program("dot_period", "int", 1, "Batches between two dots on the screen", low=0),
    _program("show_parameter_stats_period", "int", 0, "Batches between two parameter statistics", low=0),
    _program("show_layer_stat", "bool", False, "Print statistics of every layer"),
    _program("num_passes", "int", 100, "Passes over the data", low=0),
    _program("start_pass", "int", 0, "Number of the first pass", low=0),
    _program("saving_period", "int", 1, "Passes between two saved models", low=0),
    _program("saving_period_by_batches", "int", 0, "Batches between two saved models", low=0),
    _program("save_only_one", "bool", False, "Keep only the newest saved model"),
    _program("save_dir", "str", "", "Folder of the saved models"),
    _program("init_model_path", "str", "", "Saved model to start from"),
    _program("load_missing_parameter_strategy", "str", "fail", "What it lacks: fail, rand or zero"),
    _program("config", "str", "", "Configuration of the network"),
    _program("config_args", "str", "", "Arguments of that configuration, k=v with commas"),
    _program("local", "bool", True, "Train without parameter servers"),
    _program("job", "str", "train", "What to do: train, test, checkgrad or time"),
    _program("test_period", "int", 0, "Batches between two tests", low=0),
    _program("test_pass", "int", -1, "Saved pass to test"),
    _program("test_wait", "bool", False, "Wait for the saved pass to appear"),
    _program("test_all_data_in_one_period", "bool", False, "Test on all the data each time"),
    _program("average_test_period", "int", 0, "Batches between two tests of averaged parameters", low=0),
    _program("distribute_test", "bool", False, "Split the test data over the trainers"),
    _program("predict_output_dir", "str", "", "Folder of the predictions"),
    _program("model_list", "str", "", "File that lists the saved models to test"),
    _program("feat_file", "str", "", "File of extracted features"),
    _program("with_cost", "bool", True, "Whether the network has a cost layer"),
    _program("beam_size", "int", 1, "Width of beam search", low=1),
    # Behaviour of the original that this release does not have
    _row("t", "absent", "start_pserver", "bool", False, "Start a parameter server inside the trainer"),
    _row("t", "absent", "parallel_nn", "bool", False, "Place layers on several devices"),
    _row("t", "absent", "prev_batch_state", "bool", False, "Carry recurrent state from batch to batch"),
    _row("pt", "absent", "loadsave_parameters_in_pserver", "bool", False, "Parameter servers keep models"),
    # Tuning of the original implementation
    _hint("gpu_id", "int", 0, "First GPU", low=0),
    _hint("async_lagged_ratio_min", "float", 1.0, "Smallest discard ratio, asynchronous training"),
    _hint("async_lagged_ratio_default", "float", 1.5, "Discard ratio where the optimizer has none"),
    _hint("pserver_num_threads", "int", 1, "Threads of a parameter server", low=1),
    _hint("parallel_thread_num", "int", 1, "Threads that prepare parameters to send", low=1),
    _hint("small_messages", "bool", False, "Send small messages without delay, as always"),
    _hint("sock_send_buf_size", "int", 40 << 20, "Bytes of a socket's send buffer", low=0),
    _hint("sock_recv_buf_size", "int", 40 << 20, "Bytes of a socket's receive buffer", low=0),
    _hint("sock_listen_queue_size", "int", 1024, "Connections waiting to be accepted", low=1),
    _hint("enable_grad_share", "int", 100 << 20, "Bytes from which threads share a gradient", low=0),
    _hint("use_old_updater", "bool", False, "Send gradients only after the whole backward pass"),
    _hint("check_sparse_distribution_in_pserver", "bool", False, "Watch how sparse rows spread"),
    _hint("check_sparse_distribution_batches", "int", 100, "Batches between two such looks", low=1),
    _hint("check_sparse_distribution_ratio", "float", 0.6, "Share of uneven batches to report"),
    _hint("check_sparse_distribution_unbalance_degree", "float", 2.0, "How uneven a batch may be"),
)
# fmt: on

# Apart from the others: a master is no role of a job, and its port is another.
# fmt: off
MASTER_FLAGS: tuple[Flag, ...] = (
    _master("port", "int", 8080, "Port that trainers ask", low=1, high=65535),
    _master("nics", "names", (), "Network devices whose address is bound (none: loopback)"),
    _master("host", "names", (), "Addresses to bind in place of those of --nics"),
    _master("task_timeout_dur", "duration", 1200.0, "Time to read a task; then another trainer gets it",
            also="task_timout_dur", low=1),
    _master("task_timeout_max", "int", 3, "Failures of a task that are too many are more than this", low=0),
    _master("chunk_per_task", "int", 10, "Chunks of RecordIO files in a task", low=1),
    _master("state_file", "str", "", "File from which a killed master goes on (none: it begins anew)"),
    _master("token_file", "str", "", "File with the token that trainers must have", env="PADDLE_TOKEN_FILE"),
    _master("log_level", "str", "info", "Least that is logged: debug, info, warn, error or crit"),
    _master("endpoints", "str", "", "Addresses of etcd: not in this release, --state_file takes its place"),
    _row("m", "hint", "ttl", "int", 60, "Seconds of the lease in etcd", low=0),
)
# fmt: on

# Of commands that work on the snapshots of a job that does not run.
# fmt: off
SNAPSHOT_FLAGS: tuple[Flag, ...] = (
    _row("re", "acts", "to", "str", "", "Folder or file that is made; it must not be there"),
    _row("r", "acts", "nodes", "int", 1, "Number of nodes with a parameter server", low=1, high=65536),
    _row("e", "acts", "format", "str", "tar",
         "tar: as Parameters.to_tar of v2; persistables, combined: as save_persistables of fluid, a file for "
         "each variable or one for all"),
    _row("e", "acts", "average", "bool", False, "Write the averages that the job keeps"),
)
# fmt: on

# Of `python -m paddle.distributed.launch`, which is `fleetrun`: as the fleet generation spells them.
# fmt: off
_fleet = partial(_row, "f", "acts")
_collective = partial(_row, "f", "absent")
FLEET_FLAGS: tuple[Flag, ...] = (
    _fleet("server_num", "int", 0, "Number of parameter servers, on this machine and on free ports", low=0),
    _fleet("worker_num", "int", 0, "Number of trainers, on this machine", low=0, also="trainer_num"),
    _fleet("servers", "names", (), "Parameter servers of all machines, host:port; the order is their number"),
    _fleet("workers", "names", (), "Trainers of all, host or host:port; the order counts", also="trainers"),
    _fleet("log_dir", "str", "log", "Folder of serverlog.N and workerlog.N; it is made"),
    _fleet("http_port", "int", 0, "Port that PADDLE_GLOO_HTTP_ENDPOINT names (0: a free one)",
           low=0, high=65535, also="gloo_port"),
    _fleet("with_gloo", "str", "", "If processes meet (unset: PADDLE_WITH_GLOO)", choices=("0", "1", "2")),
    _row("f", "hint", "job_id", "str", "default", "Name of the job; each has one of its own"),
    _row("f", "hint", "log_level", "str", "INFO", "How much the launcher says"),
    _collective("run_mode", "str", "ps", "How to train: ps, with parameter servers"),
    _collective("heter_workers", "names", (), "Trainers on other devices"),
    _collective("heter_worker_num", "int", 0, "Number of trainers on other devices"),
    _collective("heter_devices", "str", "", "Their devices"),
    _row("f", "forgone", "gpus", "names", (), "GPUs of the trainers", also="selected_gpus"),
    _row("f", "forgone", "xpus", "names", (), "XPUs of the trainers", also="selected_xpus"),
    _row("f", "forgone", "devices", "names", (), "Devices of the trainers"),
    _collective("nproc_per_node", "int", 0, "Processes of collective training on each machine"),
    _collective("ips", "names", ("127.0.0.1",), "Machines of collective training"),
    _collective("cluster_node_ips", "names", (), "Machines of collective training, an older word"),
    _collective("elastic_server", "str", "", "Server that knows who has come and gone"),
    _collective("np", "str", "", "Number of machines of an elastic job"),
    _collective("scale", "int", 0, "By how many machines an elastic job grows"),
    _collective("host", "str", "", "This machine's address in an elastic job"),
    _collective("force", "bool", False, "Take over an elastic job"),
    _collective("master", "str", "", "Where machines meet that are not listed"),
    _collective("nnodes", "str", "1", "Number of machines that meet there"),
)
# fmt: on

# Of `paddle rank`, which mpirun and srun start; the ports as start_mpi_train.sh of the original set them.
# fmt: off
_rank = partial(_row, "k", "acts")
RANK_FLAGS: tuple[Flag, ...] = (
    _rank("machines", "str", "", "File of the job's machines, one on each line (unset: machines, if there)"),
    _rank("machine_names", "names", (), "They themselves, in place of a file", env="PADDLE_MACHINES"),
    _rank("port", "int", 7164, "First port of each parameter server; sparse ones follow the dense",
          env="PADDLE_INIT_PORT", low=1, high=65535),
    _rank("ports_num", "int", 1, "Number of its dense ports", env="PADDLE_INIT_PORTS_NUM", low=1, high=1024),
    _rank("ports_num_for_sparse", "int", 1, "Number of its ports for parameters with sparse_update",
          env="PADDLE_INIT_PORTS_NUM_FOR_SPARSE", low=0, high=1024),
    _rank("rally_port", "int", 0, "Port of rank 0 at which ranks find each other (0: behind all the others)",
          low=0, high=65535),
    _rank("rally_timeout", "duration", 60.0, "How long they look for each other"),
    _rank("log_dir", "str", "logs", "Folder of pserver.log and train.log; it is made"),
)
# fmt: on

# Of `paddle pod`, beside the launcher's flags that are of its job.
# fmt: off
_pod = partial(_row, "o", "acts")
POD_FLAGS: tuple[Flag, ...] = (
    _pod("role", "str", "", "What this pod is", choices=("pserver", "trainer")),
    _pod("name", "str", "", "Name of the job, by which pods find each other: NAME-pserver-0.NAME"),
    _pod("rank", "int", -1, "Number of this pod (-1: JOB_COMPLETION_INDEX, or that behind its host's name)"),
    _pod("package", "str", "", "Folder with the parts of the workspace (unset: it is there)"),
    _pod("template", "str", "", "Folder that has the workspace, where that cannot be written to"),
    _pod("secrets", "str", "", "Folder with what processes show and trust: token, tls_ca, tls_cert, tls_key"),
    _pod("keep", "duration", 0.0, "How long a trainer's pod stays when its program has ended", low=0),
    _pod("reports", "bool", False, "Print what roles report, too, for the launcher"),
)
# fmt: on

BY_NAME: Mapping[str, Flag] = MappingProxyType({flag.name: flag for flag in FLAGS})
BY_CONF_NAME: Mapping[str, Flag] = MappingProxyType({flag.conf: flag for flag in FLAGS if flag.conf})


def flags_of(*users: User) -> tuple[Flag, ...]:
    """Give the flags that at least one of ``users`` takes, in the order of the tables."""
    tables = (FLAGS, MASTER_FLAGS, SNAPSHOT_FLAGS, FLEET_FLAGS, RANK_FLAGS, POD_FLAGS)
    return tuple(flag for table in tables for flag in table if flag.users & set(users))


def defaults_of(*users: User) -> dict[str, Value]:
    """Give the defaults of ``flags_of(*users)`` by name."""
    return {flag.name: flag.default for flag in flags_of(*users)}


def unknown(written: str, name: str, candidates: Iterable[str], where: str) -> FlagError:
    """Make the error for a flag ``name`` that ``where`` does not have; ``written`` is what the user typed."""
    near = get_close_matches(name.lower(), list(candidates), n=3, cutoff=0.6)
    manual = where if where in _COMMANDS else "paddle"
    advice = f"Did you mean {' or '.join(near)}?" if near else f"`{manual} --help` lists them."
    return FlagError(f"{written}: {where} has no flag {name!r}. {advice}")


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Give the one of ``candidates`` that is a single slip of the finger away from ``name``."""
    return next((candidate for candidate in candidates if _is_slip(name, candidate)), None)


def _is_slip(one: str, other: str) -> bool:
    """Whether a letter more, a letter less, another letter or two swapped make one of the other."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    mine, its = one[same:], other[same:]
    swapped = mine[:2] == its[1::-1] and mine[2:] == its[2:]
    return one != other and (mine[1:] == its[1:] or mine[1:] == its or mine == its[1:] or swapped)


def check_ports(port: int, ports_num: int, ports_num_for_sparse: int) -> None:
    """Refuse a range of ports that leaves the numbers that ports have."""
    last = port + ports_num + ports_num_for_sparse - 1
    if last > 65535:
        raise FlagError(
            f"port {port}, ports_num {ports_num} and ports_num_for_sparse {ports_num_for_sparse} need ports "
            f"up to {last}, but the last one there is, is 65535. Give a lower port or fewer ports."
        )


def check_supported(flag: Flag, value: Value, where: str = "") -> str | None:
    """Refuse what this release does not have; give the notice that a flag changes nothing here.

    ``where``: how the user wrote it, without the value.
    """
    if value == flag.default or flag.effect in ("acts", "program"):
        return None
    if flag.effect == "absent":
        usual = flag.render(flag.default)
        raise NotInThisRelease(
            f"{where or '--' + flag.name}: {flag.render(value)} is not in this release. Leave it out"
            f"{usual and f', or give {usual}'}."
        )
    if flag.effect == "forgone":
        asked = f"{where or '--' + flag.name}: {flag.render(value)}"
        return f"{asked} is not in this release, which trains on the CPU: going on without"
    return f"--{flag.name}={flag.render(value)} has no effect in this release: there is nothing to tune."
