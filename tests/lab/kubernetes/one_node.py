"""A Kubernetes of one node, that ends with the tests, however they end.

All of it is in a network, mounts and processes of its own: etcd, the API server, the controllers, the
scheduler, kubelet, an engine of containers, a name server. Pods have addresses on a bridge in that network,
in which the head is, too: the place where launchers and kubectl run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.lab.cluster import HEAD, HEAD_ADDRESS
from tests.lab.engine import Engine
from tests.lab.kubernetes import image
from tests.lab.premises import Premises
from tests.lab.switch import Switch
from tests.waiting import until

HERE = Path(__file__).resolve().parent
ROLE = HERE.parents[2] / "cluster" / "kubernetes" / "role.yaml"
PATIENCE_S = 120.0
BRING_UP_S = 300.0  # of a machine that does something else meanwhile
LAST_LINES = 15
USERS = ("admin", "launcher")
VOLUMES = 4


class OneNode:
    """Leave it by ``with``: nothing is left of it then. ``programs``: where build.sh has put Kubernetes;
    ``images``: whether it is to have those of ours."""

    def __init__(self, programs: Path, *, images: bool = True) -> None:
        self._programs = programs
        self._has_images = images
        self._premises = Premises([HEAD])
        self.folder, self.group = self._premises.folder, self._premises.group
        self._switch: Switch | None = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that runs, and leave nothing."""
        self._premises.close()
        if self._switch:
            self._engine.close()
            self._switch.close()

    def _start(self) -> None:
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost\n{HEAD_ADDRESS} {HEAD}\n")
        (self.folder / HEAD).mkdir()
        self._switch = Switch(self._premises, bridge=False)
        self._switch.wait()
        words = (self._programs / "bin", HEAD_ADDRESS, sys.executable)
        self._engine = Engine(self._premises, self._switch, HERE / "node.sh", *words)
        self._engine.wait()
        if self._has_images:
            image.make(self._engine, self.folder, self._programs)
        try:
            until(self._is_ready, "the node to be ready", BRING_UP_S)
        except AssertionError as error:
            raise RuntimeError(f"{error}\n{self._last_words()}") from error  # its logs end with it
        self._furnish()
        self._premises.wait()

    def _last_words(self) -> str:
        """Of all its parts."""
        logs = sorted(self._engine.path(self._engine.folder / "logs").glob("*.log"))
        tails = [(log.name, log.read_text(errors="replace").splitlines()[-LAST_LINES:]) for log in logs]
        return "\n".join(f"== {name}\n" + "\n".join(lines) for name, lines in tails)

    def _is_ready(self) -> bool:
        try:
            self._write_configurations()
            nodes = self.get("nodes")
        except (OSError, IndexError, RuntimeError):
            return False
        conditions = [each for node in nodes for each in node["status"].get("conditions", [])]
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def _write_configurations(self) -> None:
        """Those of its users, as programs at the head read them."""
        own = self._engine.folder
        certificate = self.folder / "server.crt"
        certificate.write_bytes(self._engine.path(own / "server" / "apiserver.crt").read_bytes())
        for user in USERS:
            text = self._engine.path(own / f"{user}.conf").read_text()
            _write_private(
                self.configuration(user),
                text.replace(str(own / "server" / "apiserver.crt"), str(certificate)),
            )

    def configuration(self, user: str, space: str = "default") -> Path:
        """What KUBECONFIG names for one of them who is usually in that namespace."""
        conf = self.folder / f"{user}-{space}.conf"
        if space != "default" and not conf.exists():
            text = self.configuration(user).read_text()
            _write_private(conf, text.replace("namespace: default", f"namespace: {space}"))
        return conf

    def _furnish(self) -> None:
        """What every namespace may have, and disks for claims."""
        self.kubectl("apply", "-f", str(HERE / "restricted.yaml"))
        disks = [f"disk-{number}" for number in range(VOLUMES)]
        self.apply({"apiVersion": "v1", "kind": "List", "items": [self._disk(name) for name in disks]})

    def _disk(self, name: str) -> dict[str, Any]:
        place = self._engine.folder / "volumes" / name
        self._engine.path(place).mkdir()
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node1"]}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "local",
                "local": {"path": str(place)},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            },
        }

    # The head

    def environ(self, user: str = "admin", space: str = "default") -> dict[str, str]:
        """Of programs at the head, for which kubectl is of the cluster's release."""
        return {
            "PATH": f"{self._programs / 'bin'}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HOME": str(self.folder / HEAD),
            "KUBECONFIG": str(self.configuration(user, space)),
        }

    def start(
        self,
        *argv: str | Path,
        cwd: str | Path = "/",
        user: str = "admin",
        space: str = "default",
        environ: Mapping[str, str] | None = None,
        **popen: Any,
    ) -> subprocess.Popen[Any]:
        """Start a program at the head: the process is the program itself."""
        assert self._switch
        go_to = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(cwd)]
        way = [*self._premises.groups[HEAD].joining(), *self._switch.within(*go_to, mounts=True)]
        popen.setdefault("stdin", subprocess.DEVNULL)
        whole = {**self.environ(user, space), **(environ or {})}
        return subprocess.Popen([*way, *map(str, argv)], env=whole, **popen)

    def run(
        self,
        *argv: str | Path,
        input: str = "",
        check: bool = True,
        timeout_s: float = PATIENCE_S,
        **how: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program at the head to its end; where it fails and ``check``, its words are in the error."""
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self.start(*argv, text=True, **streams, **how) as started:
            try:
                output, errors = started.communicate(input, timeout=timeout_s)
            finally:
                started.kill()
        if check and started.returncode:
            raise RuntimeError(
                f"{' '.join(map(str, argv))} ended with {started.returncode}: {output}{errors}"
            )
        return subprocess.CompletedProcess(argv, started.returncode, output, errors)

    def kubectl(self, *words: str, **how: Any) -> str:
        """Run kubectl; gives what it prints."""
        return self.run("kubectl", *words, **how).stdout

    def get(self, *words: str, **how: Any) -> list[Any]:
        """Objects of a kind, by the words of ``kubectl get``."""
        return list(json.loads(self.kubectl("get", *words, "--output=json", **how))["items"])

    def apply(self, manifest: Mapping[str, Any], **how: Any) -> None:
        """Have an object."""
        self.kubectl("apply", "-f", "-", input=json.dumps(manifest), **how)

    # Namespaces

    def enter(self, space: str) -> None:
        """Make a namespace in which the user ``launcher`` may do what cluster/kubernetes/role.yaml says."""
        self.kubectl("create", "namespace", space)
        self.kubectl("apply", "-f", str(ROLE), space=space)
        until(lambda: self.get("serviceaccounts", space=space), f"{space} to be furnished")

    def leave(self, space: str) -> None:
        """Remove it with all in it, and free the disks that it had. What is empty goes when it likes."""
        at_once = ("--all", "--grace-period=0", "--force", "--wait=false")
        self.kubectl(
            "delete",
            "deployments,replicasets,statefulsets,jobs,pods,persistentvolumeclaims",
            *at_once,
            space=space,
        )
        until(
            lambda: not self.get("pods,persistentvolumeclaims", space=space),
            f"{space} to be empty",
            PATIENCE_S,
        )
        self.kubectl("delete", "namespace", space, "--wait=false")
        for disk in self.get("persistentvolumes"):
            if disk.get("status", {}).get("phase") in ("Released", "Failed"):
                name = disk["metadata"]["name"]
                self.kubectl("delete", "persistentvolume", name)
                self._empty(self._engine.folder / "volumes" / name)
                self.apply(self._disk(name))

    def _empty(self, folder: Path) -> None:
        self._engine.run("rm", "-rf", self._engine.path(folder))

    def containers(self) -> list[str]:
        """Names of all that run, but what holds pods."""
        names = self._engine.run("docker", "ps", "--format", "{{.Names}}").split()
        return [name for name in names if not re.match(r"k8s_POD_", name)]


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
