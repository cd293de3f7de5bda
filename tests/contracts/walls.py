"""Who may know whom: the one table of it, an allow-list, to which test_imports.py holds every import.

A name is a module's without ``paddle.`` and stands for all below it, too; of the rows that fit a module the
one with the longest name is its only one. ``a.{b,c}`` is a.b and a.c. What a row does not allow is forbidden.

Of the standard library all may import what only computes (``PURE``). What reaches the clock, chance, other
processes or the machine is allowed by name, or in one piece (``STANDARD``) where reaching them is the job.
"""

from __future__ import annotations

from .pserver_walls import EXCHANGE, PSERVER
from .wall import STANDARD, Row

# Flags and who reads them: light enough for every program that asks for its settings.
FLAGS = "_launch.{arguments, dialects, environ, errors, flag, flags, manual, report}"
# A launch as data, and who decides by it.
SUPERVISOR = "_launch.{actions, again, cause, events, phases, restarts, supervisor}"

# What a launch tells, and who it tells it to.
BULLETINS = "_launch.{agent.lines, board, bulletins, errors, events, news, plan, results, screens}"

TABLE = (
    # The top.
    Row("__init__", "_absent _homes batch", "importlib"),
    Row(
        "__main__",
        f"__init__ {FLAGS} _visible _planning _reported _launch.{{infolog, nics}} "
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
    Row(
        "_planning",
        "_visible _launch.errors _engine.{executor, plan, plan_text, program}",
        "pathlib runpy sys",
    ),
    Row("_absent", "_complaint", "sys"),
    Row("_reported", "_launch.environ", "sys"),
    Row("_complaint", "", STANDARD),
    Row("_visible"),
    Row("_blas", "", "ctypes pathlib"),
    Row("_goodbye", "_engine.exchange", "sys weakref"),
    # The faces.
    Row(
        "v2",
        "v2 _absent _complaint _engine batch dataset reader "
        "_launch.{environ, infolog} _pserver.trainer.{local, remote}",
        "msgspec numpy sys",
    ),
    Row("v2.image", "_absent dataset.common", "PIL numpy pathlib tarfile"),
    Row("v2._measures.printers", "v2", "numpy pathlib"),
    Row("v2.__init__", "_absent v2._flags", "importlib"),
    Row("v2._flags", "_blas _complaint _launch.{environ, infolog} _profiling v2._program_log", "os sys"),
    Row("v2.master", "_pserver.tasks.{client, errors, handshake} _data.turn", "os"),
    Row("v2.parameters", "v2 _absent _engine.checkpoint", "numpy"),
    Row("v2.plot", "", "importlib matplotlib os"),
    Row(
        "v2.trainer",
        "v2 _absent _blas _data.ahead _engine _goodbye _launch.environ "
        "_pserver.protocol.wire _pserver.trainer.{local, remote, trainer_modes}",
        "time",
    ),
    Row(
        "fluid",
        "fluid _absent _complaint _data _engine _program batch dataset reader profiler "
        "_launch.{environ, infolog} _pserver.trainer.{local, remote}",
        "importlib numpy",
    ),
    Row("fluid._listed", "_absent", "sys"),
    Row("fluid.debugger", "_program", "pathlib"),
    Row("fluid.incubate.fleet", "_absent _fleet fluid.transpiler", "importlib"),
    Row("fluid.layers.__init__", "fluid", "importlib pkgutil"),
    Row("fluid.data_feeder", "_program", "os"),  # how many places CPU_NUM says there are
    Row(
        "_fleet",
        "_fleet _absent _complaint _engine.{checkpoint, exchange} _launch.{environ, errors} _program "
        "_pserver.memory",
        "copy math numpy os pathlib shutil tempfile warnings",
    ),
    Row(
        "_fleet.meeting",
        "_absent _fleet _pserver.errors _pserver.parley _pserver.tasks.handshake _pserver.trust.token_file",
        "atexit json numpy os pathlib",
    ),
    Row("distributed.fleet.{data_generator, dataset}", "_absent _data"),
    Row("distributed.fleet.metrics", "distributed.fleet _program.scope", "numpy"),
    Row("distributed.fleet", "_absent _fleet distributed.fleet", "importlib"),
    Row("distributed.__init__", "_absent", "importlib"),
    Row("distributed.entry_attr"),
    Row("distributed.{launch, fleet.launch}", "_launch.fleet.cli", "sys"),
    Row("fluid.trainer", "fluid _absent _program _launch.environ", "numpy os"),
    Row("profiler", "_absent _engine.{profile, profile_table}", "os pathlib socket"),
    Row("_profiling", "_engine.{profile, profile_table}", "atexit os pathlib sys"),
    # The 2.x generation. What stands for a name of another module by its text stands here by no name.
    Row("_homes"),
    Row("_mode", "_absent _homes _program.arithmetic", "importlib"),
    Row("{device, framework, regularizer}", "_absent _program"),
    Row("common_ops_import", "_program fluid.core"),
    Row("tensor", "tensor _mode _program framework", "numpy"),
    Row("nn", "nn _absent _complaint _mode _program tensor", "numpy"),
    Row("nn.__init__", "_absent", "importlib sys"),
    Row("nn.functional.__init__", "_absent nn.functional", "sys"),
    Row("nn.layer.pooling", "nn", "inspect"),
    Row(
        "static",
        "static _absent _mode _program framework tensor nn.functional.input",
        "importlib pathlib sys",
    ),
    Row("utils.plot", "v2.plot"),
    Row("utils", "_mode _program optimizer static nn.functional utils", "importlib numpy sys"),
    Row("optimizer", "optimizer _absent _complaint _mode _program regularizer nn.layer._state", "numpy"),
    Row("optimizer._optimizer", "optimizer _absent _mode _program regularizer nn.layer._state", "importlib"),
    Row("optimizer.__init__", "", "importlib sys"),
    Row("metric", "metric static.measures tensor", "numpy"),
    Row("metric.__init__", "", "importlib"),
    Row("batch"),
    Row("dataset", "dataset _absent _recordio", f"numpy {STANDARD}"),
    Row("dataset.uci_housing", "dataset _absent v2.parameters", "numpy pathlib"),  # for model()
    Row("dataset.wmt14", "dataset v2.parameters", STANDARD),  # for model()
    Row("reader", "reader _absent", STANDARD),
    Row("reader.creator", "reader _absent _recordio v2.master", f"numpy {STANDARD}"),  # cloud_reader
    Row("_recordio", "_recordio", "msgspec numpy pathlib"),
    Row("_recordio.pickled", "_recordio.errors", "numpy pickle"),
    Row("testing", "_engine.{registry, single}", "numpy"),
    # Programs as people write them, under the two later faces.
    Row("_program", "_absent _complaint _engine _program", "numpy"),
    Row("_program.executor", "_program _blas _complaint", "numpy os threading"),
    Row("_program.operator", "_program", "os sys"),
    Row("_program.files", "_engine.{checkpoint, errors} _program", "numpy os pathlib shutil warnings"),
    Row("_program.files.pickles", "_program _recordio.{errors, pickled}", "numpy pathlib pickle"),
    Row("_program.ops.__init__", "_program", "importlib pkgutil"),
    Row("_program.ops.files", "_program", "numpy pathlib"),
    Row("_program.ops.talking", "_program", "os pathlib tempfile"),
    Row("_program.places", "_absent _program.errors", "os"),
    Row("_program.op_rows", "_absent _program", "importlib"),
    Row(  # the one door to the parameter server
        "_program.carrier",
        "_absent _goodbye _reported _engine.exchange _program.errors _launch.{environ, infolog, nics} "
        "_pserver.protocol.wire _pserver.service.endpoint "
        "_pserver.trainer.{local, places, remote, trainer_modes} _pserver.trust.{tls, token_file}",
        "os sys",
    ),
    Row("_program.reading", "_program _data _absent batch", "numpy"),
    Row("_program.reading.reader", "_program _data.ahead", "contextlib time"),
    Row("_program.reading.training", "_program _data.records", "numpy threading time"),
    Row("_program.{course, moving.turns, running}", "_program _complaint _engine", "numpy threading"),
    Row("io", "_data _program.reading.data_loader"),
    # Data as the later generations bring them.
    Row("_data", "_data _absent", "numpy"),
    Row("_data.ahead", "_data.turn", "contextvars numpy queue threading"),
    Row("_data.turn", "", "os threading"),
    Row("_data.command", "", f"gzip {STANDARD}"),
    Row("_data.data_generator", "", "sys"),
    Row("_data.dataset", "_data _absent", "concurrent numpy threading"),
    Row("_data.filelist", "_data", "concurrent threading"),
    Row("_data.gathering", "_data", "multiprocessing numpy signal traceback"),
    Row("_data.samplers", "", "numpy os"),
    Row("_data.lines", "_data _engine.kernels.slot_lines", "numpy"),
    Row("_data.settings", "_data _absent", "glob"),
    # What one step computes.
    Row("_engine", "_engine", "numpy"),
    Row("_engine.blas", "", "ctypes numpy"),
    Row("_engine.profile", "_engine.{plan, program, registry}", "numpy threading time weakref"),
    Row("_engine.{meeting, share}", "_engine", "numpy threading"),
    Row("_engine.team", "_engine", "concurrent numpy"),
    Row("_engine.checkpoint", "_engine.{checkpoint, errors, protobuf}", "numpy pathlib tarfile zlib"),
    Row("_engine.kernels", "_engine.kernels", "numpy"),
    Row("_engine.kernels.kernel", theirs="numba pathlib threading"),
    Row("_engine.kernels.prefetch", theirs="llvmlite numba"),
    Row(EXCHANGE, f"{EXCHANGE} _engine.kernels", "numpy"),
    *PSERVER,
    # Where processes run.
    Row("_launch", "_launch _visible", STANDARD),
    Row("_launch.agent", "_launch.agent", STANDARD),  # it runs on any node's Python, on nothing else
    Row(FLAGS, f"{FLAGS} _absent _blas _complaint", "os time"),
    Row(SUPERVISOR, SUPERVISOR, "signal"),  # for the names of signals
    Row("_launch.authority", theirs="cryptography ipaddress"),
    Row("_launch.news"),
    Row("_launch.spillway", "", STANDARD),
    Row("_launch.machines.awake"),
    Row("_launch.fleet.call", FLAGS),
    Row("_launch.fleet.cluster", "_launch.errors _launch.fleet.call", "contextlib socket"),
    Row("_launch.fleet.roles", f"_launch.fleet _launch.{{plan, settings}} {FLAGS}", "pathlib"),
    Row(
        "_launch.fleet.running",
        f"{SUPERVISOR} _launch.{{machines.awake, backends, inbox, logs, news, plan, signals}}",
        "contextlib queue signal time",
    ),
    Row(
        "_launch.fleet.cli",
        f"_launch.fleet _launch.{{backends, phases, plan, settings, signals}} {FLAGS} _visible",
        STANDARD,
    ),
    Row("_launch.infolog", "_visible _launch.spillway", STANDARD),
    Row(
        "_launch.{job, plan, settings}",
        f"_launch.{{job, machines.places, machines.shards, plan, remote, settings, workspace}} {FLAGS}",
        "msgspec os pathlib",
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
    Row("_launch.machines.identities", "", f"paramiko {STANDARD}"),
    Row("_launch.ignored", "_launch.errors", "pathlib pathspec"),
    Row("_launch.machines.places", "_launch.errors"),
    Row("_launch.machines.shards", "_launch.workspace"),
    Row("_launch.screens.sizes"),
    Row("_launch.nodes.question", "", "sys"),
    Row("_launch.sending", "_launch.{news, screens.sizes}", "rich"),
    Row("_launch.backends.{crew, node}", "_launch", STANDARD),
    Row("_launch.board", "_launch.{news, plan, sending}"),
    Row("_launch.bulletins", "_launch.news", "msgspec"),
    Row("_launch.screens", f"{BULLETINS} _visible", f"rich {STANDARD}"),
    Row("_launch.logs", "_launch.errors _launch.results", STANDARD),
    Row("_launch.results", "_launch.{news, plan, results}", f"matplotlib {STANDARD}"),
    Row("_launch.jobs.home", "_launch.errors", "os pathlib"),
    Row("_launch.jobs", f"_launch.jobs _launch.agent.processes {BULLETINS} _visible", f"msgspec {STANDARD}"),
    Row(
        "_launch.jobs.remnants",
        "_launch.{errors, plan} _launch.machines.{conversation, crowd, here, said, transport} _visible",
        f"msgspec {STANDARD}",
    ),
    Row(
        "_launch.jobs.stopping",
        f"_launch.jobs _launch.agent.stragglers {BULLETINS}",
        f"msgspec {STANDARD}",
    ),
    Row("_launch.jobs.register", f"_launch.jobs _launch.settings {FLAGS} {BULLETINS}", f"msgspec {STANDARD}"),
    Row("_launch.jobs.shared", BULLETINS),
    Row("_launch.jobs.background", "_launch.{errors, news, signals}", STANDARD),
    Row("_launch.jobs.explanation", "_launch.{launch, news, plan} _visible", "pathlib rich"),
    Row("_launch.jobs.resumption", f"_launch.jobs.index _launch.plan {FLAGS}", "pathlib"),
    Row("_launch.jobs.watching", f"_launch.jobs {BULLETINS}", f"rich {STANDARD}"),
    Row("_launch.jobs.collecting", f"{BULLETINS} _launch.backends _launch.phases _visible", STANDARD),
    Row("_launch.jobs.commands", f"_launch.jobs _launch.{{backends, screens, settings}} {FLAGS}", STANDARD),
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
    Row("_launch.nodes.dialogue", "_launch.settings _launch.nodes.{findings, question, trusting} _visible"),
    Row(
        "_launch.nodes.checking",
        "_launch.{errors, job, plan, remote, settings, workspace} _launch.machines _launch.nodes",
        f"msgspec {STANDARD}",
    ),
    Row(
        "_launch.nodes.commands",
        f"{FLAGS} _launch.{{settings, jobs.index, machines.known_hosts, nodes}} _visible",
        STANDARD,
    ),
    # What is put on nodes, and taken away again.
    Row("_warm", "_data.{lines, slot} _engine.rows v2", "numpy"),
    Row("_launch.upkeep.interpreter", "_launch.{errors, machines.said}", "msgspec"),
    Row("_launch.upkeep.closure", "_launch.errors", "email msgspec packaging pathlib zipfile"),
    Row("_launch.upkeep.picking", "_launch.{agent, errors, upkeep.interpreter}", STANDARD),
    Row(
        "_launch.upkeep.wheelhouse",
        "_launch.{digests, errors, workspace} _launch.upkeep.{closure, interpreter, picking}",
        "msgspec packaging pathlib shutil tempfile",
    ),
    Row("_launch.upkeep.account", "_launch.{settings, screens.sizes, machines.crowd} _visible", "rich sys"),
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
        "_launch.{machines.fitness, nodes.commands, nodes.question, screens.sizes}",
        "importlib pathlib sys time",
    ),
)
