"""The tasks of `fab` that put something on nodes and take it away: values in, lines out, an exit status back.

It must never know Fabric: the face does (fabfile/nodes.py). What cannot be done is a LaunchError.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from paddle._launch import remote, signals
from paddle._launch.digests import DigestCache
from paddle._launch.errors import Interrupted, UsageError
from paddle._launch.flags import BY_NAME
from paddle._launch.job import root_of
from paddle._launch.jobs import home
from paddle._launch.machines.fitness import PACKAGES
from paddle._launch.nodes import question
from paddle._launch.nodes.commands import settings_of
from paddle._launch.remote import Remote
from paddle._launch.screens import sizes
from paddle._launch.settings import RUNTIME, Settings
from paddle._launch.upkeep import receipts
from paddle._launch.upkeep.account import Account
from paddle._launch.upkeep.cleaning import Cleaning, Listing
from paddle._launch.upkeep.installing import Installation
from paddle._launch.upkeep.wheelhouse import Wheelhouses
from paddle._streams import show

_CACHE = "~/.cache/paddle"
PYTHONS = ("python3", "python3.13", "python3.12", "python3.11")
# Where a package's compiled part is loaded by a module of another name than its own.
_MODULES = {"cryptography": "cryptography.hazmat.bindings._rust"}


def install(conf: str, flags: str, form: str, python: str, *, fresh: bool) -> int:
    """Have all nodes a virtual environment in which jobs run, and the runtime."""
    BY_NAME["format"].parse(form, "--format")
    settings = settings_of(conf, flags)
    if settings.hosts[0].is_local:
        show(f"all nodes are this machine, and jobs run with {sys.executable}: there is nothing to install.")
        return 0
    if settings["node_python"]:
        raise UsageError(
            f"{settings.written('node_python')}: jobs run with {settings['node_python']}, whatever is "
            "installed here. Leave that out, and `fab install` makes an environment that jobs run with; "
            f"it can be made of that Python: fab install --python={shlex.quote(settings['node_python'])}."
        )
    shown = Account(settings.hosts, form)
    digests = DigestCache(home.below(_CACHE) / "digests")
    houses = Wheelhouses(
        home.below(_CACHE) / "wheels",
        [f"{name}>={least}" for name, least in PACKAGES.items()],
        own_versions(PACKAGES),
        digests,
    )
    installation = Installation(
        needs(settings),
        settings.hosts,
        houses,
        digests,
        pythons=(python,) if python else PYTHONS,
        modules=[_MODULES.get(name, name) for name in PACKAGES],
        hear=shown.hear,
    )
    with _answering(shown):
        outcomes = installation.run(fresh=fresh)
    for outcome in outcomes:
        shown.tell(receipts.as_data(outcome, shown.names))
    for line in receipts.of_installation(outcomes, shown.names):
        shown.say(line)
    return int(any(outcome.furnished is None for outcome in outcomes))


def clean(conf: str, flags: str, form: str, *, is_all: bool, yes: bool, dry_run: bool) -> int:
    """Remove from all nodes what was put there and nobody needs, once the user has seen it."""
    BY_NAME["format"].parse(form, "--format")
    settings = settings_of(conf, flags)
    is_local = settings.hosts[0].is_local
    root = (settings.folder.resolve() if is_local else Path("/")) / Path(settings["root_dir"]).expanduser()
    own = settings["node_python"]
    shown = Account(settings.hosts, form)
    cleaning = Cleaning(
        root if is_local else needs(settings).root,
        settings.hosts,
        settings["host_keys"],
        runtimes=[] if is_local else [needs(settings).runtime.name],
        pythons=(own,) if own else PYTHONS,
        is_all=is_all,
        hear=shown.hear,
    )
    with _answering(shown):
        return _clean(cleaning, shown, root, is_all=is_all, yes=yes, dry_run=dry_run)


def _clean(cleaning: Cleaning, shown: Account, root: Path, *, is_all: bool, yes: bool, dry_run: bool) -> int:
    looked = cleaning.look()
    for node, listing in looked.items():
        shown.tell(receipts.listing_as_data(node, shown.names[node], listing))
    for line in receipts.of_listing(looked, shown.names, root, time.time()):
        shown.say(line)
    goes = {node: one for node, one in looked.items() if isinstance(one, Listing) and (one.goes or is_all)}
    size = sum(listing.size for listing in goes.values())
    if not any(listing.goes for listing in goes.values()):
        if any(isinstance(one, Listing) for one in looked.values()):
            shown.say("there is nothing to remove")
        return int(receipts.has_failed(looked.values()))
    if dry_run or not (yes or (not shown.is_json and question.ask(f"Remove {sizes.of(size)}?"))):
        shown.say("nothing was removed" if dry_run else "nothing was removed: nobody said yes (--yes does)")
        return int(not dry_run or receipts.has_failed(looked.values()))
    removals = cleaning.remove(goes)
    for node, removal in removals.items():
        shown.tell(receipts.removal_as_data(node, shown.names[node], removal))
    for line in receipts.of_removal(removals, shown.names):
        shown.say(line)
    return int(receipts.has_failed([*looked.values(), *removals.values()]))


@contextlib.contextmanager
def _answering(shown: Account) -> Iterator[None]:
    """Meanwhile a signal ends it, and that is said."""
    signals.answer()
    try:
        yield
    except signals.Stopped as stopped:
        raise Interrupted(
            f"{stopped}: nodes end what they were doing; start again, and it goes on with what is missing.",
            stopped.exit_status,
        ) from stopped
    finally:
        shown.close()


def needs(settings: Settings) -> Remote:
    """What a launch needs on other machines."""
    root_of(settings)  # refuses one that cannot be
    return remote.needs(settings, RUNTIME)


def own_versions(names: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """The versions of packages that this machine has."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
