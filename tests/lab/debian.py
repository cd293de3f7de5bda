"""A Debian for an image, in half a second: the packages of this machine that every Debian has, and apt.

It is what cluster/compose/Dockerfile begins with where no registry is asked. Its files are those of this
machine, and apt installs there from where it does here.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ADMIN = Path("/var/lib/dpkg")
BESIDES = ("apt", "debian-archive-keyring", "ubuntu-keyring")
FOLDERS = (
    *("dev", "home", "proc", "root", "run", "srv", "sys", "tmp", "var/tmp", "var/log/apt"),
    *("var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/lib/dpkg/updates"),
)
LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # into /usr, and of no package
SETTINGS = (  # with all that is in them
    *(
        "etc/alternatives",
        "etc/apt",
        "etc/group",
        "etc/nsswitch.conf",
        "etc/pam.d",
        "etc/passwd",
        "etc/shadow",
    ),
    *("etc/ssl/certs/ca-certificates.crt", "usr/local/share/ca-certificates", "usr/share/keyrings"),
    *("var/lib/dpkg/arch", "var/lib/dpkg/diversions", "var/lib/dpkg/info/format"),
)
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/")

Package = Mapping[str, str]  # its fields; under "" the whole of what dpkg knows of it


def write(path: Path) -> None:
    """Write it as ``docker import`` reads it."""
    packages = {package["Package"]: package for package in _installed()}
    chosen = sorted(_needed(packages))
    known = "\n\n".join(packages[name][""] for name in chosen) + "\n"
    with tarfile.open(path, "w") as tar:
        for folder in FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if "tmp" in folder else 0o755
            tar.addfile(entry)
        for file in sorted(_files(chosen) - {Path("/", folder) for folder in FOLDERS}):
            tar.add(file, file.relative_to("/"), recursive=False)
        status = tarfile.TarInfo(str(ADMIN / "status").lstrip("/"))
        status.size = len(known.encode())
        tar.addfile(status, io.BytesIO(known.encode()))


def _installed() -> Iterator[Package]:
    for text in (ADMIN / "status").read_text().strip().split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", text, re.MULTILINE))
        if fields["Status"].endswith(" installed"):
            yield {**fields, "": text}


def _needed(packages: Mapping[str, Package]) -> set[str]:
    """Essential ones and apt, with all that these depend on."""
    offers: dict[str, set[str]] = {}
    for name, package in packages.items():
        for offered in {name, *_names(package.get("Provides", ""))}:
            offers.setdefault(offered, set()).add(name)
    essential = {name for name, package in packages.items() if package.get("Essential") == "yes"}
    found: set[str] = set()
    wanted = essential | {name for name in BESIDES if name in packages}
    while wanted := wanted - found:
        found |= wanted
        depends = (packages[name].get(kind, "") for name in wanted for kind in ("Depends", "Pre-Depends"))
        wanted = {name for text in depends for need in _names(text) for name in offers.get(need, ())}
    return found


def _names(relation: str) -> list[str]:
    """Of the packages in a line such as ``libc6 (>= 2.36), mawk | gawk``: each may do."""
    return re.findall(r"(?:^|[,|])\s*([\w.+-]+)", relation)


def _files(packages: list[str]) -> set[Path]:
    """What is on this machine of those packages, by the ways on which no link is."""
    found = {Path("/", name) for name in (*LINKS, *SETTINGS)}
    for name in packages:
        notes = [*(ADMIN / "info").glob(f"{name}.*"), *(ADMIN / "info").glob(f"{name}:*")]
        lists = (note.read_text().splitlines() for note in notes if note.suffix == ".list")
        found |= {*notes, *(Path(line) for lines in lists for line in lines if not line.startswith(LEFT_OUT))}
    found |= {below for name in SETTINGS for below in Path("/", name).rglob("*")}
    chosen = {path.resolve() for path in found}
    found |= {link for link in _alternatives() if link.resolve() in chosen}
    there = {path.parent.resolve() / path.name for path in found if path != Path("/.")}
    return {path for path in there if path.is_symlink() or path.exists()} - {Path("/")}


def _alternatives() -> Iterator[Path]:
    """Programs of which there are several, such as awk."""
    for link in Path("/usr/bin").iterdir():
        if link.is_symlink() and str(link.readlink()).startswith("/etc/alternatives/"):
            yield link
