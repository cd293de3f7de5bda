"""Pods that one logs in to: ssh_servers.yaml, for launches by Fabric, and the document's OpenMPI cluster."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from tests.fresh import ROOT
from tests.kubernetes import programs
from tests.kubernetes.machines import CLUSTER, USER, Machines

PREPARE = """
import pickle
from pathlib import Path

Path("word_dict.pickle").write_bytes(pickle.dumps({"a": 0, "b": 1}))
for part in range(3):
    for name in ("train.txt", "test.txt"):
        Path(f"{name}-{part:05d}").write_text(f"{part}\\n")
"""
MY_PART = """
part, = __import__("pathlib").Path.cwd().glob("train.txt-*")  # node i has part i, and no other
assert part.read_text().split() == [__import__("os").environ["OMPI_COMM_WORLD_RANK"]], part
"""
DOCUMENT = """
kubectl get po -o wide
kubectl get po -o wide | grep nodes | awk '{print $6}' > machines
ssh-add -q ssh/id_rsa.mpi
scp -i ssh/id_rsa.mpi.pub machines prepare.py train.py start_mpi_train.sh tutorial@[headIP]:~
ssh -i ssh/id_rsa.mpi.pub tutorial@[headIP] "$(cat on-the-head)"
"""
HOME = Path("/", "home", USER)
ON_THE_HEAD = """
set -e
python prepare.py
cat machines | xargs -i scp word_dict.pickle train.py start_mpi_train.sh machines {}:[home]
mpirun -hostfile machines -n 3 mkdir [home]/logs
scp train.txt-00000 test.txt-00000 [node1IP]:[home]
scp train.txt-00001 test.txt-00001 [node2IP]:[home]
scp train.txt-00002 test.txt-00002 [node3IP]:[home]
mpirun -hostfile machines -n 3  [home]/start_mpi_train.sh
"""


def test_a_job_is_launched_by_fabric_on_servers_that_are_pods(machines: Machines) -> None:
    machines.create(CLUSTER / "kubernetes" / "ssh_servers.yaml")
    hosts = [f"{USER}@{address}" for address in machines.addresses("ssh-servers")]
    assert len(hosts) == 3
    (machines.folder / "conf.py").write_text(conf_of_the_file(hosts))
    (machines.folder / "package").mkdir()
    (machines.folder / "package" / "train.py").write_text(programs.train())
    machines.run("ssh-add -q ssh/id_rsa.mpi")
    python = f"PYTHONPATH={ROOT / 'runtime'} HOME={machines.folder} {sys.executable}"
    machines.run(f"cd {ROOT} && {python} -m fabric trust --conf={machines.folder / 'conf.py'} --yes")
    said = machines.run(f"{python} {ROOT / 'paddle.py'} --job_dispatch_package=package --conf=conf.py")
    assert "3 pservers and 3 trainers" in said
    for node in range(3):
        told = (machines.folder / f"package/log/node-{node}/train.log").read_text()
        assert len(json.loads(told.splitlines()[-1])) == 8


def conf_of_the_file(hosts: list[str]) -> str:
    """The lines of conf.py that ssh_servers.yaml shows, with other hosts."""
    text = (CLUSTER / "kubernetes" / "ssh_servers.yaml").read_text()
    shown = re.findall(r"^#     (\w+ = .*)$", text, re.MULTILINE)
    assert [line.split()[0] for line in shown] == ["HOSTS", "ROOT_DIR", "PADDLE_NIC", "NODE_PYTHON"]
    return "\n".join([f"HOSTS = {hosts}", *shown[1:], "PADDLE_PORTS_NUM_FOR_SPARSE = 1", ""])


def test_the_commands_of_the_document_train_on_an_openmpi_cluster(machines: Machines) -> None:
    folder = CLUSTER / "openmpi" / "docker_cluster"
    machines.create(folder / "head.yaml", folder / "mpi-nodes.yaml")
    (head,) = machines.addresses("head")
    nodes = machines.addresses("nodes")
    assert len(nodes) == 3
    shutil.copy(CLUSTER / "openmpi" / "start_mpi_train.sh", machines.folder)
    (machines.folder / "prepare.py").write_text(PREPARE)
    (machines.folder / "train.py").write_text(MY_PART + programs.train())
    script = ON_THE_HEAD.replace("[home]", str(HOME))
    for number, address in enumerate(nodes, 1):
        script = script.replace(f"[node{number}IP]", address)
    (machines.folder / "on-the-head").write_text(script)
    machines.run(DOCUMENT.replace("[headIP]", head))
    for node in nodes:
        told = machines.run(f"ssh {USER}@{node} cat logs/train.log")
        assert len(json.loads(told.splitlines()[-1])) == 8
        assert "said goodbye" in machines.run(f"ssh {USER}@{node} cat logs/pserver.log logs/*pserver2.INFO")


def test_nobody_logs_in_without_the_key_that_was_made(machines: Machines) -> None:
    machines.create(CLUSTER / "kubernetes" / "ssh_servers.yaml")
    address = machines.addresses("ssh-servers")[0]
    for way in ("-o IdentitiesOnly=yes", "-o PubkeyAuthentication=no"):
        assert not machines.run(f"ssh {way} {USER}@{address} echo in", check=False)
    machines.run("ssh-add -q ssh/id_rsa.mpi")
    assert machines.run(f"ssh {USER}@{address} id -un") == f"{USER}\n"


def test_a_server_cannot_log_in_to_another(machines: Machines) -> None:
    machines.create(CLUSTER / "kubernetes" / "ssh_servers.yaml")
    machines.run("ssh-add -q ssh/id_rsa.mpi")
    first, second, _ = machines.addresses("ssh-servers")
    assert machines.run(f"ssh {USER}@{first} ls .ssh").split() == ["authorized_keys", "host_key"]
    assert not machines.run(f"ssh {USER}@{first} ssh -o BatchMode=yes {second} echo in", check=False)
