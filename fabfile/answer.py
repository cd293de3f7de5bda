"""How tasks end that could not be done: with one paragraph, and a status."""

from collections.abc import Iterator
from contextlib import contextmanager

from invoke import Exit

from paddle._launch.errors import LaunchError


@contextmanager
def answered() -> Iterator[None]:
    """What cannot be done is said in one paragraph."""
    try:
        yield
    except LaunchError as error:
        raise Exit(f"fab: {error}", error.exit_status) from error
