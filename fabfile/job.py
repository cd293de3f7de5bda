"""Jobs: start, stop, status, logs, collect, resume."""

from fabric import task
from invoke import Context

from fabfile.answer import answered
from paddle._launch.jobs import commands

_JOB = {
    "job": "Its name or id (`fab status --all`); needed only where several run",
    "conf": "Settings file whose jobs are meant, conf.py beside the fabfile if none is given",
}
_START = {
    "conf": _JOB["conf"],
    "flags": "Flags of paddle.py and train.py, as one text: '--num_passes=3 --port=8000'",
    "detach": "Leave the job in the background once it trains; --no-detach: stay",
}


@task(help=_START | {"package": "Folder with a train.py, which is sent to every node"})
def start(c: Context, package: str, flags: str = "", conf: str = "", detach: bool = True) -> None:
    """Launch a package: python paddle.py --job_dispatch_package=PACKAGE --detach."""
    with answered():
        commands.start(package, flags, conf, detach=detach)


@task(help=_JOB | {"grace": "Time for its processes to end by themselves, such as 30s", "kill": "At once"})
def stop(c: Context, job: str = "", conf: str = "", grace: str = "", kill: bool = False) -> None:
    """Stop a job: the one that runs, or the one that is named."""
    with answered():
        commands.stop(job, conf, grace, kill=kill)


@task(
    help=_JOB
    | {"format": "text or json", "all": "All jobs, of all settings files", "watch": "Until it is over"}
)
def status(
    c: Context, job: str = "", conf: str = "", format: str = "text", all: bool = False, watch: bool = False
) -> None:
    """Show how a job stands; of several that run, a line each."""
    with answered():
        commands.status(job, conf, format, of_all=all, follow=watch)


@task(
    help=_JOB
    | {
        "role": "Of one role only, such as trainer-1",
        "tail": "The last so many lines",
        "grep": "Lines in which this regular expression is found",
        "follow": "And what is still to come, until the job ends",
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
    """Bring logs and model here from the nodes, whether the job runs or not."""
    with answered():
        commands.collect(job, conf)


@task(help=_START | {"job": "The job that has ended, the newest if none is named"})
def resume(c: Context, job: str = "", flags: str = "", conf: str = "", detach: bool = True) -> None:
    """Launch a job that goes on from the snapshots of one that has ended."""
    with answered():
        commands.resume(job, flags, conf, detach=detach)
