"""Tasks that speak with nodes: trust, check."""

from fabric import task
from invoke import Context, Exit

from fabfile.answer import answered
from paddle._launch.nodes import commands

_CONF = "Settings file whose nodes are meant, conf.py beside the fabfile if none is given"


@task(
    help={
        "conf": _CONF,
        "yes": "Take the keys that hosts show now, without a question",
        "format": "text or json",
    }
)
def trust(c: Context, conf: str = "", yes: bool = False, format: str = "text") -> None:
    """Have the host keys of all nodes known to this machine, after showing them."""
    with answered():
        status = commands.trust(conf, format, yes=yes)
    if status:
        raise Exit(code=status)


@task(
    help={
        "package": "Workspace that is to be launched: what of it keeps a job from running is told, too",
        "flags": "Flags of paddle.py that the job will have, as one text: '--port=8000 --nics=eth1'",
        "conf": _CONF,
        "format": "text or json",
        "all": "Show also what is well, one by one, on more than four nodes",
    }
)
def check(
    c: Context, package: str = "", flags: str = "", conf: str = "", format: str = "text", all: bool = False
) -> None:
    """Say whether a job can be launched on all nodes; changes nothing on any."""
    with answered():
        status = commands.check(package, flags, conf, format, whole=all)
    if status:
        raise Exit(code=status)
