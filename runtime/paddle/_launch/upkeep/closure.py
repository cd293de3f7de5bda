"""What a set of wheels lacks, so that each of them has what it requires, on the node that they are for.

pip asks the conditions of requirements (``; python_version < "3.13"``) of the Python that it runs with, also
where it fetches wheels for another one. So what a node needs and this machine does not would be missing.

It must never know where wheels come from. Guarantee: where nothing is lacking, an installation of these
wheels alone finds all that it asks for.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from email.parser import BytesParser
from pathlib import Path

import msgspec
from packaging.markers import InvalidMarker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from paddle._launch.errors import DeliveryError


class Wheel(msgspec.Struct, frozen=True, kw_only=True):
    """One wheel. ``files``: what is in it, of ``unpacked`` bytes; ``requires``: as it says so itself."""

    file: str
    name: str
    version: str
    files: int
    unpacked: int
    requires: tuple[str, ...]


def read(path: Path) -> Wheel:
    """Read what a wheel says of itself."""
    try:
        with zipfile.ZipFile(path) as archive:
            name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            told = BytesParser().parsebytes(archive.read(name), headersonly=True)
            sizes = [entry.file_size for entry in archive.infolist()]
    except (OSError, zipfile.BadZipFile, StopIteration) as error:
        raise DeliveryError(
            f"{path} is not a readable wheel ({type(error).__name__}: {error}). `fab install --fresh` "
            "fetches all anew."
        ) from error
    return Wheel(
        file=path.name,
        name=canonicalize_name(told["Name"]),
        version=told["Version"],
        files=len(sizes),
        unpacked=sum(sizes),
        requires=tuple(told.get_all("Requires-Dist", ())),
    )


def lacking(wheels: Iterable[Wheel], wanted: Iterable[str], marks: Mapping[str, str]) -> list[str]:
    """Give the requirements that nothing among ``wheels`` meets, of ``wanted`` and of all that these bring
    with them. ``marks``: of the node."""
    by_name = {wheel.name: wheel for wheel in wheels}
    todo = [Requirement(text) for text in wanted]
    seen: set[str] = set()
    missing: dict[str, None] = {}
    while todo:
        requirement = todo.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        wheel = by_name.get(canonicalize_name(requirement.name))
        if wheel is None or not requirement.specifier.contains(Version(wheel.version), prereleases=True):
            missing[_bare(requirement)] = None
        else:
            todo += _brought(wheel, requirement.extras, marks)
    return list(missing)


def _brought(wheel: Wheel, extras: Iterable[str], marks: Mapping[str, str]) -> Iterator[Requirement]:
    """What a wheel requires on such a node."""
    for text in wheel.requires:
        try:
            requirement = Requirement(text)
            is_meant = requirement.marker is None or any(
                requirement.marker.evaluate({**marks, "extra": extra}) for extra in ("", *extras)
            )
        except (InvalidRequirement, InvalidMarker, UndefinedEnvironmentName):
            continue  # pip would not understand it either, and says so there
        if is_meant:
            yield requirement


def _bare(requirement: Requirement) -> str:
    """A requirement without the condition under which it is one."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"
