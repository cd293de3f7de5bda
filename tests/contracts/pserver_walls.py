"""Who may know whom in the parameter server: its part of the table in walls.py, whose text says how to read
it."""

from __future__ import annotations

from .wall import STANDARD, Row

# What engine and parameter server both speak of: gradients and rules, never a program.
UPDATES = "_engine.{averages, exchange, entry, penalties, rates, row_initial, rows, rules, schedules}"
EXCHANGE = f"{UPDATES} _engine.{{arena, errors, memory}}"
# What trainers and pservers both speak of.
WIRE = (
    "_pserver.{errors, options} _pserver.protocol.{announcing, framing, messages, placement, portion, wire}"
)
# A shard: its parts are state machines, driven by whoever has a clock and a network.
SHARD = (
    "_pserver.watcher _pserver.shard _pserver.tables.{gradient, open_places, packed_table, streamed, tables}"
)
SIGHT = "_pserver.service.{meter, report, status}"
# How both prove to have the job's token.
TOKENS = "_pserver.trust.{auth, handshake, tls, tls_socket, token_file}"

PSERVER = (
    # Where parameters live, from the ground up.
    Row("_pserver.__init__"),
    Row("_pserver.errors", "_engine.errors _complaint"),
    Row("_pserver.{options, watcher}"),
    # What trainers and shards say to each other.
    Row("_pserver.protocol.{__init__, landing, portion}"),
    Row("_pserver.protocol.paths", "_pserver.options"),
    Row("_pserver.protocol.announcing", theirs="msgspec"),
    Row("_pserver.protocol.ahead", theirs="threading"),  # a lock
    Row("_pserver.protocol.link", theirs="errno os select socket"),
    Row("_pserver.protocol.vigil", theirs="time"),
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
    Row("_pserver.trust.nearby", "_pserver.trust.auth", "os pathlib socket"),
    Row("_pserver.trust.tls", "_pserver.errors", "pathlib ssl"),
    Row(
        "_pserver.trust.tls_socket",
        "_pserver.errors _pserver.trust.tls",
        "select socket ssl threading time",
    ),
    Row(
        "_pserver.trust.handshake",
        "_pserver.errors _pserver.protocol.paths _pserver.trust.{auth, nearby, tls_socket}",
        "secrets socket time",
    ),
    # Memory, some of which both sides see.
    Row("_pserver.memory.{__init__, memory}", theirs="os pathlib"),
    Row("_pserver.memory.claims"),
    Row("_pserver.memory.pages", theirs="gc mmap numpy"),
    Row(
        "_pserver.memory.region",
        "_pserver.memory.memory _pserver.protocol.messages",
        "fcntl mmap numpy os pathlib",
    ),
    Row("_pserver.memory.shown", f"{WIRE} _pserver.memory.region", "numpy"),
    Row("_pserver.memory.gradient_room", f"{EXCHANGE} _pserver.memory.region", "numpy"),
    # Values, and the state of their rules.
    Row("_pserver.tables.{__init__, gradient, parts}", theirs="numpy"),
    Row("_pserver.tables.readers"),
    Row("_pserver.tables.slots", f"{EXCHANGE} _pserver.tables.streamed", "numpy"),
    Row(
        "_pserver.tables.blocks",
        f"{EXCHANGE} _pserver.protocol.placement _pserver.tables.{{gradient, slots}}",
        "numpy",
    ),
    Row("_pserver.tables.table_room", "_pserver.{errors, options}"),
    Row("_pserver.tables.streamed", theirs="numpy"),
    Row("_pserver.tables.scratch", "_engine.memory", "numpy"),
    Row(
        "_pserver.tables.summed_rows",
        "_engine.kernels.interleaved _pserver.tables.{gradient, scratch}",
        "numpy",
    ),
    Row("_pserver.tables.asked_rows", "_pserver.tables.{gradient, summed_rows}", "numpy"),
    Row("_pserver.tables.cut_room"),
    Row("_pserver.tables.frozen", "_pserver.memory.pages _pserver.tables.{cut_room, streamed}", "numpy"),
    Row("_pserver.tables.live", "_pserver.tables.{cut_room, frozen, readers, streamed}", "numpy"),
    Row("_pserver.tables.frozen_table", "_pserver.tables.{cut_room, frozen, hash_index, streamed}", "numpy"),
    Row(
        "_pserver.tables.sparse_table",
        "_pserver.protocol.placement _pserver.tables.{cut_room, gradient, streamed}",
        "numpy",
    ),
    Row(
        "_pserver.tables.packed_table",
        f"{WIRE} {EXCHANGE} _pserver.tables.{{cut_room, frozen, gradient, live, readers, scratch, slots}} "
        "_pserver.tables.{streamed, summed_rows}",
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
        "_pserver.memory.pages _pserver.tables.{asked_rows, cut_room} "
        "_pserver.tables.{frozen_table, gradient, hash_index, parts, readers, slots, streamed} "
        "_pserver.tables.{table_room, table_state}",
        "numpy",
    ),
    Row("_pserver.tables.table_state", "_pserver.protocol.placement _pserver.tables.streamed", "numpy"),
    Row(
        "_pserver.tables.{known_rows, open_places}",
        "_pserver.memory.pages _pserver.tables.hash_index",
        "numpy",
    ),
    Row(
        "_pserver.tables.tables",
        f"{WIRE} {EXCHANGE} _pserver.memory.shown "
        "_pserver.tables.{blocks, cut_room, frozen, gradient, hash_table, live, packed_table, slots} "
        "_pserver.tables.{scratch, sparse_table, streamed, table_room}",
        "numpy",
    ),
    # One part of the parameters.
    Row("_pserver.shard", f"{SHARD} {WIRE} {EXCHANGE} _visible", "msgspec numpy"),
    Row("_pserver.shard.model", f"{SHARD} {WIRE} {EXCHANGE} _pserver.memory.shown", "numpy"),
    Row("_pserver.shard.decoding", f"{SHARD} {WIRE} {EXCHANGE} _engine.kernels.{{halves, largest}}", "numpy"),
    Row("_pserver.shard.loan", f"{WIRE} _pserver.memory.region _pserver.tables.tables", "numpy os"),
    Row("_pserver.shard.changes", f"{SHARD} {WIRE} {EXCHANGE} _pserver.memory.pages", "numpy"),
    Row("_pserver.shard.state", f"{SHARD} {WIRE} _pserver.tables.cut_room", "msgspec"),
    # States on disk.
    Row("_pserver.snapshots.__init__"),
    Row(
        "_pserver.snapshots.snapshot_file",
        "_pserver.protocol.messages _pserver.shard.state _pserver.snapshots.storage _pserver.tables.streamed",
        "base64 msgspec numpy",
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
        "_pserver.snapshots.{exporting, gathering, resharding, snapshot, soundness, storage}",
        "pathlib shutil tempfile",
    ),
    Row(
        "_pserver.snapshots.soundness",
        f"{EXCHANGE} _pserver.errors _pserver.shard.declaration _pserver.snapshots.gathering",
        "numpy",
    ),
    # A trainer's end.
    Row(
        "_pserver.trainer",
        f"_pserver.trainer {TOKENS} {WIRE} {EXCHANGE} _streams _visible _pserver.trust.nearby "
        "_pserver.memory.{gradient_room, shown} "
        "_pserver.protocol.{ahead, encoding, landing, link, paths, rounded, vigil}",
        "msgspec numpy os secrets socket ssl threading time",
    ),
    Row("_pserver.trainer.meeting", "_pserver.{errors, trainer.deadline, trainer.line}", "queue threading"),
    Row("_pserver.trainer.local", f"{SHARD} {WIRE} {EXCHANGE} _pserver.trainer.given", "numpy"),
    Row("_pserver.trainer.merging", EXCHANGE, "numpy"),
    Row("_pserver.trainer.places", "_engine.errors _pserver.protocol.paths"),
    Row("_pserver.trainer.center", "_engine.{exchange, rows}"),
    Row(
        "_pserver.trainer.local_updates",
        f"{EXCHANGE} _engine.kernels.drifts _pserver.tables.known_rows _pserver.trainer.center",
        "numpy",
    ),
    Row(
        "_pserver.trainer.trainer_modes",
        "_engine.exchange _pserver.trainer.{center, local, local_updates, merging}",
    ),
    Row(
        "_pserver.trainer.consistent_cut",
        f"{WIRE} _pserver.trainer.{{client, deadline, places}} _pserver.trust.{{tls, token_file}}",
        "time",
    ),
    Row(
        "_pserver.trainer.fallen",
        f"{WIRE} _pserver.trainer.{{client, deadline, places}} _pserver.trust.{{tls, token_file}}",
        "threading",
    ),
    Row(
        "_pserver.trainer.watching",
        f"{WIRE} _pserver.protocol.link _pserver.trainer.{{approach, deadline, places}} "
        "_pserver.trust.{tls, token_file}",
    ),
    # Shards as processes, on a network, with a clock.
    Row("_pserver.service.__init__"),
    Row(
        "_pserver.service.session",
        f"{SHARD} {WIRE} _pserver.protocol.link _pserver.service.meter",
        "asyncio numpy",
    ),
    Row("_pserver.service.shard_clock", "", "time"),
    Row("_pserver.service.wakeful_selector", "_pserver.protocol.vigil", "selectors"),
    Row("_pserver.service.relay", SHARD, "asyncio numpy time"),
    Row(
        "_pserver.service.standstill",
        f"{SHARD} {WIRE} _pserver.service.session _pserver.tables.cut_room",
        "time",
    ),
    Row(
        "_pserver.service.warming",
        f"{SHARD} {WIRE} {EXCHANGE} _pserver.protocol.outlet _pserver.service.shard_clock",
        "asyncio numpy",
    ),
    Row(
        "_pserver.service.hub",
        f"{SHARD} {WIRE} {SIGHT} _pserver.protocol.outlet _pserver.snapshots.recovery "
        "_pserver.service.{ear, relay, session, shard_clock, standstill, warming} "
        "_pserver.trust.{auth, nearby}",
        "asyncio numpy time",
    ),
    Row("_pserver.service.status", SHARD, "msgspec"),
    Row("_pserver.service.ear", theirs="asyncio msgspec os"),
    Row("_pserver.service.meter", WIRE, "msgspec"),
    Row("_pserver.service.report", f"{SHARD} {SIGHT} _pserver.memory.memory", "msgspec"),
    Row("_pserver.service.metrics", f"{SIGHT} _pserver.trust.auth"),
    Row("_pserver.service.report_page", SIGHT, "html"),
    Row(
        "_pserver.service.application",
        f"{SIGHT} _pserver.options _pserver.protocol.paths _pserver.trust.auth "
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
        "_pserver.service.reception",
        "_pserver.trust.tls _pserver.service.{conversation, lobby, refusals}",
        "aiohttp socket",
    ),
    Row(
        "_pserver.service.process",
        "_pserver.{errors, options, watcher} _pserver.trust.{auth, tls} "
        "_pserver.service.{application, ear, foundation, hub}",
        "asyncio os signal socket",
    ),
    Row(
        "_pserver.service.foundation",
        "_pserver.{options, watcher} _pserver.snapshots.recovery _pserver.trust.{auth, tls} "
        "_pserver.service.{descriptors, hub, reception, wakeful_selector}",
        "aiohttp asyncio secrets socket",
    ),
    Row("_pserver.service.descriptors", theirs="resource"),
    Row(
        "_pserver.service.endpoint",
        "_pserver.{errors, options, watcher} _visible _pserver.memory.claims "
        "_pserver.protocol.{messages, paths} "
        "_pserver.service.{application, ear, foundation, hub, orders, ports} "
        "_pserver.shard.{ending, roster} _pserver.trust.{auth, nearby, tls}",
        "asyncio pathlib secrets signal socket threading",
    ),
    Row(  # the parent of the shards' processes: it stays small and loads no numeric library
        "_pserver.service.{children, orders, ports, service}",
        "_pserver.{errors, options, watcher} _pserver.memory.memory _pserver.trust.{auth, nearby, tls} "
        "_pserver.service.{children, orders, ports, process}",
        STANDARD,
    ),
    # Where processes of a job meet.
    Row("_pserver.parley.{__init__, messages}", theirs="msgspec"),
    Row("_pserver.parley.{errors, rounds}", "_pserver.errors _pserver.parley.{errors, messages}"),
    Row(
        "_pserver.parley.host",
        "_pserver.errors _pserver.parley _pserver.service.{ear, ports} _pserver.tasks.{admitted, handshake} "
        "_pserver.trust.auth",
        "aiohttp asyncio msgspec os secrets socket threading time",
    ),
    Row("_pserver.parley.line", "_pserver.parley _pserver.tasks.{errors, handshake}", "http msgspec"),
    Row("_pserver.parley.speaker", "_pserver.parley", "http msgspec threading time"),
    Row("_pserver.parley.presence", "_pserver.parley", "http threading"),
    # The queue of tasks: a server of its own.
    Row(
        "_pserver.tasks",
        "_pserver.{errors, tasks} _complaint _recordio",
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
)
