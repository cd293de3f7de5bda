"""What `kubectl` is in tests (cluster.py): the first argument is the folder of its cluster.

Pods are processes of this machine. Where a manifest mounts something, the words of the command that name the
place name a folder of the pod's own instead; names of pods are addresses of the loopback device in them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import select
import signal
import site
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
WORDS = [word for word in sys.argv[2:] if not re.match(r"--(context|namespace|request-timeout)=", word)]
OBJECTS, PODS = FOLDER / "objects", FOLDER / "pods"


def main() -> int:
    with (FOLDER / "calls").open("a") as calls:
        calls.write(json.dumps(WORDS) + "\n")
    places = [word for word in sys.argv[2:] if re.match(r"--(context|namespace)=", word)]
    with (FOLDER / "places").open("a") as file:
        file.write(f"{WORDS[0]} {' '.join(places)}\n")
    if words := refused():
        print(words, file=sys.stderr)
        return 1
    while hangs():
        time.sleep(0.02)
    return {
        "config": lambda: print((FOLDER / "config").read_text()),
        "version": version,
        "auth": lambda: print("yes"),
        "create": create,
        "get": get,
        "logs": logs,
        "exec": execute,
        "delete": delete,
    }[WORDS[0]]() or 0


def asked() -> str:
    """What it is asked, as one text."""
    return " ".join(WORDS)


def hangs() -> bool:
    """Whether it does, asked that; until it is told to answer."""
    told = []
    for path in FOLDER.glob("hangs.*"):
        with contextlib.suppress(FileNotFoundError):
            told.append(path.read_text())
    return any(words and asked().startswith(words) for words in told)


def refused() -> str:
    """With which words it refuses that; empty where it does not, or did so often enough."""
    told = FOLDER / "refuses"
    every = json.loads(told.read_text()) if told.exists() else {}
    for path in FOLDER.glob("fails.*"):
        failure = json.loads(path.read_text())
        if asked().startswith(failure["asked"]) and failure["times"]:
            put(path, json.dumps({**failure, "times": failure["times"] - 1}))
            return str(failure["said"])
    return next((said for words, said in every.items() if asked().startswith(words)), "")


def put(path: Path, text: str) -> None:
    """Write a file that another call may be reading: it has all of it or none."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text)
    part.rename(path)


def version() -> None:
    print(json.dumps({"serverVersion": {"gitVersion": "v1.20.2"}}))


def create() -> None:
    site.main()  # it starts without, as what is asked often is nothing of packages
    import yaml

    for made in yaml.safe_load_all(sys.stdin):
        path = OBJECTS / f"{made['kind'].lower()}.{made['metadata']['name']}"
        with path.open("x") as file:
            json.dump(made, file)
        if made["kind"] in ("StatefulSet", "Job"):
            begin(made)


def begin(made: dict[str, Any]) -> None:
    name, template = made["metadata"]["name"], made["spec"]["template"]
    own = [f"{name}-{rank}" for rank in range(made["spec"].get("replicas", 0))] or [name]
    for pod in own:
        run(pod, template)


def run(pod: str, template: dict[str, Any]) -> None:
    if (FOLDER / "makes_none").exists():
        return
    folder = PODS / pod
    folder.mkdir(parents=True)
    put(folder / "template", json.dumps(template))
    if (FOLDER / "waits").exists():
        return
    spec = template["spec"]
    (container,) = spec["containers"]
    places = {mount["mountPath"]: folder / mount["name"] for mount in container["volumeMounts"]}
    for volume in spec["volumes"]:
        fill(folder / volume["name"], volume.get("projected", {}).get("sources", ()))
    kind = container["name"]
    rank = int(pod.rpartition("-")[2])
    environ = {**os.environ, "POD_IP": address(kind, rank), "PADDLE_STAND_IN": str(FOLDER)}
    command = [moved(word, places) for word in container["command"]]
    command.insert(command.index("pod") + 1, f"--rank={rank}")
    out = (folder / "log").open("wb")
    (folder / "workspace").write_text(
        next(w for w in command if w.startswith("--job_workspace=")).partition("=")[2]
    )
    program = [
        sys.executable,
        str(Path(__file__).with_name("pod_stand_in.py")),
        spec["restartPolicy"],
        *command[1:],
        f"--rank={rank}",
    ]
    process = subprocess.Popen(
        program,
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        start_new_session=True,
    )
    put(folder / "pid", str(process.pid))


def moved(word: str, places: dict[str, Path]) -> str:
    flag, equals, value = word.partition("=")
    for place, folder in places.items():
        if equals and (value == place or value.startswith(f"{place}/")):
            return f"{flag}={folder}{value.removeprefix(place)}"
    return word


def fill(folder: Path, sources: list[dict[str, Any]]) -> None:
    folder.mkdir()
    for source in sources:
        if "secret" in source:
            content = json.loads((OBJECTS / f"secret.{source['secret']['name']}").read_text())["stringData"]
            for name, text in content.items():
                (folder / name).write_text(text)
        else:
            content = json.loads((OBJECTS / f"configmap.{source['configMap']['name']}").read_text())[
                "binaryData"
            ]
            for name, text in content.items():
                (folder / name).write_bytes(base64.b64decode(text))


def address(kind: str, rank: int) -> str:
    network = int(os.environ["STAND_IN_NETWORK"]) + (kind != "pserver")
    return f"127.0.{network}.{rank + 1}"


def get() -> None:
    kinds = WORDS[1].split(",")
    if kinds == ["events"]:
        print(json.dumps({"items": list(events())}))
        return
    if "name" in WORDS:
        names = {"pods": PODS.iterdir() if PODS.exists() else ()}
        left = [f"pod/{path.name}" for path in names.get("pods", ()) if path.is_dir()]
        left += [
            path.name.replace(".", "/")
            for path in OBJECTS.iterdir()
            if path.name.startswith(("stateful", "job."))
        ]
        print("\n".join(left))
        return
    if kinds == ["jobs"]:
        print(json.dumps({"items": [json.loads(path.read_text()) for path in OBJECTS.glob("job.*")]}))
        return
    print(json.dumps({"items": list(pods()) if kinds == ["pods"] and PODS.exists() else []}))


def pods() -> Iterator[dict[str, Any]]:
    for folder in sorted(PODS.iterdir()):
        with contextlib.suppress(FileNotFoundError):  # another call makes it just now, or takes it away
            yield shown(folder)


def events() -> Iterator[dict[str, Any]]:
    refused = FOLDER / "makes_none"
    for path in OBJECTS.iterdir() if refused.exists() else ():
        kind, _, name = path.name.partition(".")
        if kind in ("statefulset", "job"):
            about = {"involvedObject": {"name": name}}
            yield {**about, "reason": "FailedCreate", "message": refused.read_text()}


def shown(folder: Path) -> dict[str, Any]:
    template = json.loads((folder / "template").read_text())
    meta = {"name": folder.name, "uid": f"{folder.stat().st_ino}", "labels": template["metadata"]["labels"]}
    waits = FOLDER / "waits"
    if crash := crashed(folder.name):
        held = {key: value for key, value in crash.items() if key != "log"}
        return {
            "metadata": meta,
            "spec": {"hostname": folder.name},
            "status": {"phase": "Running", "containerStatuses": [held]},
        }
    if waits.exists():
        state: dict[str, Any] = {"waiting": json.loads(waits.read_text())}
    else:
        status = ended(folder)
        state = {"running": {}} if status is None else {"terminated": {"exitCode": status}}
    return {
        "metadata": meta,
        "spec": {"hostname": folder.name},
        "status": {"phase": "Running", "containerStatuses": [{"state": state, **before(folder)}]},
    }


def before(folder: Path) -> dict[str, Any]:
    """Of the containers that ended before the one that runs: how many, and how the last did."""
    path = folder / "ends"
    ends = json.loads(path.read_text()) if path.exists() else []
    told = {"terminated": {"exitCode": ends[-1], "reason": "Error"}} if ends else {}
    return {"restartCount": len(ends), "lastState": told}


def crashed(pod: str) -> dict[str, Any]:
    """How the container stands of a pod in which one has ended, and what it had printed."""
    told = FOLDER / f"crashed.{pod}"
    return json.loads(told.read_text()) if told.exists() else {}


def ended(folder: Path) -> int | None:
    status = folder / "status"
    return int(status.read_text()) if status.exists() else None


def logs() -> None:
    name = next(word for word in WORDS[1:] if not word.startswith("-"))
    folder, since = (
        PODS / name,
        next((w.partition("=")[2] for w in WORDS if w.startswith("--since-time=")), ""),
    )
    if "--previous" in WORDS:
        for number, line in enumerate([*lines(folder, follow=False), *crashed(name)["log"]]):
            print(f"2026-11-22T12:00:00.{number:09d}Z {line}")
        return
    for number, line in enumerate(lines(folder, follow="-f" in WORDS)):
        stamp = f"2026-11-22T12:00:00.{number:09d}Z"
        if stamp >= since:
            head = f"{stamp} " if "--timestamps" in WORDS else ""
            print(f"{head}{line}", flush=True)


def lines(folder: Path, *, follow: bool) -> Iterator[str]:
    with (folder / "log").open() as file:
        part = ""
        while True:
            over = ended(folder) is not None or not folder.exists()
            *whole, part = (part + file.read()).split("\n")
            yield from whole
            if over or not follow:
                return
            time.sleep(0.02)


def execute() -> int:
    words = [word for word in WORDS[1:] if word != "-i"]
    folder = PODS / words[0]
    workspace = (folder / "workspace").read_text()
    command = [word.replace("/paddle/workspace/", f"{workspace}/") for word in words[words.index("--") + 1 :]]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert process.stdin is not None
    threading.Thread(target=process.wait, daemon=True).start()
    while process.poll() is None:
        if select.select([0], [], [], 0.05)[0]:
            data = os.read(0, 1 << 20).replace(b'"/paddle/workspace', f'"{workspace}'.encode())
            if not data:
                break
            with contextlib.suppress(OSError):
                process.stdin.write(data)
                process.stdin.flush()
    return process.wait()


def delete() -> None:
    if "pods" in WORDS[1] or WORDS[1] == "pod":
        for folder in PODS.iterdir() if PODS.exists() else ():
            end(folder)
    for kind in ("statefulset", "job", "service", "configmap", "secret", "persistentvolumeclaim"):
        if f"{kind}s" in WORDS[1].split(","):
            for path in OBJECTS.glob(f"{kind}.*"):
                path.unlink()


def end(folder: Path) -> None:
    """Take a pod away, also one that another call is about to start, or that does not end when asked to."""
    told, began = folder / "pid", time.monotonic()
    while folder.exists() and not (told.exists() or (FOLDER / "waits").exists()):
        if time.monotonic() > began + 10:
            break
        time.sleep(0.02)
    if told.exists() and ended(folder) is None:
        pid = int(told.read_text())
        os.kill(pid, signal.SIGTERM)
        while ended(folder) is None and time.monotonic() < began + 10:
            time.sleep(0.02)
        if ended(folder) is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
    subprocess.run(["rm", "-rf", str(folder)], check=True)


if __name__ == "__main__":
    sys.exit(main())
