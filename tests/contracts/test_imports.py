"""Every import of the package, also within functions and for types only, is one that walls.py allows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grimp
import pytest

import paddle

from .launch_walls import BULLETINS, FLAGS, SUPERVISOR
from .pserver_walls import EXCHANGE, SHARD, SIGHT, TOKENS, WIRE
from .wall import PURE, STANDARD, Row, expanded
from .walls import TABLE

RUNTIME = Path(paddle.__file__).parents[1]
GROUPS = (BULLETINS, EXCHANGE, FLAGS, SHARD, SIGHT, SUPERVISOR, TOKENS, WIRE)
ROWS: dict[str, Row] = {name: row for row in TABLE for name in expanded(row.who)}


class Edge(NamedTuple):
    """One module imports another; ours without ``paddle.``, the package itself as ``__init__``."""

    importer: str
    imported: str
    is_ours: bool
    line: int = 0


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("paddle", include_external_packages=True, cache_dir=None)


def short(module: str) -> str:
    """A package's own code has its ``__init__``'s name, which is no other module's prefix."""
    is_package = (RUNTIME / module.replace(".", "/") / "__init__.py").exists()
    return (f"{module}.__init__" if is_package else module).removeprefix("paddle.")


def edges() -> Iterator[Edge]:
    for module in sorted(graph().modules):
        for imported in sorted(graph().find_modules_directly_imported_by(module)):
            is_ours = imported.split(".")[0] == "paddle"
            line = graph().get_import_details(importer=module, imported=imported)[0]["line_number"]
            yield Edge(short(module), short(imported) if is_ours else imported, is_ours, line)


def fits(name: str, module: str) -> bool:
    """Whether ``name`` is the module's, or of a package above it."""
    return f"{module}.".startswith(f"{name}.")


@cache
def name_of(module: str) -> str | None:
    """The longest name in the table that fits a module."""
    return max((name for name in ROWS if fits(name, module)), key=len, default=None)


def offence(edge: Edge) -> str | None:
    """What is wrong with an import, and what would be right."""
    name = name_of(edge.importer)
    if name is None:
        return f"paddle.{edge.importer} stands in no row of tests/contracts/walls.py: say what it may import"
    row = ROWS[name]
    prefix = "paddle." if edge.is_ours else ""
    said = f"paddle.{edge.importer}:{edge.line} imports {prefix}{edge.imported}: {name} may know of"
    if edge.is_ours:
        allowed = expanded(row.ours)
        if any(fits(one, edge.imported) for one in allowed):
            return None
        core = edge.imported.split(".")[0]
        near = [one.removeprefix(f"{core}.") for one in allowed if fits(core, one)]
        return f"{said} {core} {only(near)}"
    allowed = row.theirs.split()
    if edge.imported in PURE.split() or edge.imported in allowed:
        return None
    is_standard = edge.imported in sys.stdlib_module_names
    if is_standard and STANDARD in allowed:
        return None
    what = "the standard library's effects" if is_standard else "other people's packages"
    near = [one for one in allowed if (one in {STANDARD, *sys.stdlib_module_names}) == is_standard]
    return f"{said} {what} {only(near)}"


def only(names: list[str]) -> str:
    return f"only {{{', '.join(names)}}}" if names else "nothing"


def offences(imports: Iterable[Edge]) -> list[str]:
    return list(dict.fromkeys(said for said in map(offence, imports) if said))


def test_nobody_knows_more_than_the_table_says() -> None:
    found = list(edges())
    assert len(found) > 500
    said = offences(found)
    assert not said, "\n".join(said)


def test_every_name_in_the_table_is_a_modules() -> None:
    modules = {short(module) for module in graph().modules if module.split(".")[0] == "paddle"}
    named = [name for row in TABLE for name in expanded(f"{row.who} {row.ours}")]
    assert [name for name in named if not any(fits(name, module) for module in modules)] == []


def test_no_module_has_two_rows() -> None:
    named = [name for row in TABLE for name in expanded(row.who)]
    assert [name for name in named if named.count(name) > 1] == []


def test_a_package_that_is_allowed_and_that_nobody_imports_is_no_more_allowed() -> None:
    used = {(name_of(edge.importer), edge.imported) for edge in edges()}
    idle = [
        f"{row.who}: {package}"
        for row in TABLE
        for package in row.theirs.split()
        if package != STANDARD and not any((name, package) in used for name in expanded(row.who))
    ]
    assert idle == []


def test_a_module_of_ours_that_is_allowed_and_that_nobody_imports_is_no_more_allowed() -> None:
    """A group that several rows share is one permission: who uses a part of it may have it whole."""
    used: dict[str | None, set[str]] = {}
    for edge in edges():
        if edge.is_ours:
            used.setdefault(name_of(edge.importer), set()).add(edge.imported)
    idle = []
    for row in TABLE:
        imported = set().union(*(used.get(name, set()) for name in expanded(row.who)))
        kept = {name for name in expanded(row.ours) if any(fits(name, module) for module in imported)}
        for group in GROUPS:
            if group in row.ours and kept.intersection(expanded(group)):
                kept.update(expanded(group))
        idle += [f"{row.who}: {name}" for name in expanded(row.ours) if name not in kept]
    assert not idle, "\n".join(idle)


WRONG = [
    ("_pserver.protocol.link", "aiohttp", "other people's packages nothing"),
    ("_pserver.service.children", "aiohttp", "other people's packages nothing"),
    ("_pserver.shard.shard", "asyncio", "the standard library's effects nothing"),
    ("_pserver.shard.watch", "time", "the standard library's effects nothing"),
    ("_pserver.shard.training", "random", "the standard library's effects nothing"),
    ("_pserver.shard.modes", "_pserver.service.session", "_pserver only {"),
    ("_pserver.trainer.remote", "_pserver.shard.shard", "_pserver only {trainer, trust.auth, "),
    ("_pserver.shard.shard", "_engine.program", "_engine only {averages, exchange, entry, "),
    ("_pserver.service.hub", "_launch.environ", "_launch nothing"),
    ("_pserver.service.service", "numpy", "other people's packages nothing"),
    ("v2.layer", "_pserver.shard.shard", "_pserver nothing"),
    ("v2.trainer", "_pserver.trainer.client", "_pserver only {protocol.wire, trainer.local, "),
    ("v2.layer", "_launch.flags", "_launch only {environ}"),
    ("v2.layer", "_launch.nics", "_launch only {environ}"),
    ("reader.decorator", "v2.parameters", "v2 nothing"),
    ("_engine.plan", "rich", "other people's packages only {numpy}"),
    ("_engine.rows", "xxhash", "other people's packages only {numpy}"),
    ("_engine.ops.table", "_pserver.tables.tables", "_pserver nothing"),
    ("_engine.ops.table", "numba", "other people's packages only {numpy}"),
    ("_engine.rules.sgd", "_engine.program", "_engine only {averages, exchange, entry, "),
    ("_launch.cli", "fabric", "other people's packages nothing"),
    ("_launch.cause", "subprocess", "the standard library's effects only {signal}"),
    ("_launch.supervisor", "_launch.workspace", "_launch only {actions, again, "),
    ("_launch.plan", "subprocess", "the standard library's effects only {os, pathlib}"),
    ("_launch.agent.loop", "_launch.errors", "_launch only {agent}"),
    ("_launch.agent.loop", "msgspec", "other people's packages nothing"),
    ("_launch.launch", "_engine.errors", "_engine nothing"),
    ("_pserver.averages", "numpy", "stands in no row"),
]


@pytest.mark.parametrize(("importer", "imported", "said"), WRONG)
def test_an_import_that_the_table_does_not_allow_is_named(importer: str, imported: str, said: str) -> None:
    is_ours = imported.startswith(("_", "v2"))
    (found,) = offences([Edge(importer, imported, is_ours, 3)])
    assert said in found
    assert f"paddle.{importer}" in found


def test_an_import_within_a_function_or_for_types_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house/__init__.py").write_text("")
    (tmp_path / "house/hall.py").write_text(
        "import typing\nif typing.TYPE_CHECKING:\n    import aiohttp\n\ndef late():\n    import socket\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    seen = grimp.build_graph("house", include_external_packages=True, cache_dir=None)
    assert seen.find_modules_directly_imported_by("house.hall") == {"typing", "aiohttp", "socket"}
