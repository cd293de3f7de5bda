"""Jobs: start, stop, status, logs, collect, resume."""

from fabric import task
from invoke import Context

from fabfile.answer import answered
from paddle._launch.jobs import commands

_JOB = {
    "job": "Name or id of the job (`fab status --all`); needed only if several run",
    "conf": "Settings file of the jobs; by default conf.py beside the fabfile",
}
_START = {
    "conf": _JOB["conf"],
    "flags": "Flags of paddle.py and train.py, as one text: '--num_passes=3 --port=8000'",
    "detach": "Go into the background at the first step; --no-detach: stay",
}


@task(help=_START | {"package": "Folder with a train.py, to send to every node"})
def start(c: Context, package: str, flags: str = "", conf: str = "", detach: bool = True) -> None:
    """Launch a package: python paddle.py --job_dispatch_package=PACKAGE --detach."""
    with answered():
        commands.start(package, flags, conf, detach=detach)


@task(help=_JOB | {"grace": "Time for its processes to end, such as 30s", "kill": "Kill at once"})
def stop(c: Context, job: str = "", conf: str = "", grace: str = "", kill: bool = False) -> None:
    """Stop the running job, or the one given by --job."""
    with answered():
        commands.stop(job, conf, grace, kill=kill)


@task(
    help=_JOB
    | {
        "format": "text or json",
        "all": "All jobs, of all settings files",
        "watch": "Refresh until it is over",
    }
)
def status(
    c: Context, job: str = "", conf: str = "", format: str = "text", all: bool = False, watch: bool = False
) -> None:
    """Show the state of a job, or a line per job if several run."""
    with answered():
        commands.status(job, conf, format, of_all=all, follow=watch)


@task(
    help=_JOB
    | {
        "role": "Only this role, such as trainer-1",
        "tail": "Only this many last lines",
        "grep": "Only lines that match this regular expression",
        "follow": "Keep showing new lines until the job ends",
    }
)
def logs(
    c: Context,
    job: str = "",
    conf: str = "",
    role: str = "",
    tail: str = "",
    grep: str = "",
    follow: bool = False,
) -> None:
    """Show what all roles print, merged."""
    with answered():
        commands.logs(job, conf, role, tail, grep, follow=follow)


@task(help=_JOB)
def collect(c: Context, job: str = "", conf: str = "") -> None:
    """Fetch logs and model from the nodes, whether the job runs or not."""
    with answered():
        commands.collect(job, conf)


@task(help=_START | {"job": "The ended job; by default the newest"})
def resume(c: Context, job: str = "", flags: str = "", conf: str = "", detach: bool = True) -> None:
    """Continue an ended job from its snapshots."""
    with answered():
        commands.resume(job, flags, conf, detach=detach)
