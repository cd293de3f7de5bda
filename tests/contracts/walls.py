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
WIRE = "_pserver.{errors, framing, messages, options, placement, wire}"
# The shard's parts: state machines, driven by whoever has a clock and a network.
MACHINES = """_pserver.{
    admission, arrival, barrier, beginning, changes, clocks, declaration, demand, deposit, effects, ending,
    finite, modes, outbox, resuming, roster, row_listing, saving, shard, sparing, training, watch, watcher
}"""
SHARD = f"""{MACHINES} _pserver.{{
    decoding, gradient, inlet, model, open_places, packed_table, state, tables
}}"""
SIGHT = "_pserver.{meter, report, status}"
# A trainer's end of a session.
TRAINERS_END = """_pserver.{
    account, approach, client, courier, delivery, farewell, flight, given, gradient_room, greeting, journal,
    last_words, line, link, question, remote, remote_shards, sieve
}"""
# How both prove to have the job's token.
TOKENS = "_pserver.{auth, handshake, tls, tls_socket, token_file}"
# Flags and who reads them: light enough for every program that asks for its settings.
FLAGS = "_launch.{arguments, dialects, environ, errors, flags, manual, report}"
# A launch as data, and who decides by it.
SUPERVISOR = "_launch.{actions, cause, events, phases, supervisor}"

TABLE = (
    # The top.
    Row("__init__", "_absent batch", "importlib"),
    Row(
        "__main__",
        f"__init__ {FLAGS} _visible _launch.{{infolog, nics}} "
        "_offline _online _pserver.{auth, errors, options, service, tls, token_file} "
        "_pserver.tasks.{errors, queue, service}",
        STANDARD,
    ),
    Row(
        "_offline",
        "_visible _launch.{arguments, errors, flags, manual} _pserver.{errors, offline}",
        "pathlib shlex sys",
    ),
    Row(
        "_online",
        "_visible _launch.{arguments, environ, flags, manual} _pserver.{consistent_cut, errors}",
        "os sys",
    ),
    Row("_absent", "_complaint", "sys"),
    Row("_complaint", "", STANDARD),
    Row("_visible"),
    # The faces.
    Row(
        "v2",
        "v2 _absent _complaint _engine batch dataset reader "
        "_launch.{environ, infolog} _pserver.{local, remote}",
        "msgspec numpy sys",
    ),
    Row("v2.__init__", "_absent v2._flags", "importlib"),
    Row("v2._flags", "_complaint _launch.{environ, infolog}", "os sys"),
    Row("v2.master", "_pserver.tasks.{client, errors, handshake}", "os"),
    Row("v2.parameters", "v2 _absent _engine.checkpoint", "numpy tarfile"),
    Row("v2.plot", "", "importlib matplotlib os"),
    Row(
        "v2.trainer",
        "v2 _absent _engine _pserver.{local, remote, trainer_modes, wire} _launch.environ",
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
    Row("_engine.checkpoint", "_engine.{checkpoint, protobuf}", "numpy tarfile"),
    Row("_engine.kernels", "_engine.kernels", "numpy"),
    Row("_engine.kernels.kernel", theirs="numba pathlib threading"),
    Row("_engine.kernels.prefetch", theirs="llvmlite numba"),
    Row(EXCHANGE, f"{EXCHANGE} _engine.kernels", "numpy"),
    # Where parameters live.
    Row("_pserver.__init__"),
    Row(MACHINES, f"{SHARD} {WIRE} {EXCHANGE} _visible", "numpy"),
    Row("_pserver.gradient", theirs="numpy"),
    Row("_pserver.slots", EXCHANGE, "numpy"),
    Row(
        "_pserver.tables",
        "_pserver.{gradient, hash_table, packed_table, shown, slots, sparse_table, table_room} "
        f"{WIRE} {EXCHANGE}",
        "numpy",
    ),
    Row("_pserver.table_room", "_pserver.errors"),
    Row(
        "_pserver.packed_table",
        f"_pserver.{{gradient, slots}} {WIRE} {EXCHANGE} _engine.kernels.rows",
        "numpy",
    ),
    Row("_pserver.sparse_table", "_pserver.{gradient, placement}", "numpy"),
    Row(
        "_pserver.decoding",
        f"_pserver.{{gradient, tables}} {WIRE} _engine.exchange _engine.kernels.{{halves, largest}}",
        "numpy",
    ),
    Row("_pserver.pages", theirs="gc mmap numpy"),
    Row("_pserver.hash_index", "_pserver.{errors, pages} _engine.kernels.{cells, growing, hashing}", "numpy"),
    Row(
        "_pserver.hash_table",
        f"_pserver.{{errors, gradient, hash_index, pages, placement, slots, table_room}} {EXCHANGE} "
        "_engine.kernels.interleaved",
        "numpy",
    ),
    Row("_pserver.errors", "_engine.errors _complaint"),
    Row("_pserver.{framing, placement}", "_pserver.errors _engine.exchange", "numpy xxhash"),
    Row("_pserver.messages", "_pserver.{errors, options, wire} _engine.exchange", "msgspec"),
    Row("_pserver.wire", "_engine.exchange"),
    Row("_pserver.options"),
    Row("_pserver.ahead", theirs="threading"),  # a lock
    Row("_pserver.landing"),
    # What a shard remembers, and where.
    Row("_pserver.state", "_pserver.{clocks, messages, model, roster}", "msgspec numpy"),
    Row("_pserver.snapshot_file", "_pserver.state", "base64 msgspec numpy safetensors"),
    Row(
        "_pserver.{archive, snapshot}",
        "_pserver.{archive, snapshot_file, errors, state, storage}",
        "msgspec xxhash",
    ),
    Row("_pserver.recovery", f"{SHARD} {WIRE} _pserver.{{snapshot, storage}}", "pathlib time"),
    Row("_pserver.gathering", f"{WIRE} _pserver.{{archive, snapshot_file, storage}}", "msgspec pathlib"),
    Row(
        "_pserver.resharding",
        f"{WIRE} {EXCHANGE} _pserver.{{snapshot_file, gathering, state}}",
        "msgspec numpy",
    ),
    Row(
        "_pserver.exporting",
        f"{WIRE} {EXCHANGE} _engine.checkpoint "
        "_pserver.{gathering, packed_table, resharding, snapshot_file}",
        "numpy",
    ),
    Row(
        "_pserver.offline",
        f"{WIRE} _engine.checkpoint _pserver.{{exporting, gathering, resharding, snapshot, storage}}",
        "pathlib shutil tempfile",
    ),
    Row("_pserver.storage", "_pserver.errors", "fcntl mmap os pathlib"),
    Row("_pserver.local", f"{SHARD} {WIRE} {EXCHANGE} _pserver.given", "numpy"),
    Row("_pserver.merging", EXCHANGE, "numpy"),
    Row("_pserver.local_updates", f"{EXCHANGE} _pserver.known_rows", "numpy"),
    Row("_pserver.known_rows", "_pserver.{hash_index, pages}", "numpy"),
    Row("_pserver.open_places", "_pserver.hash_index", "numpy"),
    Row("_pserver.trainer_modes", "_engine.exchange _pserver.{local, local_updates, merging}"),
    Row(
        TRAINERS_END,
        f"{TRAINERS_END} {TOKENS} {WIRE} {EXCHANGE} _visible "
        "_pserver.{ahead, encoding, landing, nearby, region, rounded, shown}",
        "msgspec numpy os secrets select socket ssl sys threading time",
    ),
    Row(
        "_pserver.consistent_cut",
        "_pserver.{client, errors, messages, options, tls, token_file}",
        "time",
    ),
    Row("_pserver.outlet", f"{WIRE} _engine.kernels.halves", "numpy"),
    Row("_pserver.rounded", "_pserver.{framing, landing} _engine.kernels.halves", "numpy"),
    Row("_pserver.encoding", f"{WIRE} {EXCHANGE} _engine.kernels.{{halves, largest}}", "numpy"),
    Row("_pserver.session", f"{SHARD} {WIRE} _pserver.{{link, meter}}", "asyncio numpy"),
    Row("_pserver.warming", f"{SHARD} {WIRE} {EXCHANGE}", "asyncio numpy"),
    Row(
        "_pserver.hub",
        f"{SHARD} {WIRE} {SIGHT} _pserver.{{auth, loan, nearby, outlet, recovery, session, warming}}",
        "asyncio numpy time",
    ),
    # Memory that both sides see.
    Row("_pserver.region", "_pserver.{memory, messages}", "fcntl mmap numpy os pathlib"),
    Row("_pserver.shown", "_pserver.{errors, framing, messages, region}", "numpy"),
    Row("_pserver.loan", f"{WIRE} _pserver.{{region, tables}}", "numpy os"),
    Row("_pserver.inlet", f"{SHARD} {WIRE} _pserver.loan", "numpy"),
    Row("_pserver.model", f"{SHARD} {WIRE} {EXCHANGE} _pserver.shown", "numpy"),
    # What can be seen of a shard.
    Row("_pserver.status", SHARD, "msgspec"),
    Row("_pserver.meter", WIRE, "msgspec"),
    Row("_pserver.report", f"{SHARD} {SIGHT} _pserver.memory", "msgspec"),
    Row("_pserver.metrics", f"{SIGHT} _pserver.auth"),
    Row("_pserver.report_page", SIGHT, "html"),
    Row(
        "_pserver.application",
        f"_pserver.{{auth, door, hub, link, metrics, options, report_page}} {SIGHT}",
        "aiohttp ipaddress msgspec",
    ),
    # Who may come in. The gate is a state machine: time and chance are given to it.
    Row("_pserver.auth", theirs="base64 binascii hmac ipaddress"),
    Row("_pserver.token_file", "_pserver.{auth, errors}", "os pathlib"),
    Row("_pserver.door", f"_pserver.{{auth, nearby}} {SIGHT}", "aiohttp ipaddress socket time"),
    Row("_pserver.nearby", "_pserver.auth", "os socket"),
    Row("_pserver.handshake", "_pserver.{auth, errors, link, nearby, tls_socket}", "secrets socket time"),
    Row("_pserver.tls", "_pserver.errors", "pathlib ssl"),
    Row("_pserver.tls_socket", "_pserver.{errors, tls}", "select socket ssl threading time"),
    Row("_pserver.refusals", "_pserver.auth", "time"),
    Row("_pserver.conversation", "_pserver.{auth, refusals}", "aiohttp asyncio http"),
    Row("_pserver.lobby", "_pserver.{auth, refusals, tls}", "asyncio socket ssl"),
    Row(
        "_pserver.process",
        "_pserver.{application, auth, conversation, errors, hub, lobby, options, recovery, refusals}"
        " _pserver.{tls, watcher}",
        "aiohttp asyncio resource secrets signal socket",
    ),
    Row(  # the parent of the shards' processes: it stays small and loads no numeric library
        "_pserver.{children, memory, ports, service}",
        "_pserver.{auth, children, errors, memory, nearby, options, ports, process, tls, watcher}",
        STANDARD,
    ),
    # The queue of tasks: a server of its own.
    Row("_pserver.tasks", "_pserver.{errors, ports, tasks} _complaint _recordio", f"msgspec {STANDARD}"),
    Row(
        "_pserver.tasks.{application, service}",
        "_pserver.{auth, conversation, ports, refusals, tasks}",
        f"aiohttp msgspec {STANDARD}",
    ),
    Row("_pserver.tasks.handshake", "_pserver.tasks.errors _pserver.{auth, token_file}", "http os secrets"),
    Row("_pserver.tasks.admitted", "_pserver.{auth, door} _pserver.tasks.{errors, handshake}", "aiohttp"),
    Row("_pserver.tasks.queue", "_pserver.tasks.{errors, messages}"),
    # Where processes run.
    Row("_launch", "_launch _visible", STANDARD),
    Row("_launch.agent", "_launch.agent", STANDARD),  # it runs on any node's Python, on nothing else
    Row(FLAGS, f"{FLAGS} _absent _complaint", "os time"),
    Row(SUPERVISOR, SUPERVISOR, "signal"),  # for the names of signals
    Row("_launch.authority", theirs="cryptography ipaddress"),
    Row("_launch.news", theirs="pathlib"),
    Row("_launch.spillway", "", STANDARD),
    Row("_launch.infolog", "_visible _launch.spillway", STANDARD),
    Row(
        "_launch.{job, plan, settings}",
        f"_launch.{{job, plan, settings, workspace}} {FLAGS}",
        "msgspec os pathlib",
    ),
    Row("_launch.status", "_launch.news", "rich"),
    Row("_launch.logs", "_launch.news", f"matplotlib {STANDARD}"),
    Row("_launch.backends.local", "_launch", f"invoke {STANDARD}"),
)
