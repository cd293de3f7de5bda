"""Tasks that speak with nodes: trust, check, install, clean."""

from fabric import task
from invoke import Context, Exit

from fabfile.answer import answered
from paddle._launch.nodes import commands
from paddle._launch.upkeep import commands as upkeep

_CONF = "Settings file whose nodes are meant, conf.py beside the fabfile if none is given"
_FLAGS = "Flags of paddle.py that say which nodes, as one text: '--hosts=root@n1 --root_dir=/srv/jobs'"


@task(
    help={
        "conf": _CONF,
        "flags": _FLAGS,
        "yes": "Take the keys that hosts show now, without a question",
        "format": "text or json",
    }
)
def trust(c: Context, conf: str = "", flags: str = "", yes: bool = False, format: str = "text") -> None:
    """Have the host keys of all nodes known to this machine, after showing them."""
    with answered():
        status = commands.trust(conf, flags, format, yes=yes)
    if status:
        raise Exit(code=status)


@task(
    help={
        "package": "Workspace that is to be launched: what of it keeps a job from running is told, too",
        "flags": "Flags of paddle.py that the job will have, as one text: '--port=8000 --nics=eth1'",
        "conf": _CONF,
        "format": "text or json",
        "all": "On more than four nodes what is the same is said once: all of it, of each node",
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


@task(
    help={
        "conf": _CONF,
        "flags": _FLAGS,
        "python": "Python of the nodes to build on, if not python3: a name or a path",
        "fresh": "Ask pip's index again, also where the wheels of an earlier installation are kept here",
        "format": "text or json",
    }
)
def install(
    c: Context, conf: str = "", flags: str = "", python: str = "", fresh: bool = False, format: str = "text"
) -> None:
    """Bring to all nodes what jobs need there, beside a Python; nodes need no network for it."""
    with answered():
        status = upkeep.install(conf, flags, format, python, fresh=fresh)
    if status:
        raise Exit(code=status)


@task(
    help={
        "conf": _CONF,
        "flags": _FLAGS,
        "all": "Also what the next job would use; what a job uses now stays",
        "yes": "Remove it without a question",
        "dry-run": "Only show what would be removed",
        "format": "text or json",
    }
)
def clean(
    c: Context,
    conf: str = "",
    flags: str = "",
    all: bool = False,
    yes: bool = False,
    dry_run: bool = False,
    format: str = "text",
) -> None:
    """Remove from all nodes what old jobs and installations left, after showing it."""
    with answered():
        status = upkeep.clean(conf, flags, format, is_all=all, yes=yes, dry_run=dry_run)
    if status:
        raise Exit(code=status)
