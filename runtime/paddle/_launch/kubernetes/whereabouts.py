"""Where a job is: in which namespace of which cluster, as kubectl has it when the job is launched.

It must never change what kubectl has. Guarantee: what is found once is what every later call says, whatever
kubectl is told meanwhile, in another terminal, say.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.plan import LaunchPlan

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")  # of a pod, which needs no context
_USUAL = "default"
_LOOK_S = 20.0  # no cluster is asked


def settled(launch: LaunchPlan, environ: Mapping[str, str], account: Path = _ACCOUNT) -> LaunchPlan:
    """The same launch, whose pods have a place. ``account``: the folder of this pod's service account, where
    this is one."""
    asked = launch.pods
    if asked is None:
        return launch
    kubectl = Kubectl(asked)
    view = kubectl.read("config", "view", within_s=_LOOK_S)
    context = asked.context or view.get("current-context") or ""
    namespace = asked.namespace or _namespace(view, context, environ, account)
    return msgspec.structs.replace(
        launch, pods=msgspec.structs.replace(asked, context=context, namespace=namespace)
    )


def _namespace(view: Mapping[str, Any], context: str, environ: Mapping[str, str], account: Path) -> str:
    """In the order in which kubectl looks: the context's, this pod's own, the usual one."""
    contexts = {known["name"]: known.get("context") or {} for known in view.get("contexts") or ()}
    if context and context not in contexts:
        there = ", ".join(contexts) or "none"
        raise NodeError(
            f"kubectl has no context {context}; there are: {there}. `kubectl config get-contexts` shows "
            "them: --context=NAME."
        )
    if found := contexts.get(context, {}).get("namespace"):
        return str(found)
    return (_of_this_pod(environ, account) if "KUBERNETES_SERVICE_HOST" in environ else "") or _USUAL


def _of_this_pod(environ: Mapping[str, str], account: Path) -> str:
    try:
        return environ.get("POD_NAMESPACE") or (account / "namespace").read_text().strip()
    except OSError:
        return ""
