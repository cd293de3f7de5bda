"""Who may know whom in the launcher: its part of the table in walls.py, whose text says how to read it."""

from __future__ import annotations

from .wall import STANDARD, Row

# Flags and who reads them: light enough for every program that asks for its settings.
FLAGS = "_launch.{arguments, dialects, environ, errors, flag, flags, fleet.table, manual, report}"
# A launch as data, and who decides by it.
SUPERVISOR = "_launch.{actions, again, cause, events, phases, supervisor}"

# What a launch tells, and who it tells it to.
BULLETINS = "_launch.{agent.lines, board, bulletins, errors, events, news, plan, results, screens}"

LAUNCH = (
    # Where processes run.
    Row("_launch", "_launch _visible", STANDARD),
    Row("_launch.agent", "_launch.agent", STANDARD),  # it runs on any node's Python, on nothing else
    Row(FLAGS, f"{FLAGS} _absent _blas _complaint", "atexit os time"),
    Row(SUPERVISOR, SUPERVISOR, "signal"),  # for the names of signals
    Row("_launch.authority", theirs="cryptography ipaddress"),
    Row("_launch.news"),
    Row("_launch.spillway", "", STANDARD),
    Row("_launch.short_file", theirs="errno os select pathlib"),
    Row("_launch.signals", "_insistence", STANDARD),
    Row("_launch.machines.awake"),
    Row("_launch.fleet.call", FLAGS),
    Row("_launch.fleet.older", "", "argparse"),
    Row("_launch.fleet.ports", "_launch.errors", "contextlib socket"),
    Row("_launch.fleet.cluster", "_launch.{errors, fleet.call, fleet.ports}", "contextlib socket"),
    Row("_launch.fleet.roles", f"_launch.fleet _launch.{{parts.planning, plan}} {FLAGS}", "pathlib"),
    Row(
        "_launch.fleet.gathering",
        "_launch.{errors, fleet.call, fleet.cluster, fleet.ports, parts.speech, plan}",
        "contextlib ipaddress secrets select socket time",
    ),
    Row("_launch.parts.speech", "", "contextlib hashlib hmac socket"),
    Row("_launch.parts.planning", "_launch.{plan, settings}", "pathlib"),
    Row("_launch.parts.premises", "_launch.{errors, plan}", "fcntl os pathlib shutil tempfile"),
    Row("_launch.parts.attending", "_launch.{errors, screens.stream, signals}", "sys"),
    Row("_launch.parts.ending", "_launch.{cause, parts.running, plan}"),
    Row(
        "_launch.parts.running",
        f"{SUPERVISOR} _launch.{{machines.awake, backends, inbox, logs, news, plan, signals}}",
        "contextlib queue signal time",
    ),
    Row("_launch.fleet.heralding", "_launch.fleet.cluster _launch.plan", STANDARD),
    Row(
        "_launch.fleet.cli",
        f"_launch.fleet _launch.{{backends, parts, phases, plan, settings, short_file}} {FLAGS} "
        "_insistence _streams _visible",
        STANDARD,
    ),
    Row("_launch.ranks.place", "_launch.errors", "hashlib hmac"),
    Row("_launch.ranks.machines", "_launch.{errors, short_file}", "pathlib"),
    Row(
        "_launch.ranks.rally",
        "_launch.{errors, parts.speech, ranks.machines, ranks.place}",
        "contextlib secrets socket time",
    ),
    Row("_launch.ranks.roles", "_launch.{environ, parts.planning, plan}", "pathlib"),
    Row(
        "_launch.ranks.cli",
        "_launch.{arguments, backends, cause, errors, flags, manual, parts, phases, plan, ranks, "
        "settings, signals} _streams _visible",
        STANDARD,
    ),
    Row("_launch.infolog", "_visible _launch.spillway", STANDARD),
    Row(
        "_launch.{job, plan, settings}",
        f"_launch.{{job, kubernetes.names, kubernetes.pods, machines.places, machines.shards, remote, "
        f"settings, short_file, workspace}} {FLAGS}",
        "msgspec os pathlib",
    ),
    Row("_launch.kubernetes.names", "", "secrets"),
    Row("_launch.kubernetes.quantities"),
    Row("_launch.kubernetes.pods", f"_launch.{{kubernetes.quantities, settings}} {FLAGS}", "msgspec pathlib"),
    Row("_launch.kubernetes.package", "_launch.{errors, machines.shards, workspace}", "gzip pathlib tarfile"),
    Row("_launch.kubernetes.containers", "_launch.{kubernetes.names, kubernetes.pods, plan}"),
    Row(
        "_launch.kubernetes.manifests",
        "_launch.kubernetes.{containers, names, package, pods} _launch.plan",
        "base64 yaml",
    ),
    Row(
        "_launch.kubernetes.whole",
        "_launch.kubernetes.{containers, manifests, names, package} _launch.{authority, plan}",
        "secrets",
    ),
    Row(
        "_launch.kubernetes.kubectl",
        "_launch.{agent.role, errors} _visible",
        "os shlex signal subprocess",
    ),
    Row(
        "_launch.kubernetes.whereabouts",
        "_launch.kubernetes.kubectl _launch.{errors, plan}",
        "msgspec pathlib",
    ),
    Row("_launch.kubernetes.advice"),
    Row("_launch.kubernetes.watching", "_launch.{kubernetes.names, plan}"),
    Row("_launch.kubernetes.parting", "_launch.kubernetes.watching"),
    Row("_launch.kubernetes.waits", "_launch.kubernetes.{advice, watching}"),
    Row(
        "_launch.kubernetes.following",
        "_launch.{errors, kubernetes.heard, kubernetes.kubectl, machines.spool}",
        "subprocess threading",
    ),
    Row("_launch.kubernetes.heard"),
    Row(
        "_launch.kubernetes.line",
        "_launch.{errors, kubernetes.kubectl}",
        "select subprocess tempfile",
    ),
    Row("_launch.kubernetes.removal", "_launch.{errors, kubernetes.kubectl, kubernetes.names, plan}", "time"),
    Row(
        "_launch.kubernetes.sweeping",
        "_launch.{errors, kubernetes.kubectl, kubernetes.removal, plan}",
        "os pathlib subprocess sys",
    ),
    Row(
        "_launch.kubernetes.after",
        "_launch.kubernetes.{inside.telling, kubectl, names, removal, watching} _launch.{errors, plan}",
    ),
    Row("_launch.backends.{pod, pods}", "_launch _visible", STANDARD),
    Row("_launch.kubernetes.inside.place", "_launch.errors", "pathlib"),
    Row("_launch.kubernetes.inside.kernels", "", "pathlib shutil"),
    Row(
        "_launch.kubernetes.inside.premises",
        f"_launch.{{job, kubernetes.package, plan, settings}} {FLAGS}",
        "msgspec pathlib sys",
    ),
    Row(
        "_launch.kubernetes.inside.hearing",
        "_launch.{actions, kubernetes.names}",
        "msgspec pathlib threading",
    ),
    Row(
        "_launch.kubernetes.inside.telling",
        "_launch.{backends.leash, backends.local, kubernetes.names, machines.spool, plan, turn}",
        "sys",
    ),
    Row(
        "_launch.kubernetes.inside.cli",
        "_launch.{backends, events, kubernetes.inside, kubernetes.names, parts, phases, plan, signals, turn} "
        f"{FLAGS} _streams _visible",
        STANDARD,
    ),
    Row("_launch.remote", "_launch.{settings, workspace}", "msgspec pathlib"),
    Row(
        "_launch.dispatch",
        "_launch.{agent.manifest, delta, digests, errors, workspace} "
        "_launch.machines.{reader, said, shards} _visible",
        "msgspec pathlib threading",
    ),
    Row("_launch.machines.spool"),
    Row("_launch.machines.said", "_launch.errors _visible", "msgspec"),
    Row(
        "_launch.machines.reader",
        "_launch.{agent.answers, errors} _launch.machines.{refusals, spool} _visible",
        "time",
    ),
    Row("_launch.machines.conversation", "_launch.errors _launch.machines.{parcel, reader, refusals, said}"),
    Row("_launch.machines.here", "_launch.errors _launch.machines.refusals", STANDARD),
    Row("_launch.machines.fitness", "_launch.{errors, machines.said, workspace}", "msgspec pathlib"),
    Row("_launch.machines.refusals", "_launch.errors _launch.machines.known_hosts", "pathlib"),
    Row("_launch.machines.known_hosts", "_launch.errors", STANDARD),
    Row(
        "_launch.machines.crowd",
        "_launch.{agent.halves, errors, machines.patience, machines.refusals}",
        STANDARD,
    ),
    Row("_launch.machines.patience", "", STANDARD),
    Row("_launch.machines.opening", "_launch.errors _launch.machines.patience", STANDARD),
    Row("_launch.{inbox, turn}", "", STANDARD),
    Row(
        "_launch.machines.{host_keys, transport, ways}",
        "_launch.{errors, settings} "
        "_launch.machines.{identities, known_hosts, opening, patience, refusals, ways}",
        f"fabric paramiko {STANDARD}",
    ),
    Row("_launch.machines.way", "_launch.settings _launch.machines.opening"),
    Row(
        "_launch.machines.bridged",
        "_launch.{agent.bridge, errors} _launch.machines.{patience, refusals}",
        STANDARD,
    ),
    Row(
        "_launch.machines.mpi",
        "_launch.{agent.__init__, agent.bridge, agent.role, authority, errors, settings} "
        "_launch.machines.{bridged, opening, patience}",
        STANDARD,
    ),
    Row("_launch.machines.identities", "", f"paramiko {STANDARD}"),
    Row("_launch.ignored", "_launch.errors", "pathlib pathspec"),
    Row("_launch.machines.places", "_launch.errors"),
    Row("_launch.machines.shards", "_launch.workspace"),
    Row("_launch.screens.sizes"),
    Row("_launch.nodes.question", "_streams", "sys"),
    Row("_launch.sending", "_launch.{news, screens.sizes}", "rich"),
    Row("_launch.backends.{crew, node}", "_launch", STANDARD),
    Row("_launch.board", "_launch.{news, plan, sending}"),
    Row("_launch.bulletins", "_launch.news", "msgspec"),
    Row("_launch.screens", f"{BULLETINS} _visible", f"rich {STANDARD}"),
    Row("_launch.logs", "_launch.errors _launch.results", STANDARD),
    Row("_launch.results", "_launch.{news, plan, results}", f"matplotlib {STANDARD}"),
    Row("_launch.jobs.home", "_launch.errors", "os pathlib"),
    Row(
        "_launch.jobs.{looking, reading}",
        f"_launch.jobs _launch.kubernetes.after {BULLETINS} _visible",
        f"msgspec {STANDARD}",
    ),
    Row("_launch.jobs", f"_launch.jobs _launch.agent.processes {BULLETINS}", f"msgspec {STANDARD}"),
    Row(
        "_launch.jobs.remnants",
        "_launch.{errors, plan} _launch.machines.{conversation, crowd, here, said, transport} _visible",
        f"msgspec {STANDARD}",
    ),
    Row(
        "_launch.jobs.stopping",
        f"_launch.jobs _launch.agent.stragglers _launch.kubernetes.after {BULLETINS}",
        f"msgspec {STANDARD}",
    ),
    Row("_launch.jobs.register", f"_launch.jobs _launch.settings {FLAGS} {BULLETINS}", f"msgspec {STANDARD}"),
    Row("_launch.jobs.shared", BULLETINS),
    Row("_launch.jobs.background", "_launch.{cause, errors, news, signals} _streams", STANDARD),
    Row("_launch.jobs.explanation", "_launch.{launch, news, plan} _visible", "pathlib rich"),
    Row("_launch.jobs.resumption", f"_launch.jobs.index _launch.plan {FLAGS}", "pathlib"),
    Row("_launch.jobs.watching", f"_launch.jobs {BULLETINS}", f"rich {STANDARD}"),
    Row("_launch.jobs.collecting", f"{BULLETINS} _launch.backends _launch.phases _visible", STANDARD),
    Row(
        "_launch.jobs.commands",
        f"_launch.jobs _launch.{{backends, screens, settings}} {FLAGS} _insistence _streams",
        STANDARD,
    ),
    Row("_launch.backends.local", "_launch", f"invoke {STANDARD}"),
    # What is done with nodes between jobs.
    Row("_launch.nodes.{__init__, findings}", "_visible"),
    Row(
        "_launch.nodes.trusting",
        "_launch.{errors, settings} _launch.machines.{crowd, host_keys, known_hosts}",
        "pathlib",
    ),
    Row("_launch.nodes.survey", "_launch.machines.{fitness, said}", "msgspec pathlib"),
    Row(
        "_launch.nodes.diagnosis",
        "_launch.screens.sizes _launch.machines.{fitness, transport} _launch.nodes.{findings, survey}",
        "pathlib",
    ),
    Row("_launch.nodes.reach", "_launch.machines.fitness _launch.nodes.{diagnosis, findings, survey}"),
    Row(
        "_launch.nodes.dialogue",
        "_launch.settings _launch.nodes.{findings, question, trusting} _streams _visible",
    ),
    Row(
        "_launch.nodes.checking",
        "_launch.{errors, job, plan, remote, settings, workspace} _launch.machines _launch.nodes",
        f"msgspec {STANDARD}",
    ),
    Row(
        "_launch.nodes.commands",
        f"{FLAGS} _launch.{{settings, jobs.index, machines.known_hosts, nodes}} _streams",
        STANDARD,
    ),
    # What is put on nodes, and taken away again.
    Row("_launch.upkeep.interpreter", "_launch.{errors, machines.said}", "msgspec"),
    Row("_launch.upkeep.closure", "_launch.errors", "email msgspec packaging pathlib zipfile"),
    Row("_launch.upkeep.picking", "_launch.{agent, errors, upkeep.interpreter}", STANDARD),
    Row(
        "_launch.upkeep.wheelhouse",
        "_launch.{digests, errors, workspace} _launch.upkeep.{closure, interpreter, picking}",
        "msgspec packaging pathlib shutil tempfile",
    ),
    Row(
        "_launch.upkeep.account",
        "_launch.{settings, screens.sizes, machines.crowd} _streams _visible",
        "rich sys",
    ),
    Row(
        "_launch.upkeep.{cleaning, furnishing, installing}",
        "_launch.{digests, dispatch, errors, remote, settings, upkeep} "
        "_launch.machines.{conversation, crowd, here, reader, said, transport} _visible",
        "msgspec pathlib sys time",
    ),
    Row("_launch.upkeep.receipts", "_launch.{errors, screens.sizes, upkeep}", "pathlib"),
    Row(
        "_launch.upkeep.commands",
        f"{FLAGS} _launch.{{digests, job, jobs.home, remote, settings, signals, upkeep}} "
        "_launch.{machines.fitness, nodes.commands, nodes.question, screens.sizes} _streams",
        "importlib pathlib sys time",
    ),
)
