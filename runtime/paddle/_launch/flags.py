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
from paddle._launch.flag import Flag, User, Value, row
from paddle._launch.fleet.table import FLEET_FLAGS

_COMMANDS = frozenset(
    {
        *("paddle.py", "paddle pserver", "paddle master", "paddle reshard", "paddle export"),
        *("paddle snapshot", "fleetrun", "paddle rank", "paddle pod"),
    }
)
_MOST_PODS = 1000
_MOST_TRAINERS = 1 << 16  # a pserver keeps something of each from the start


_job = partial(row, "l", "acts")  # only the launcher reads it
_all = partial(row, "lpt", "acts")  # it means the same to every role
_trainer = partial(row, "t", "acts")
_program = partial(row, "t", "program")
_hint = partial(row, "pt", "hint")
_master = partial(row, "m", "acts")

# One row each, and the rows of one purpose together: (users, effect,) name, kind, default, help.
# fmt: off
FLAGS: tuple[Flag, ...] = (
    # The job
    _job("job_dispatch_package", "str", "", "Local workspace folder to send to every node", short="p"),
    _job("job_workspace", "str", "", "Workspace folder that every node already has; nothing is sent",
         short="j"),
    _job("shard_data", "str", "",
         "Folder of the package from which each trainer's node gets only its own -0000i"),
    _job("job_prepare", "str", "", "Python program of the package to run here before the package is sent"),
    _job("job_program", "str", "train.py", "Program of the workspace that trainers run"),
    _job("conf", "str", "conf.py", "Settings file: nodes, folders, ports"),
    _job("dry_run", "bool", False, "Print the plan without starting or changing anything"),
    _job("detach", "bool", False,
         "Go into the background at the first step; then use fab status, logs, stop"),
    _job("resume", "str", "", "Continue this ended job from its snapshots, in its workspaces"),
    _job("format", "str", "text", "Output format: text, or json, with an object per line",
         choices=("text", "json")),
    _job("show_logs", "bool", False, "Also show what the roles print, each line with its role and address"),
    _job("grep_logs", "str", "", "Also show the lines that match this regular expression"),
    _job("hosts", "names", (), "Nodes, local or user@host[:sshport]; their positions are the nodes' numbers",
         conf="HOSTS"),
    _job("root_dir", "str", "jobs", "Folder for JOB folders, on every node", conf="ROOT_DIR"),
    _job("platform", "str", "fabric", "What runs the nodes: fabric (SSH, or this machine), mpi or kubernetes",
         conf="PLATFORM", choices=("fabric", "mpi", "kubernetes")),
    _job("mpirun_flags", "str", "", "Additional flags of mpirun", conf="MPIRUN_FLAGS"),
    _job("pserver_hosts", "names", (),
         "Nodes of HOSTS with a parameter server, by name or number (unset: all)",
         conf="PSERVER_HOSTS"),
    _job("trainer_hosts", "names", (),
         "Nodes with a trainer; positions are the trainers' numbers (unset: all)",
         conf="TRAINER_HOSTS"),
    _job("ld_library_path", "str", "", "Prepended to LD_LIBRARY_PATH on every node", conf="LD_LIBRARY_PATH"),
    _job("host_keys", "str", "known", "Host keys to accept: known, new (adds them to known_hosts) or any",
         conf="HOST_KEYS", choices=("known", "new", "any")),
    _job("node_python", "str", "", "Python on the nodes (unset: ROOT_DIR/.paddle/venv, or python3)",
         conf="NODE_PYTHON"),
    _job("tls", "str", "", "Encrypt, with an authority made for the job: auto or off (unset: auto over SSH)"),
    _job("max_restart", "int", 0, "How often a killed process, or the whole job, is restarted",
         conf="PADDLE_MAX_RESTART", low=0),
    # Pods, which Kubernetes has for nodes
    _job("image", "str", "", "Image of the pods; it must contain the runtime", conf="KUBERNETES_IMAGE"),
    _job("pserver_num", "int", 1, "Number of pods with a parameter server", conf="PSERVER_NUM",
         low=1, high=_MOST_PODS),
    _job("trainer_num", "int", 1, "Number of pods with a trainer",
         conf="TRAINER_NUM", low=1, high=_MOST_PODS),
    _job("namespace", "str", "", "Namespace of the job (unset: kubectl's)", conf="KUBERNETES_NAMESPACE"),
    _job("context", "str", "", "Context of kubectl (unset: the current one)",
         conf="KUBERNETES_CONTEXT"),
    _job("image_pull_policy", "str", "IfNotPresent", "When to pull the image: Always, IfNotPresent or Never",
         choices=("Always", "IfNotPresent", "Never")),
    _job("image_pull_secret", "str", "", "Existing Secret for pulling the image"),
    _job("pserver_cpu", "str", "500m", "CPUs that a parameter server's pod requests"),
    _job("pserver_memory", "str", "512Mi", "Memory that it requests; if given, also its limit"),
    _job("trainer_cpu", "str", "500m", "CPUs that a trainer's pod requests"),
    _job("trainer_memory", "str", "512Mi", "Memory that it requests; if given, also its limit"),
    _job("storage", "str", "1Gi", "Size of each parameter server's volume for --snapshot_dir"),
    _job("storage_class", "str", "", "Storage class of that volume (unset: the cluster's default)"),
    _job("collect_timeout", "duration", 3600.0, "How long pods wait for their results to be collected",
         low=1, high=2592000),
    _job("kubernetes_version", "str", "", "Version of the cluster, 1.20 or later (unset: ask the cluster)"),
    # Where parameter servers listen and trainers find them
    row("lpts", "acts", "port", "int", 7164, "First port; ports for sparse parameters follow the dense ones",
         env="PADDLE_PSERVER_PORT PADDLE_PORT", conf="PADDLE_PORT", low=1, high=65535),
    row("lptrs", "acts", "ports_num", "int", 1,
         "Number of dense ports; each is one process of the parameter server",
         env="PADDLE_PORTS_NUM", conf="PADDLE_PORTS_NUM", low=1, high=1024),
    row("lptrs", "acts", "ports_num_for_sparse", "int", 0,
         "Number of ports for parameters with sparse_update",
         conf="PADDLE_PORTS_NUM_FOR_SPARSE", low=0, high=1024),
    _all("nics", "names", (), "Network devices to listen on (unset: loopback)", conf="PADDLE_NIC"),
    row("p", "acts", "host", "names", (), "Addresses to listen on instead of --nics"),
    row("pt", "acts", "num_gradient_servers", "int", 1, "Number of trainers of the job",
         env="PADDLE_TRAINERS_NUM PADDLE_TRAINERS TRAINERS PADDLE_NUM_GRADIENT_SERVERS",
         low=1, high=_MOST_TRAINERS),
    _trainer("trainer_id", "int", 0, "Number of this trainer, counted from 0",
         env="PADDLE_TRAINER_ID", low=0, high=_MOST_TRAINERS - 1),
    row("ts", "acts", "pservers", "names", ("127.0.0.1",),
         "Hosts of the parameter servers, all with the same ports",
         env="PADDLE_PSERVERS_IP_PORT_LIST PADDLE_PSERVERS PADDLE_PSERVER_IPS"),
    row("lp", "acts", "barrier_timeout", "float", 600.0, "Seconds that a step waits for a missing trainer",
        low=1),
    row("lp", "acts", "min_trainers", "int", 0,
        "Continue without lost trainers while this many are left (0: all are needed)",
         low=0, high=_MOST_TRAINERS),
    row("lts", "acts", "connect_timeout", "float", 60.0, "Seconds to wait for a parameter server", low=0),
    _all("comment", "str", "", "Arbitrary text, to recognize the processes by"),
    row("lp", "acts", "log_period_server", "int", 500, "Steps between two lines of a server's log", low=1),
    # In which numbers gradients travel
    _trainer("wire", "str", "float32", "Format of sent gradients: float32, bfloat16, float16 or topk",
             choices=("float32", "bfloat16", "float16", "topk")),
    _trainer("wire_topk", "float", 0.01, "For topk: share of a parameter's gradient to send, above 0",
             low=0, high=1),
    _trainer("wire_answers", "str", "float32", "Format of received parameters: float32 or bfloat16",
             choices=("float32", "bfloat16")),
    row("lp", "acts", "memory_limit", "int", 0,
         "MiB for parameters and their optimizer state on a node (0: all its memory)", low=0),
    row("lp", "acts", "gradient_memory", "int", -1,
         "MiB for gradients before their turn; others are sent when it comes (-1: all)", low=-1),
    # What survives a broken connection, and a parameter server that is killed
    _trainer("reconnect_timeout", "float", 60.0,
             "Seconds to retry after a connection broke (0: do not)", low=0),
    _trainer("journal_limit", "int", 512,
             "MiB of sent gradients that a trainer keeps, to resend to a restored server", low=1),
    row("lp", "acts", "snapshot_dir", "str", "",
         "Folder of snapshots, from which a killed server or the next job continues",
         conf="PADDLE_SNAPSHOT_DIR"),
    row("lp", "acts", "snapshot_period", "int", 1000, "Steps between two snapshots",
         conf="PADDLE_SNAPSHOT_PERIOD", low=1),
    row("lp", "acts", "snapshot_interval", "duration", 600.0,
         "Time between two snapshots, if that is less",
         conf="PADDLE_SNAPSHOT_INTERVAL", low=1),
    row("lp", "acts", "snapshot_keep", "int", 3, "Number of snapshots to keep",
         conf="PADDLE_SNAPSHOT_KEEP", low=1),
    row("lp", "acts", "snapshot_memory", "int", -1,
         "MiB for a snapshot; steps wait if it needs more (-1: half of --memory_limit)",
         conf="PADDLE_SNAPSHOT_MEMORY", low=-1),
    row("lp", "acts", "snapshot_restarts", "int", 3,
         "How often a killed server process is restarted from its newest snapshot",
         conf="PADDLE_SNAPSHOT_RESTARTS", low=0),
    row("pt", "absent", "rdma_tcp", "str", "tcp", "Transport: tcp or rdma"),
    row("pts", "acts", "token_file", "str", "",
         "File with the job's token, the same for all processes; launched jobs make one",
         env="PADDLE_TOKEN_FILE"),
    row("p", "acts", "tls_cert", "str", "", "Certificate, PEM: encrypts TCP connections",
         env="PADDLE_TLS_CERT"),
    row("p", "acts", "tls_key", "str", "", "Private key of the certificate, PEM without a password",
        env="PADDLE_TLS_KEY"),
    row("ts", "acts", "tls_ca", "str", "",
         "Authority of the parameter servers' certificates, PEM: encrypts connections", env="PADDLE_TLS_CA"),
    # The trainer
    row("lpt", "forgone", "use_gpu", "bool", False, "Train on a GPU", conf="PADDLE_USE_GPU"),
    _trainer("trainer_count", "int", 1, "Threads of a trainer", env="PADDLE_TRAINER_COUNT", low=1, high=1024),
    _trainer("read_ahead", "bool", True, "Read the next batch in a thread while a step is computed"),
    _trainer("seed", "int", 1, "Seed of the initial values and of dropout", low=0),
    _trainer("profile", "bool", False, "Write a profile of the trainer's steps beside its log"),
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
    _program("checkgrad_eps", "float", 1e-5, "Step of a gradient check"),
    _program("predict_file", "str", "", "File of the predictions"),
    _program("feed_data", "bool", False, "Read data while time is measured"),
    # Behaviour of the original that this release does not have
    row("t", "absent", "start_pserver", "bool", False, "Start a parameter server inside the trainer"),
    row("t", "absent", "parallel_nn", "bool", False, "Place layers on several devices"),
    row("t", "absent", "prev_batch_state", "bool", False, "Carry recurrent state from batch to batch"),
    row("pt", "absent", "loadsave_parameters_in_pserver", "bool", False, "Parameter servers keep models"),
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
    _hint("show_check_sparse_distribution_log", "bool", False, "Say what such looks have found"),
    _hint("grad_share_block_num", "int", 64, "Blocks of a gradient that threads share", low=1),
    _hint("rnn_use_batch", "bool", False, "Compute plain recurrent layers moment by moment"),
    _hint("use_mkldnn", "bool", False, "Compute layers by MKL-DNN"),
    _hint("use_mkl_packed", "bool", False, "Keep weights of recurrent layers packed"),
    _hint("use_nnpack", "bool", False, "Compute convolutions by NNPACK"),
    _hint("enable_parallel_vector", "int", 0, "Numbers from which threads share a vector", low=0),
    _hint("thread_local_rand_use_global_seed", "bool", False, "Seed all threads alike"),
    _hint("memory_threshold_on_load_data", "float", 1.0, "Share of memory that data may take"),
    _hint("pool_limit_size", "int", 512 << 20, "Bytes that pools of memory keep", low=0),
    _hint("allow_only_one_model_on_one_gpu", "bool", True, "Have one model on a GPU"),
    _hint("cudnn_conv_workspace_limit_in_mb", "int", 4096, "Memory of convolutions on a GPU", low=0),
    _hint("cudnn_dir", "str", "", "Folder of cuDNN"),
    _hint("cuda_dir", "str", "", "Folder of CUDA"),
    _hint("warpctc_dir", "str", "", "Folder of warp-ctc"),
    _hint("lapack_dir", "str", "", "Folder of LAPACK"),
    _hint("python_path", "str", "", "Path of the Python of configurations"),
    _hint("python_bin", "str", "python2.7", "That Python"),
    # What the original wrote into its logs
    _hint("log_clipping", "bool", False, "Log which gradients are clipped"),
    _hint("log_error_clipping", "bool", False, "Log which errors of layers are clipped"),
    _hint("log_barrier_abstract", "bool", True, "Log how long trainers wait for each other"),
    _hint("log_barrier_lowest_nodes", "int", 5, "The slowest trainers that are logged", low=0),
    _hint("log_barrier_show_log", "bool", False, "Log each wait"),
    _hint("layer_stack_error_only_current_thread", "bool", True, "Whose layers an error lists"),
)
# fmt: on

# Apart from the others: a master is no role of a job, and its port is another.
# fmt: off
MASTER_FLAGS: tuple[Flag, ...] = (
    _master("port", "int", 8080, "Port to listen on", low=1, high=65535),
    _master("nics", "names", (), "Network devices to listen on (unset: loopback)"),
    _master("host", "names", (), "Addresses to listen on instead of --nics"),
    _master("task_timeout_dur", "duration", 1200.0,
            "Time limit for a task; after it another trainer gets the task",
            also="task_timout_dur", low=1),
    _master("task_timeout_max", "int", 3, "Failures that a task may have before it is dropped", low=0),
    _master("chunk_per_task", "int", 10, "Chunks of RecordIO files per task", low=1),
    _master("state_file", "str", "", "File from which a restarted master continues (unset: it starts anew)"),
    _master("token_file", "str", "", "File with the token that trainers must have", env="PADDLE_TOKEN_FILE"),
    _master("log_level", "str", "info", "Lowest level to log: debug, info, warn, error or crit"),
    _master("endpoints", "str", "", "Addresses of etcd: not supported, use --state_file"),
    row("m", "hint", "ttl", "int", 60, "Seconds of the lease in etcd", low=0),
)
# fmt: on

# Of commands that work on the snapshots of a job that does not run.
# fmt: off
SNAPSHOT_FLAGS: tuple[Flag, ...] = (
    row("re", "acts", "to", "str", "", "Folder or file to create; it must not exist"),
    row("r", "acts", "nodes", "int", 1, "Number of nodes with a parameter server", low=1, high=65536),
    row("e", "acts", "format", "str", "tar",
         "tar: as Parameters.to_tar of v2; persistables, combined: as save_persistables of fluid, a file for "
         "each variable or one for all"),
    row("e", "acts", "average", "bool", False, "Write the averaged parameters that the job keeps"),
)
# fmt: on

# Of `paddle rank`, which mpirun and srun start; the ports as start_mpi_train.sh of the original set them.
# fmt: off
_rank = partial(row, "k", "acts")
RANK_FLAGS: tuple[Flag, ...] = (
    _rank("machines", "str", "",
          "File with the job's machines, one per line (unset: machines, if it exists)"),
    _rank("machine_names", "names", (), "The job's machines, instead of a file", env="PADDLE_MACHINES"),
    _rank("port", "int", 7164, "First port of each parameter server; sparse ports follow the dense ones",
          env="PADDLE_INIT_PORT", low=1, high=65535),
    _rank("ports_num", "int", 1, "Number of dense ports of each parameter server",
          env="PADDLE_INIT_PORTS_NUM", low=1, high=1024),
    _rank("ports_num_for_sparse", "int", 1, "Number of its ports for parameters with sparse_update",
          env="PADDLE_INIT_PORTS_NUM_FOR_SPARSE", low=0, high=1024),
    _rank("rally_port", "int", 0, "Port of rank 0 at which ranks meet (0: the one after all others)",
          low=0, high=65535),
    _rank("rally_timeout", "duration", 60.0, "How long ranks wait for each other"),
    _rank("log_dir", "str", "logs", "Folder for pserver.log and train.log; it is created"),
)
# fmt: on

# Of `paddle pod`, beside the launcher's flags that are of its job.
# fmt: off
_pod = partial(row, "o", "acts")
POD_FLAGS: tuple[Flag, ...] = (
    _pod("role", "str", "", "Role of this pod: pserver or trainer", choices=("pserver", "trainer")),
    _pod("name", "str", "", "Name of the job, by which pods find each other: NAME-pserver-0.NAME"),
    _pod("rank", "int", -1, "Number of this pod (-1: from JOB_COMPLETION_INDEX or the host name)"),
    _pod("package", "str", "", "Folder with the parts of the workspace (unset: it is in place)"),
    _pod("template", "str", "", "Read-only folder of the workspace, to copy"),
    _pod("secrets", "str", "", "Folder with token, tls_ca, tls_cert, tls_key"),
    _pod("keep", "duration", 0.0, "How long a trainer's pod stays after its program has ended", low=0),
    _pod("reports", "bool", False, "Also print what roles report, for the launcher"),
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
