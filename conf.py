"""The cluster that paddle.py trains on. Data only: NAME = value. Flags of paddle.py win over these."""

# The nodes; the place in the list is the node's number. Each runs one parameter server and one trainer,
# unless PSERVER_HOSTS and TRAINER_HOSTS below say otherwise.
# A "local" node is embedded in this machine, with its own workspace and its own loopback address (127.0.0.1,
# 127.0.0.2, ...).
HOSTS = [
    "local",
    "local",
]
# Machines are named user@host or user@host:sshport:
# HOSTS = [
#     "root@192.168.100.17",
#     "root@192.168.100.18:2222",
# ]
# They are reached as ssh reaches them: by keys, an agent and ~/.ssh/config. Their host keys must be known to
# this machine; "new" takes those that were never seen and remembers them. One that changed is always refused.
# HOST_KEYS = "known"
# The Python that runs jobs there: what `fab install` made, or python3 if it has the packages, unless another
# is named.
# NODE_PYTHON = ""

# Nodes with a parameter server, and nodes with a trainer, where not every node has both: named as in HOSTS,
# by the machine alone or by number. The place in the second list is the trainer's number.
# PSERVER_HOSTS = [0]
# TRAINER_HOSTS = [1, 2, 3]

# Where the JOB<date> folders are made. A relative one lies beside this file; on machines it begins with /.
ROOT_DIR = "jobs"

# The network device that parameter servers listen on, eth0 for instance. Local nodes have the loopback device
# alone.
PADDLE_NIC = "lo"

# Parameter servers listen on PADDLE_PORT and the ports after it: first PADDLE_PORTS_NUM for dense parameters,
# one process each, then PADDLE_PORTS_NUM_FOR_SPARSE for parameters with sparse_update.
PADDLE_PORT = 7164
PADDLE_PORTS_NUM = 1
PADDLE_PORTS_NUM_FOR_SPARSE = 1

# Where parameter servers keep snapshots, from which one that is killed, or the next job, goes on.
# A relative folder lies in each node's workspace; in any other every node has its own: node-0, node-1...
PADDLE_SNAPSHOT_DIR = ""
# PADDLE_SNAPSHOT_PERIOD = 1000
# PADDLE_SNAPSHOT_INTERVAL = "10m"
# PADDLE_SNAPSHOT_KEEP = 3
# PADDLE_SNAPSHOT_MEMORY = -1
# PADDLE_SNAPSHOT_RESTARTS = 3

# How often each process of a job that was killed is started again.
# PADDLE_MAX_RESTART = 0

PADDLE_USE_GPU = "False"

# Put before LD_LIBRARY_PATH on every node.
LD_LIBRARY_PATH = ""
