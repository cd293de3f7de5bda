"""What cluster/kubernetes has to be used by hand, by the commands that it shows."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.fresh import ROOT
from tests.kubernetes.test_jobs import SEEN, locally, trainer_logs, word2vec
from tests.kubernetes.training import PATIENCE_S, Training
from tests.waiting import until

EXAMPLE = ROOT / "cluster" / "kubernetes" / "word2vec.yaml"


def shown(begin: str) -> str:
    """The one command of the example that begins so."""
    commands = re.findall(r"^#     (.*)$", EXAMPLE.read_text(), re.MULTILINE)
    (found,) = [command for command in commands if command.startswith(begin)]
    return found


def one_pod_each(document: Any) -> Iterator[Any]:
    """An indexed Job as so many Jobs: what it makes of itself from 1.21 on."""
    if document["spec"].get("completionMode") != "Indexed":
        yield document
        return
    for number in range(document["spec"]["completions"]):
        job = copy.deepcopy(document)
        job["metadata"]["name"] += f"-{number}"
        job["spec"] = {"backoffLimit": 0, "template": job["spec"]["template"]}
        (container,) = job["spec"]["template"]["spec"]["containers"]
        container["env"].append({"name": "JOB_COMPLETION_INDEX", "value": str(number)})
        yield job


def test_the_example_of_word2vec_trains_as_it_does_without_a_cluster(training: Training, tmp_path) -> None:
    package = word2vec(training)
    data = shown("kubectl create configmap").replace("workspace_template", str(package))
    for command in (data, shown("openssl rand")):
        training.shell(command)
    documents = list(yaml.safe_load_all(EXAMPLE.read_text()))
    assert [document["kind"] for document in documents] == ["Service", "StatefulSet", "Job"]
    items = [each for document in documents for each in one_pod_each(document)]
    file = tmp_path / "word2vec.yaml"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    shown_as = str(EXAMPLE.relative_to(ROOT))
    training.shell(shown("kubectl create -f").replace(shown_as, str(file)))
    training.shell(shown("kubectl wait").replace("job/word2vec-trainer", "--all jobs"))
    seen = [re.findall(SEEN, training.kubectl("logs", name))[-1] for name in sorted(training.pods("trainer"))]
    assert len(seen) == 3
    ends = training.shell(shown("kubectl logs")).splitlines()
    assert len(ends) == 3 * 3, "three lines of each"
    assert sum("ended with status 0" in line for line in ends) == 3
    for command in (shown("kubectl delete --wait=false -f"), shown("kubectl delete --wait=false configmap")):
        training.shell(command.replace(shown_as, str(file)))
    until(lambda: not training.left(), "the end of all of it", PATIENCE_S)
    alone = trainer_logs(locally(package, tmp_path / "alone"))
    assert {re.findall(SEEN, text)[-1] for text in alone} == set(seen)
