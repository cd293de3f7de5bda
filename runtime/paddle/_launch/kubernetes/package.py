"""A workspace on its way into pods: packed, and cut into parts that ConfigMaps can hold.

It must never know a cluster. Guarantee: the same content gives the same parts, and what is unpacked is what
was listed, but for its times and owners; of a folder that is sharded (machines/shards.py) a trainer has its
own files alone.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from gzip import GzipFile
from pathlib import Path

from paddle._launch.errors import WorkspaceError
from paddle._launch.machines.shards import share
from paddle._launch.workspace import Entry

PART = 900 << 10  # bytes; an object of Kubernetes holds a mebibyte
MOST = 16 << 20
_NAME = "package.tar.gz."


def packed(entries: Sequence[Entry]) -> list[bytes]:
    """Pack a workspace; gives its parts in order."""
    whole = io.BytesIO()
    try:
        with (
            GzipFile(fileobj=whole, mode="wb", mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w") as tar,
        ):
            for entry in entries:
                _add(tar, entry)
    except OSError as error:
        raise WorkspaceError(
            f"cannot read {error.filename}: {error.strerror}. Fix it, or remove it from the package."
        ) from error
    data = whole.getvalue()
    if len(data) > MOST:
        raise WorkspaceError(
            f"the package has {len(data):,} bytes, packed, and {MOST:,} can be brought to pods by "
            "ConfigMaps. Put data and program into the image, and say where: --job_workspace=FOLDER in place "
            "of --job_dispatch_package; or leave out what pods have from elsewhere (.paddleignore)."
        )
    return [data[at : at + PART] for at in range(0, len(data), PART)]


def name_of(part: int) -> str:
    """The file that a part is for pods."""
    return f"{_NAME}{part:03d}"


def unpack(folder: Path, place: Path, shard_data: str, trainer: int, trainers: int) -> None:
    """Make a workspace of the parts in ``folder``; ``shard_data``: of which folder of it ``trainer`` has its
    share only."""
    parts = sorted(path for path in folder.iterdir() if path.name.startswith(_NAME))
    if not parts:
        raise WorkspaceError(f"{folder} has no part of a package: {name_of(0)} would be the first.")
    data = b"".join(path.read_bytes() for path in parts)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 has it
            own = share(tuple(_listed(tar)), shard_data, trainer, range(trainers))
            names = {entry.path for entry in own}
            tar.extractall(place, [member for member in tar.getmembers() if member.name in names])
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise WorkspaceError(f"the package in {folder} cannot be unpacked to {place}: {error}.") from error


def _add(tar: tarfile.TarFile, entry: Entry) -> None:
    member = tarfile.TarInfo(entry.path)
    member.mode = 0o755
    if entry.kind == "link":
        member.type, member.linkname = tarfile.SYMTYPE, str(entry.source)
        tar.addfile(member)
    elif entry.kind == "folder":
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    else:
        with entry.source.open("rb") as file:
            content = file.read()
        member.size = len(content)
        member.mode = 0o755 if entry.source.stat().st_mode & 0o100 else 0o644
        tar.addfile(member, io.BytesIO(content))


def _listed(tar: tarfile.TarFile) -> Iterator[Entry]:
    for member in tar.getmembers():
        kind = "folder" if member.isdir() else "link" if member.issym() else "file"
        yield Entry(member.name, kind, Path(member.linkname), member.size)  # type: ignore[arg-type]
