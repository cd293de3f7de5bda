"""Who may know whom: the one table of it, an allow-list, to which test_imports.py holds every import.

A name is a module's without ``paddle.`` and stands for all below it, too; of the rows that fit a module the
one with the longest name is its only one. ``a.{b,c}`` is a.b and a.c. What a row does not allow is forbidden.

Of the standard library all may import what only computes (``PURE``). What reaches the clock, chance, other
processes or the machine is allowed by name, or in one piece (``STANDARD``) where reaching them is the job.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PURE = """
    __future__ abc ast bisect codecs collections contextlib csv dataclasses datetime difflib enum functools
    hashlib heapq io itertools json logging math numbers operator re shlex stat statistics string struct
    textwrap types typing warnings weakref zlib
"""
STANDARD = "STANDARD"


@dataclass(frozen=True, slots=True)
class Row:
    """``who`` may import ``ours`` of the package, and ``theirs`` besides what is PURE."""

    who: str
    ours: str = ""
    theirs: str = ""


def expanded(text: str) -> list[str]:
    """The names in a text."""
    names: list[str] = []
    for stem, choices, name in re.findall(r"([\w.]*)\{([^}]*)\}|([\w.]+)", text):
        names += [stem + choice.strip() for choice in choices.split(",")] if choices else [name]
    return names


# What engine and parameter server both speak of: gradients and rules, never a program.
EXCHANGE = """_engine.{
    averages, errors, exchange, entry, penalties, rates, row_initial, rows, rules, schedules
}"""
# What trainers and pservers both speak of.
WIRE = "_pserver.{errors, options} _pserver.protocol.{framing, messages, placement, wire}"
# A shard: its parts are state machines, driven by whoever has a clock and a network.
SHARD = (
    "_pserver.watcher _pserver.shard _pserver.tables.{gradient, open_places, packed_table, streamed, tables}"
)
SIGHT = "_pserver.service.{meter, report, status}"
# How both prove to have the job's token.
TOKENS = "_pserver.trust.{auth, handshake, tls, tls_socket, token_file}"
# Flags and who reads them: light enough for every program that asks for its settings.
FLAGS = "_launch.{arguments, dialects, environ, errors, flag, flags, manual, report}"
# A launch as data, and who decides by it.
SUPERVISOR = "_launch.{actions, cause, events, phases, restarts, supervisor}"

# What a launch tells, and who it tells it to.
BULLETINS = "_launch.{board, bulletins, errors, events, news, plan, status}"

TABLE = (
    # The top.
    Row("__init__", "_absent batch", "importlib"),
    Row(
        "__main__",
        f"__init__ {FLAGS} _visible _launch.{{infolog, nics}} "
        "_offline _online _pserver.{errors, options} _pserver.service.service "
        "_pserver.trust.{auth, tls, token_file} _pserver.tasks.{errors, queue, service}",
        STANDARD,
    ),
    Row(
        "_offline",
        "_visible _launch.{arguments, errors, flags, manual} _pserver.errors _pserver.snapshots.offline",
        "pathlib shlex sys",
    ),
    Row(
        "_online",
        "_visible _launch.{arguments, environ, flags, manual} "
        "_pserver.errors _pserver.trainer.consistent_cut",
        "os sys",
    ),
    Row("_absent", "_complaint", "sys"),
    Row("_complaint", "", STANDARD),
    Row("_visible"),
    # The faces.
    Row(
        "v2",
        "v2 _absent _complaint _engine batch dataset reader "
        "_launch.{environ, infolog} _pserver.trainer.{local, remote}",
        "msgspec numpy sys",
    ),
    Row("v2.__init__", "_absent v2._flags", "importlib"),
    Row("v2._flags", "_complaint _launch.{environ, infolog}", "os sys"),
    Row("v2.master", "_pserver.tasks.{client, errors, handshake}", "os"),
    Row("v2.parameters", "v2 _absent _engine.checkpoint", "numpy tarfile"),
    Row("v2.plot", "", "importlib matplotlib os"),
    Row(
        "v2.trainer",
        "v2 _absent _engine _launch.environ "
        "_pserver.protocol.wire _pserver.trainer.{local, remote, trainer_modes}",
        "time",
    ),
    Row("batch"),
    Row("dataset", "dataset _absent _recordio", f"numpy {STANDARD}"),
    Row("dataset.uci_housing", "dataset _absent v2.parameters", "numpy pathlib"),  # for model()
    Row("reader", "reader _absent", STANDARD),
    Row("reader.creator", "reader _absent _recordio v2.master", f"numpy {STANDARD}"),  # cloud_reader
    Row("_recordio", "_recordio", "msgspec numpy pathlib"),
    Row("_recordio.pickled", "_recordio.errors", "numpy pickle"),
    Row("testing", "_engine.{registry, single}", "numpy"),
    # What one step computes.
    Row("_engine", "_engine", "numpy"),
    Row("_engine.checkpoint", "_engine.{checkpoint, protobuf}", "numpy pathlib tarfile"),
    Row("_engine.kernels", "_engine.kernels", "numpy"),
    Row("_engine.kernels.kernel", theirs="numba pathlib threading"),
    Row("_engine.kernels.prefetch", theirs="llvmlite numba"),
    Row(EXCHANGE, f"{EXCHANGE} _engine.kernels", "numpy"),
    # Where parameters live, from the ground up.
    Row("_pserver.__init__"),
    Row("_pserver.errors", "_engine.errors _complaint"),
    Row("_pserver.{options, watcher}"),
    # What trainers and shards say to each other.
    Row("_pserver.protocol.{__init__, landing}"),
    Row("_pserver.protocol.ahead", theirs="threading"),  # a lock
    Row("_pserver.protocol.link", theirs="select socket"),
    Row("_pserver.protocol.wire", "_engine.exchange"),
    Row("_pserver.protocol.messages", f"{WIRE} _engine.exchange", "msgspec"),
    Row("_pserver.protocol.{framing, placement}", "_pserver.errors _engine.exchange", "numpy xxhash"),
    Row("_pserver.protocol.encoding", f"{WIRE} {EXCHANGE} _engine.kernels.{{halves, largest}}", "numpy"),
    Row("_pserver.protocol.outlet", f"{WIRE} _engine.kernels.halves", "numpy"),
    Row("_pserver.protocol.rounded", "_pserver.protocol.{framing, landing} _engine.kernels.halves", "numpy"),
    # Who may speak. The gate is a state machine: time and chance are given to it.
    Row("_pserver.trust.__init__"),
    Row("_pserver.trust.auth", theirs="base64 binascii hmac ipaddress"),
    Row("_pserver.trust.token_file", "_pserver.errors _pserver.trust.auth", "os pathlib"),
    Row("_pserver.trust.nearby", "_pserver.trust.auth", "os socket"),
    Row("_pserver.trust.tls", "_pserver.errors", "pathlib ssl"),
    Row(
        "_pserver.trust.tls_socket",
        "_pserver.errors _pserver.trust.tls",
        "select socket ssl threading time",
    ),
    Row(
        "_pserver.trust.handshake",
        "_pserver.errors _pserver.protocol.link _pserver.trust.{auth, nearby, tls_socket}",
        "secrets socket time",
    ),
    # Memory, some of which both sides see.
    Row("_pserver.memory.{__init__, memory}", theirs="os pathlib"),
    Row("_pserver.memory.pages", theirs="gc mmap numpy"),
    Row(
        "_pserver.memory.region",
        "_pserver.memory.memory _pserver.protocol.messages",
        "fcntl mmap numpy os pathlib",
    ),
    Row("_pserver.memory.shown", f"{WIRE} _pserver.memory.region", "numpy"),
    Row("_pserver.memory.gradient_room", f"{EXCHANGE} _pserver.memory.region", "numpy"),
    # Values, and the state of their rules.
    Row("_pserver.tables.{__init__, gradient}", theirs="numpy"),
    Row("_pserver.tables.slots", EXCHANGE, "numpy"),
    Row("_pserver.tables.table_room", "_pserver.errors"),
    Row("_pserver.tables.streamed", theirs="numpy"),
    Row("_pserver.tables.summed_rows", "_engine.kernels.interleaved _pserver.tables.gradient", "numpy"),
    Row("_pserver.tables.frozen", "_pserver.memory.pages _pserver.tables.streamed", "numpy"),
    Row("_pserver.tables.frozen_table", "_pserver.tables.{frozen, hash_index, streamed}", "numpy"),
    Row(
        "_pserver.tables.sparse_table",
        "_pserver.protocol.placement _pserver.tables.{gradient, streamed}",
        "numpy",
    ),
    Row(
        "_pserver.tables.packed_table",
        f"_pserver.tables.{{frozen, gradient, slots, streamed}} {WIRE} {EXCHANGE} _engine.kernels.rows",
        "numpy",
    ),
    Row(
        "_pserver.tables.hash_index",
        "_pserver.errors _pserver.memory.pages _engine.kernels.{cells, growing, hashing}",
        "numpy",
    ),
    Row(
        "_pserver.tables.hash_table",
        f"{WIRE} {EXCHANGE} _engine.kernels.interleaved "
        "_pserver.memory.pages "
        "_pserver.tables.{frozen, frozen_table, gradient, hash_index, slots, streamed, summed_rows} "
        "_pserver.tables.table_room",
        "numpy",
    ),
    Row("_pserver.tables.known_rows", "_pserver.memory.pages _pserver.tables.hash_index", "numpy"),
    Row("_pserver.tables.open_places", "_pserver.tables.hash_index", "numpy"),
    Row(
        "_pserver.tables.tables",
        f"{WIRE} {EXCHANGE} _pserver.memory.shown "
        "_pserver.tables.{gradient, hash_table, packed_table, slots, sparse_table, streamed, table_room}",
        "numpy",
    ),
    # One part of the parameters.
    Row("_pserver.shard", f"{SHARD} {WIRE} {EXCHANGE} _visible", "numpy"),
    Row("_pserver.shard.model", f"{SHARD} {WIRE} {EXCHANGE} _pserver.memory.shown", "numpy"),
    Row("_pserver.shard.decoding", f"{SHARD} {WIRE} {EXCHANGE} _engine.kernels.{{halves, largest}}", "numpy"),
    Row("_pserver.shard.loan", f"{WIRE} _pserver.memory.region _pserver.tables.tables", "numpy os"),
    Row("_pserver.shard.state", f"{SHARD} {WIRE}", "msgspec"),
    # States on disk.
    Row("_pserver.snapshots.__init__"),
    Row(
        "_pserver.snapshots.snapshot_file",
        "_pserver.shard.state _pserver.tables.streamed",
        "base64 msgspec numpy safetensors",
    ),
    Row("_pserver.snapshots.storage", "_pserver.errors", "fcntl mmap os pathlib"),
    Row(
        "_pserver.snapshots.{archive, snapshot}",
        "_pserver.errors _pserver.shard.state _pserver.snapshots.{archive, snapshot_file, storage}",
        "msgspec xxhash",
    ),
    Row(
        "_pserver.snapshots.recovery",
        f"{SHARD} {WIRE} _pserver.snapshots.{{snapshot, storage}}",
        "pathlib time",
    ),
    Row(
        "_pserver.snapshots.gathering",
        f"{WIRE} _pserver.snapshots.{{archive, snapshot_file, storage}}",
        "msgspec pathlib",
    ),
    Row(
        "_pserver.snapshots.resharding",
        f"{WIRE} {EXCHANGE} _pserver.shard.state _pserver.snapshots.{{snapshot_file, gathering}} "
        "_pserver.tables.streamed",
        "msgspec numpy",
    ),
    Row(
        "_pserver.snapshots.exporting",
        f"{WIRE} {EXCHANGE} _engine.checkpoint "
        "_pserver.snapshots.{gathering, resharding} "
        "_pserver.tables.{hash_table, packed_table, streamed, table_room}",
        "numpy sys",
    ),
    Row(
        "_pserver.snapshots.offline",
        f"{WIRE} _engine.checkpoint "
        "_pserver.snapshots.{exporting, gathering, resharding, snapshot, storage}",
        "pathlib shutil tempfile",
    ),
    # A trainer's end.
    Row(
        "_pserver.trainer",
        f"_pserver.trainer {TOKENS} {WIRE} {EXCHANGE} _visible _pserver.trust.nearby "
        "_pserver.memory.{gradient_room, region, shown} "
        "_pserver.protocol.{ahead, encoding, landing, link, rounded}",
        "msgspec numpy os secrets socket ssl sys threading time",
    ),
    Row("_pserver.trainer.local", f"{SHARD} {WIRE} {EXCHANGE} _pserver.trainer.given", "numpy"),
    Row("_pserver.trainer.merging", EXCHANGE, "numpy"),
    Row("_pserver.trainer.local_updates", f"{EXCHANGE} _pserver.tables.known_rows", "numpy"),
    Row(
        "_pserver.trainer.trainer_modes",
        "_engine.exchange _pserver.trainer.{local, local_updates, merging}",
    ),
    Row(
        "_pserver.trainer.consistent_cut",
        f"{WIRE} _pserver.trainer.{{client, deadline}} _pserver.trust.{{tls, token_file}}",
        "time",
    ),
    # Shards as processes, on a network, with a clock.
    Row("_pserver.service.__init__"),
    Row(
        "_pserver.service.session",
        f"{SHARD} {WIRE} _pserver.protocol.link _pserver.service.meter",
        "asyncio numpy",
    ),
    Row("_pserver.service.shard_clock", "", "time"),
    Row("_pserver.service.relay", SHARD, "asyncio numpy"),
    Row(
        "_pserver.service.warming",
        f"{SHARD} {WIRE} {EXCHANGE} _pserver.protocol.outlet _pserver.service.shard_clock",
        "asyncio numpy",
    ),
    Row(
        "_pserver.service.hub",
        f"{SHARD} {WIRE} {SIGHT} _pserver.protocol.outlet _pserver.snapshots.recovery "
        "_pserver.service.{relay, session, shard_clock, warming} _pserver.trust.{auth, nearby}",
        "asyncio numpy time",
    ),
    Row("_pserver.service.status", SHARD, "msgspec"),
    Row("_pserver.service.meter", WIRE, "msgspec"),
    Row("_pserver.service.report", f"{SHARD} {SIGHT} _pserver.memory.memory", "msgspec"),
    Row("_pserver.service.metrics", f"{SIGHT} _pserver.trust.auth"),
    Row("_pserver.service.report_page", SIGHT, "html"),
    Row(
        "_pserver.service.application",
        f"{SIGHT} _pserver.options _pserver.protocol.link _pserver.trust.auth "
        "_pserver.service.{door, hub, metrics, report_page}",
        "aiohttp ipaddress msgspec",
    ),
    Row("_pserver.service.door", f"_pserver.trust.{{auth, nearby}} {SIGHT}", "aiohttp ipaddress socket time"),
    Row("_pserver.service.refusals", "_pserver.trust.auth", "time"),
    Row(
        "_pserver.service.conversation",
        "_pserver.service.refusals _pserver.trust.auth",
        "aiohttp asyncio http",
    ),
    Row(
        "_pserver.service.lobby",
        "_pserver.service.refusals _pserver.trust.{auth, tls}",
        "asyncio socket ssl",
    ),
    Row(
        "_pserver.service.process",
        "_pserver.{errors, options, watcher} _pserver.snapshots.recovery _pserver.trust.{auth, tls} "
        "_pserver.service.{application, conversation, hub, lobby, refusals}",
        "aiohttp asyncio resource secrets signal socket",
    ),
    Row(  # the parent of the shards' processes: it stays small and loads no numeric library
        "_pserver.service.{children, ports, service}",
        "_pserver.{errors, options, watcher} _pserver.memory.memory _pserver.trust.{auth, nearby, tls} "
        "_pserver.service.{children, ports, process}",
        STANDARD,
    ),
    # The queue of tasks: a server of its own.
    Row(
        "_pserver.tasks",
        "_pserver.{errors, tasks} _pserver.service.ports _complaint _recordio",
        f"msgspec {STANDARD}",
    ),
    Row(
        "_pserver.tasks.{application, service}",
        "_pserver.tasks _pserver.service.{conversation, ports, refusals} _pserver.trust.auth",
        f"aiohttp msgspec {STANDARD}",
    ),
    Row(
        "_pserver.tasks.handshake",
        "_pserver.tasks.errors _pserver.trust.{auth, token_file}",
        "http os secrets",
    ),
    Row(
        "_pserver.tasks.admitted",
        "_pserver.service.door _pserver.trust.auth _pserver.tasks.{errors, handshake}",
        "aiohttp",
    ),
    Row("_pserver.tasks.queue", "_pserver.tasks.{errors, messages}"),
    # Where processes run.
    Row("_launch", "_launch _visible", STANDARD),
    Row("_launch.agent", "_launch.agent", STANDARD),  # it runs on any node's Python, on nothing else
    Row(FLAGS, f"{FLAGS} _absent _complaint", "os time"),
    Row(SUPERVISOR, SUPERVISOR, "signal"),  # for the names of signals
    Row("_launch.authority", theirs="cryptography ipaddress"),
    Row("_launch.news"),
    Row("_launch.spillway", "", STANDARD),
    Row("_launch.infolog", "_visible _launch.spillway", STANDARD),
    Row(
        "_launch.{job, plan, settings}",
        f"_launch.{{job, machines.places, machines.shards, plan, remote, settings, workspace}} {FLAGS}",
        "msgspec os pathlib",
    ),
    Row("_launch.remote", "_launch.{settings, workspace}", "msgspec pathlib"),
    Row("_launch.machines.fitness", "_launch.{errors, workspace}", "msgspec pathlib"),
    Row("_launch.machines.refusals", "_launch.errors"),
    Row("_launch.machines.known_hosts", "_launch.errors", STANDARD),
    Row("_launch.machines.patience", "", STANDARD),
    Row("_launch.machines.opening", "_launch.errors _launch.machines.patience", STANDARD),
    Row("_launch.turn", "", STANDARD),
    Row(
        "_launch.machines.{host_keys, transport, ways}",
        "_launch.{errors, settings} _launch.machines.{known_hosts, opening, patience, refusals, ways}",
        f"fabric paramiko {STANDARD}",
    ),
    Row("_launch.ignored", "_launch.errors", "pathlib pathspec"),
    Row("_launch.machines.places", "_launch.errors"),
    Row("_launch.machines.shards", "_launch.workspace"),
    Row("_launch.sending", "_launch.news", "rich"),
    Row("_launch.backends.{crew, node}", "_launch", STANDARD),
    Row("_launch.board", "_launch.{news, plan, sending}"),
    Row("_launch.bulletins", "_launch.news", "msgspec"),
    Row("_launch.status", "_launch.{board, bulletins, news}", "rich time"),
    Row("_launch.logs", "_launch.{errors, news, plan}", f"matplotlib {STANDARD}"),
    Row("_launch.jobs", f"_launch.jobs _launch.agent.processes {BULLETINS} _visible", f"msgspec {STANDARD}"),
    Row("_launch.jobs.register", f"_launch.jobs _launch.settings {FLAGS} {BULLETINS}", f"msgspec {STANDARD}"),
    Row("_launch.jobs.shared", BULLETINS),
    Row("_launch.jobs.background", "_launch.{errors, news, signals}", STANDARD),
    Row("_launch.jobs.explanation", "_launch.{launch, news, plan} _visible", "pathlib"),
    Row("_launch.jobs.resumption", f"_launch.jobs.index _launch.plan {FLAGS}", "pathlib"),
    Row("_launch.jobs.watching", f"_launch.jobs {BULLETINS}", f"rich {STANDARD}"),
    Row("_launch.jobs.collecting", f"{BULLETINS} _launch.backends _launch.phases", STANDARD),
    Row("_launch.jobs.commands", f"_launch.jobs _launch.backends {FLAGS}", STANDARD),
    Row("_launch.backends.local", "_launch", f"invoke {STANDARD}"),
    # What is done with nodes between jobs.
    Row("_launch.nodes.{__init__, findings}", "_visible"),
    Row("_launch.nodes.together", "_launch.errors", STANDARD),
    Row(
        "_launch.nodes.trusting",
        "_launch.{errors, settings} _launch.nodes.together "
        "_launch.machines.{host_keys, known_hosts, refusals}",
        "pathlib",
    ),
    Row("_launch.nodes.survey", "_launch.errors _launch.machines.fitness", "msgspec pathlib"),
    Row(
        "_launch.nodes.diagnosis",
        "_launch.machines.{fitness, transport} _launch.nodes.{findings, survey}",
        "pathlib",
    ),
    Row(
        "_launch.nodes.place",
        "_launch.{agent.survey, errors, settings} _launch.machines.{parcel, refusals, transport}",
        STANDARD,
    ),
    Row(
        "_launch.nodes.checking",
        "_launch.{errors, job, plan, remote, settings, workspace} _launch.machines _launch.nodes",
        STANDARD,
    ),
    Row(
        "_launch.nodes.commands",
        f"{FLAGS} _launch.{{settings, jobs.index, machines.known_hosts, nodes}} _visible",
        STANDARD,
    ),
)
