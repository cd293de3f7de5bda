"""The image that cluster/compose/Dockerfile makes, on a Debian of this machine's packages: no registry of
images is asked.

What it installs comes from where this machine's apt has packages from, by this machine's network, in which
nothing is made for it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.lab import debian
from tests.lab.engine import Engine
from tests.lab.image import COMPOSE
from tests.lab.premises import Premises

FILE = COMPOSE / "docker-compose.yml"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def build(premises: Premises) -> Path:
    """Build it as a user does; gives it as ``docker load`` reads it, under the name ``node``."""
    engine = Engine(premises, None)
    engine.wait()
    base, built, network = (premises.folder / name for name in ("base.tar", "built.tar", "network.yml"))
    debian.write(base)
    engine.run("docker", "import", base, "base")
    proxies = {name: os.environ[name] for name in PROXIES if name in os.environ}
    more = {"node": {"build": {"network": "host", "args": proxies}}}
    network.write_text(json.dumps({"version": "2.4", "services": more}))
    settings = {"BASE": "base", "IMAGE": "node", "SSH_PUBLIC_KEY": "/no/such/key"}
    engine.run("docker-compose", "--file", FILE, "--file", network, "build", **settings)
    engine.run("docker", "save", "--output", built, "node")
    engine.end()
    return built
