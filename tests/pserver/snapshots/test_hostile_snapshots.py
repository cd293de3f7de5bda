"""Snapshots that somebody made to do harm, with every checksum right: refused by name, in little memory."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import NoValidCheckpoint, PserverError
from paddle._pserver.options import ShardOptions, SnapshotOptions
from paddle._pserver.shard.state import Facts
from paddle._pserver.snapshots import offline, recovery
from paddle._pserver.snapshots.archive import Archive
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.snapshot_file import decoded, encoded, opened
from paddle._pserver.snapshots.storage import Folder
from paddle._pserver.tables.streamed import whole

from ..test_equality import MODEL
from .test_offline import SPEC, kept
from .test_resharding import cluster

MOST = 32 << 20  # bytes; the model has some ten thousand
Arrays = dict[str, np.ndarray]
Harm = Callable[[Facts, Arrays], Facts]


def declares(which: str, **how: Any) -> Harm:
    """It declares a parameter otherwise."""

    def harm(facts: Facts, arrays: Arrays) -> Facts:
        parameters = [
            replace(one, **how) if one.name == which else one for one in facts.declaration.parameters
        ]
        return declaring(facts, *parameters)

    return harm


def declaring(facts: Facts, *parameters: ParameterSpec) -> Facts:
    changed = msgspec.structs.replace(facts.declaration, parameters=parameters)
    return msgspec.structs.replace(facts, declaration=changed)


def has(key: str, change: Callable[[np.ndarray], np.ndarray] | None) -> Harm:
    """It has an array otherwise, or none."""

    def harm(facts: Facts, arrays: Arrays) -> Facts:
        if key in arrays:
            array = arrays.pop(key)
            if change is not None:
                arrays[key] = np.ascontiguousarray(change(array))
        return facts

    return harm


def twice(facts: Facts, arrays: Arrays) -> Facts:
    return declaring(facts, *facts.declaration.parameters, facts.declaration.parameters[0])


HARMS: dict[str, Harm] = {
    "a dense parameter of a tebibyte": declares("w", shape=(1 << 38,)),
    "one of more than numbers have bits": declares("w", shape=(1 << 40, 1 << 40)),
    "a table of a tebibyte": declares("emb", shape=(1 << 36, 6)),
    "a table of no width": declares("emb", shape=(50, 0)),
    "a parameter of less than nothing": declares("w", shape=(-1, 60)),
    "a parameter of many dimensions": declares("w", shape=(1,) * 5000),
    "a table that is none": declares("emb", sparse=False),
    "a parameter that is a table": declares("w", sparse=True),
    "a name of a file elsewhere": declares("w", name="../../w"),
    "a name that is none": declares("w", name="\0"),
    "a parameter twice": twice,
    "values that are not there": has("values/w", None),
    "half of the values": has("values/w", lambda array: array[: len(array) // 2]),
    "values of another kind": has("values/emb", lambda array: array.astype(np.int64)),
    "rows in a row": has("values/emb", lambda array: array.reshape(-1)),
    "a table without its rates": has("rates/emb", None),
    "rates of another number": has("rates/emb", lambda array: array[:2]),
    "rows without their steps": has("last_step/emb", None),
}
WORKS: dict[str, Callable[[Path, Path], object]] = {
    "tar": lambda folder, to: offline.export([folder], to, "tar", str),
    "persistables": lambda folder, to: offline.export([folder], to, "persistables", str),
    "combined": lambda folder, to: offline.export([folder], to, "combined", str),
    "reshard": lambda folder, to: offline.reshard(
        [folder], to, offline.Cluster(nodes=2, ports_num=1, ports_num_for_sparse=1), str
    ),
    "dense": lambda folder, to: begin(folder, "dense"),
    "sparse": lambda folder, to: begin(folder, "sparse"),
}


def begin(folder: Path, role: Any) -> None:
    """As a pserver that has so much memory begins."""
    options = ShardOptions(
        roles=frozenset({role}),
        memory_limit_bytes=MOST // 4,
        snapshots=SnapshotOptions(folder=str(folder / "node-0" / f"{role}-0")),
    )
    _, snapshots = recovery.begin(options, "it")
    snapshots._storage.close()  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    kept(folder, cluster(MODEL, SPEC, 1, 1), 2)
    return folder


def harmed(good: Path, to: Path, harm: Harm) -> None:
    """Write all its snapshots as they were, but for the harm."""
    for path in good.rglob("*.safetensors"):
        archive = Archive(Folder(path.parent))
        whole = archive.survey().whole
        state = opened(archive.view(max(whole), whole[max(whole)]))
        arrays = {name: np.array(array) for name, array in state.arrays.items()}
        facts = harm(state.facts, arrays)
        storage = Folder(to / path.parent.relative_to(good))
        Snapshots(storage).write(facts, arrays)
        storage.close()
        archive._storage.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_what_is_not_what_it_declares_is_refused_or_harmless(good: Path, tmp_path: Path, harm: Harm) -> None:
    harmed(good, tmp_path / "bad", harm)
    refused = []
    for name, work in WORKS.items():
        tracemalloc.start()
        try:
            work(tmp_path / "bad", tmp_path / name)
        except PserverError as error:
            assert len(str(error)) < 40_000
            assert not (tmp_path / name).exists()
            refused.append(name)
        finally:
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert most < MOST
    assert refused, "somebody has to notice"
    made = {path.name for path in tmp_path.iterdir()}
    assert made <= {"bad", *WORKS}
    assert sum(path.stat().st_size for path in tmp_path.rglob("*")) < MOST


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("w", lambda array: array.astype(np.int64)),
        ("w", lambda array: array.astype(np.float64)),
        ("w", lambda array: array[:-1]),
        ("emb", lambda array: array.astype(np.int64)),
        ("emb", lambda array: array.astype(np.float64)),
        ("emb", lambda array: array[:-1]),
        ("emb", lambda array: array[:, :-1]),
        ("emb", lambda array: array.reshape(-1)),
    ],
)
def test_values_of_another_kind_or_number_are_refused_by_name_whatever_is_made_of_them(
    good: Path, tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    harmed(good, tmp_path / "bad", has(f"values/{name}", change))
    for work in ("tar", "persistables", "combined", "reshard"):
        with pytest.raises(NoValidCheckpoint, match=f"declare '{name}' of shape"):
            WORKS[work](tmp_path / "bad", tmp_path / work)


def test_what_was_not_harmed_is_taken(good: Path, tmp_path: Path) -> None:
    harmed(good, tmp_path / "same", lambda facts, arrays: facts)
    for name, work in WORKS.items():
        work(tmp_path / "same", tmp_path / name)


def files(good: Path) -> dict[str, bytes]:
    """Files that are none, made of one."""
    path = next(good.rglob("dense-0/*.safetensors"))
    whole = path.read_bytes()
    begin = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:begin])
    facts = header["__metadata__"]["facts"]

    def with_header(changed: object) -> bytes:
        text = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
        return len(text).to_bytes(8, "little") + text + whole[begin:]

    tensor = {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}
    return {
        "nothing": b"",
        "a header without end": (1 << 62).to_bytes(8, "little") + whole[8:],
        "a header of brackets": with_header(b"[" * 100_000),
        "a list": with_header([]),
        "a number": with_header(7),
        "no facts": with_header({"__metadata__": {}}),
        "facts that are text": with_header({**header, "__metadata__": {"facts": "\u00e4"}}),
        "facts of a list without end": with_header(
            {**header, "__metadata__": {"facts": base64.b64encode(b"\xdd\xff\xff\xff\xff").decode()}}
        ),
        "facts within facts": with_header(
            {**header, "__metadata__": {"facts": base64.b64encode(b"\x91" * 100_000).decode()}}
        ),
        "an array of a tebibyte": with_header(
            {"__metadata__": {"facts": facts}, "values/w": {**tensor, "shape": [1 << 38]}}
        ),
        "an array beyond the end": with_header(
            {
                "__metadata__": {"facts": facts},
                "ids/o": {**tensor, "shape": [1 << 45], "data_offsets": [0, 4 << 45]},
            }
        ),
        "an array that is elsewhere": with_header(
            {"__metadata__": {"facts": facts}, "values/w": {**tensor, "data_offsets": [-12, 1 << 40]}}
        ),
        "an array of objects": with_header(
            {"__metadata__": {"facts": facts}, "values/w": {**tensor, "dtype": "OBJECT"}}
        ),
    }


def part_of(data: bytes) -> Callable[[int, int], bytes]:
    return lambda first, size: data[first : first + size]


@pytest.mark.parametrize(
    "read",
    [lambda data: decoded(part_of(data), len(data), is_regular=True), lambda data: opened(memoryview(data))],
    ids=["decoded", "opened"],
)
def test_files_that_are_no_snapshots_are_refused_in_little_memory(
    good: Path, read: Callable[[bytes], object]
) -> None:
    for name, data in files(good).items():
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match="does not decode"):
                print(name, read(data))
            assert tracemalloc.get_traced_memory()[1] < MOST, name
        finally:
            tracemalloc.stop()


def test_what_was_written_is_no_harm(good: Path) -> None:
    data = next(good.rglob("dense-0/*.safetensors")).read_bytes()
    state = decoded(part_of(data), len(data), is_regular=True)
    rewritten = b"".join(encoded(state.facts, state.arrays))
    again = decoded(part_of(rewritten), len(rewritten), is_regular=True)
    assert again.facts == state.facts
    assert {name: whole(array).tobytes() for name, array in again.arrays.items()} == {
        name: array.tobytes() for name, array in load(data).items()
    }
