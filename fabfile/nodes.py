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
        "yes": "Accept the keys that hosts present now, without a question",
        "format": "text or json",
    }
)
def trust(c: Context, conf: str = "", flags: str = "", yes: bool = False, format: str = "text") -> None:
    """Show the host keys of all nodes and, after a yes, add them to known_hosts."""
    with answered():
        status = commands.trust(conf, flags, format, yes=yes)
    if status:
        raise Exit(code=status)


@task(
    help={
        "package": "Also check this workspace, which is to be launched",
        "flags": "Flags of paddle.py that the job will have, as one text: '--port=8000 --nics=eth1'",
        "conf": _CONF,
        "format": "text or json",
        "all": "With more than four nodes: show all findings of each node",
    }
)
def check(
    c: Context, package: str = "", flags: str = "", conf: str = "", format: str = "text", all: bool = False
) -> None:
    """Check whether a job can be launched on all nodes; changes nothing."""
    with answered():
        status = commands.check(package, flags, conf, format, whole=all)
    if status:
        raise Exit(code=status)


@task(
    help={
        "conf": _CONF,
        "flags": _FLAGS,
        "python": "Python on the nodes, if not python3: a name or a path",
        "fresh": "Ask pip's index again, even if wheels of an earlier installation are cached here",
        "format": "text or json",
    }
)
def install(
    c: Context, conf: str = "", flags: str = "", python: str = "", fresh: bool = False, format: str = "text"
) -> None:
    """Install on all nodes what jobs need besides Python; nodes need no network."""
    with answered():
        status = upkeep.install(conf, flags, format, python, fresh=fresh)
    if status:
        raise Exit(code=status)


@task(
    help={
        "conf": _CONF,
        "flags": _FLAGS,
        "all": "Also remove what the next job would use; what a job uses now stays",
        "yes": "Remove without a question",
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
    """Show and remove what old jobs and installations left on the nodes."""
    with answered():
        status = upkeep.clean(conf, flags, format, is_all=all, yes=yes, dry_run=dry_run)
    if status:
        raise Exit(code=status)
