"""Who may know whom: the one table of it, an allow-list, to which test_imports.py holds every import.

A name is a module's without ``paddle.`` and stands for all below it, too; of the rows that fit a module the
one with the longest name is its only one. ``a.{b,c}`` is a.b and a.c. What a row does not allow is forbidden.

Of the standard library all may import what only computes (``PURE``). What reaches the clock, chance, other
processes or the machine is allowed by name, or in one piece (``STANDARD``) where reaching them is the job.
"""

from __future__ import annotations

from .launch_walls import FLAGS, LAUNCH
from .pserver_walls import EXCHANGE, PSERVER, UPDATES
from .wall import STANDARD, Row

TABLE = (
    # The top.
    Row("__init__", "_absent _aliases _homes _loading _public_names batch", "importlib"),
    Row(
        "__main__",
        f"__init__ version {FLAGS} _insistence _visible _planning _reported _streams "
        "_launch.{infolog, kubernetes.inside.cli, nics, ranks.cli} "
        "_offline _online _pserver.{errors, options} _pserver.memory.memory _pserver.service.service "
        "_pserver.trust.{auth, tls, token_file} _pserver.tasks.service",
        STANDARD,
    ),
    Row(
        "_offline",
        "_streams _visible _launch.{arguments, errors, flags, manual, signals} "
        "_pserver.errors _pserver.snapshots.offline",
        "contextlib pathlib shlex signal sys",
    ),
    Row(
        "_online",
        "_streams _visible _launch.{arguments, environ, flags, manual} "
        "_pserver.errors _pserver.trainer.{consistent_cut, places}",
        "os sys",
    ),
    Row(
        "_planning",
        "_streams _visible _launch.errors _engine.{executor, plan, plan_text, program}",
        "pathlib runpy sys",
    ),
    Row("_absent", "_complaint", "sys"),
    Row("_aliases", "", "importlib sys"),
    Row("_reported", "_launch.environ _streams"),
    Row("_complaint", "", STANDARD),
    Row("_streams", theirs="os sys"),
    Row("_insistence", theirs="atexit signal sys threading time"),
    Row("version", "__init__"),
    Row("{_visible, compat}"),
    Row("_blas", "", "ctypes pathlib"),
    Row("{_exits, _loading}", "", "ctypes gc os sys threading"),
    Row("_goodbye", "_engine.{errors, exchange} _exits", "sys weakref"),
    # The faces.
    Row("v2", "v2 _absent _engine batch _launch.environ", "numpy"),
    Row("{base, v2.dataset, v2.fluid, v2.image, v2.reader}", "_aliases"),
    Row("{proto, trainer, trainer_config_helpers}", "proto trainer_config_helpers v2 _absent _aliases"),
    Row("v2._errors", "_complaint"),
    Row("v2._measures.printers", "v2", "numpy pathlib"),
    Row("v2.__init__", "v2._flags", "importlib"),
    Row("v2._flags", "_blas _complaint _launch.{environ, infolog} _profiling v2._program_log", "os sys"),
    Row("v2.{inference, topology}", "v2 _engine", "msgspec numpy pickle threading"),
    Row("v2.master", "_pserver.tasks.{client, errors, handshake} _data.turn", "os threading"),
    Row("v2.parameters", "v2 _engine.checkpoint", "numpy"),
    Row("v2.plot", "", "importlib matplotlib os"),
    Row(
        "v2.trainer",
        "v2 _blas _data.ahead _engine _goodbye _launch.environ "
        "_pserver.protocol.wire _pserver.trainer.{local, remote, trainer_modes}",
        "time",
    ),
    Row("fluid", "fluid _absent _mode _data _engine.auc _program batch reader profiler", "importlib numpy"),
    Row("fluid._listed", "_absent", "importlib sys"),
    Row("fluid.{data_feed_desc, recordio_writer.__init__}", "_program.{errors, files.records}", "pathlib"),
    Row("fluid.debugger", "_program.description fluid._listed", "pathlib"),
    Row("fluid.annotations", "", "sys"),
    Row(
        "fluid.incubate.fleet", "_absent _fleet fluid.{_listed, incubate.fleet.base, transpiler}", "importlib"
    ),
    Row(
        "fluid.incubate.fleet.utils",
        "_absent _engine.auc _fleet _program.running.scope fluid.incubate.fleet",
        "logging numpy",
    ),
    Row("fluid.incubate.fleet.utils.utils", "_absent _program fluid", "logging numpy pathlib subprocess"),
    Row("fluid.layers.__init__", "fluid", "importlib pkgutil"),
    Row("fluid.layers.{arrays.__init__, detection.__init__}", "fluid", "importlib pkgutil"),
    Row(
        "_fleet",
        "_fleet _absent _complaint _engine.{exchange, rows} _launch.{environ, errors} _program "
        "_pserver.memory _pserver.protocol.placement",
        "copy math numpy os pathlib shutil warnings",
    ),
    Row(
        "_fleet.forewarning",
        "_exits _fleet _goodbye _launch.{environ, errors} _pserver.errors _pserver.protocol.messages "
        "_pserver.trainer.fallen",
        "atexit os",
    ),
    Row(
        "_fleet.meeting",
        "_absent _fleet _launch.{environ, report} _pserver.errors _pserver.parley "
        "_pserver.tasks.handshake _pserver.trust.token_file",
        "atexit json numpy os pathlib sys",
    ),
    Row("distributed.fleet.{data_generator, dataset}", "_absent _data"),
    Row("distributed.fleet.metrics", "distributed.fleet _engine.auc _program.running.scope", "numpy"),
    Row("distributed.fleet", "_fleet _loading _public_names distributed.fleet", "importlib"),
    Row("distributed.__init__", "_public_names", "importlib"),
    Row("distributed.{entry_attr, transpiler}", "_aliases"),
    Row("distributed.{launch, fleet.launch}", "_launch.{fleet.cli, signals} _loading", "pathlib sys"),
    Row("distributed.collective", "_absent distributed.parallel tensor.creation"),
    Row("distributed.parallel", "_absent", "os"),
    Row("distributed.launch_ps", "_absent _launch.{fleet.cli, fleet.older, signals}", "sys"),
    Row("fluid.transpiler.details.checkport", "_program.errors", "socket time"),
    Row("fluid.tests.unittests", "_absent", "numpy"),
    Row("fluid.contrib.reader", "", "os sys"),
    Row("fluid.contrib.extend_optimizer", "fluid.layers _program.{description, errors}", "sys"),
    Row("fluid.trainer", "fluid _absent _complaint _program _launch.environ", "numpy os"),
    Row("profiler", "_absent _engine.{profile, profile_table}", "os pathlib socket"),
    Row("_profiling", "_engine.{profile, profile_table}", "atexit os pathlib sys"),
    # The 2.x generation. What stands for a name of another module by its text stands here by no name.
    Row("_homes"),
    Row("{_at_once, _eager}", "_absent"),
    Row("_public_names", "_absent", "sys"),
    Row("_mode", "_absent _homes _program.description.{arithmetic, written}", "importlib"),
    Row("framework", "_mode _program.{description, writing} fluid.{core, framework}"),
    Row(
        "{device, regularizer}",
        "_absent _public_names _program.{running.places, writing}",
    ),
    Row("common_ops_import", "_program.{description, writing} fluid.{core, data_feeder}"),
    Row("{geometric, linalg}", "_absent _program.description tensor"),
    Row("incubate", "_absent _program.moving fluid.contrib.layers nn.functional tensor"),
    Row("incubate.{__init__, distributed}", "_absent _aliases", "importlib"),
    Row("tensor", "tensor _absent _mode _program.{description, errors, writing} framework", "numpy"),
    Row("tensor.__init__", "_homes tensor.einsum", "importlib"),
    Row(
        "tensor.methods", "tensor _absent _program.{description, running.lod_tensor, running.scope}", "numpy"
    ),
    Row(
        "nn",
        "nn _absent _public_names _mode _program.{description, files.state_dict, writing} tensor",
    ),
    Row("nn.functional.conv", "_program.{errors, writing} tensor"),
    Row("nn.__init__", "_public_names", "importlib"),
    Row("nn.functional.__init__", "_public_names nn.functional tensor"),
    Row("nn.layer.__init__", "nn", "importlib"),
    Row(
        "distribution",
        "distribution _program.{description, writing.backward} nn nn.functional tensor",
        "numpy",
    ),
    Row("distribution.__init__", "", "importlib"),
    Row("nn.decode", "fluid.layers.{beam_decoder, decoding}"),
    Row("nn.layer.walk", "fluid.layers.steps tensor"),
    Row("nn.layer.{activation, pooling}", "nn", "inspect"),
    Row("nn.layer.{loss, transformer}", "nn _program.description tensor", "importlib"),
    Row(
        "static",
        "_absent _loading _mode _public_names _program.{description, errors, files, writing} framework "
        "tensor",
        "importlib pathlib tempfile",
    ),
    Row(
        "static.nn",
        "_homes _mode _public_names _program.writing fluid.layers.{detection, nn, normalizing} tensor "
        "nn.{functional.input, layer.norm}",
        "importlib",
    ),
    Row("utils.{download, pictures, plot}", "dataset.{common, image} v2.plot", "io numpy pathlib"),
    Row("utils.merge_model", "v2", "gzip os pathlib"),
    Row("utils.dump_v2_config", "v2", "os pathlib"),
    Row(
        "utils",
        "_aliases _mode _public_names _program.{description, running} optimizer static nn.functional utils",
        "importlib numpy",
    ),
    Row("optimizer", "optimizer _absent _complaint _public_names", "numpy"),
    Row(
        "optimizer._optimizer",
        "regularizer _absent _mode _program.{description, files.state_dict, running.scope, writing}",
        "importlib",
    ),
    Row("optimizer.__init__", "_homes _public_names", "importlib"),
    Row("metric", "metric _engine.auc static.measures tensor", "numpy"),
    Row("metric.__init__", "_public_names", "importlib"),
    Row("inference", "_public_names version", "importlib"),
    Row("text", "_data.samples _homes _public_names dataset text.datasets", "importlib numpy"),
    Row("text.chains", "nn.layer.layers tensor"),
    Row("vision", "_data.samples _public_names dataset vision", "PIL importlib numpy sys"),
    Row("vision.datasets.folder", "_data.samples dataset.image vision", "numpy os pathlib"),
    Row("vision.models", "_absent _aliases _public_names nn tensor vision", "importlib"),
    Row("vision.ops", "_absent _public_names _program.writing fluid.layers.detection nn tensor"),
    Row("vision.transforms.drawn", "vision.transforms", "numpy random"),
    Row("batch"),
    Row("dataset", "dataset _recordio", f"numpy {STANDARD}"),
    Row("dataset.flowers", "_absent dataset reader", f"numpy scipy {STANDARD}"),
    Row("dataset.image", "_absent dataset.common", "PIL numpy pathlib tarfile"),
    Row("dataset.uci_housing", "dataset v2.parameters", "numpy pathlib tarfile tempfile"),  # for model()
    Row("dataset.wmt14", "dataset v2.parameters", STANDARD),  # for model()
    Row("reader", "reader _data.processes", STANDARD),
    Row("reader.creator", "reader _recordio v2.master", f"numpy {STANDARD}"),  # cloud_reader
    Row("_recordio", "_recordio", "msgspec numpy pathlib"),
    Row("_recordio.pickled", "_recordio.errors", "numpy pickle"),
    Row("_recordio.library", "_recordio", "glob pathlib pickle"),
    Row("testing", "_engine.{registry, single}", "numpy"),
    # Programs as people write them, under the two later faces.
    Row("_program"),
    Row("_program.modes", "_engine.exchange _program.errors"),
    Row("_program.runtime_config", "_program.{errors, upstream_flags}"),
    Row(
        "_program.transpiler_config",
        "_absent _engine.exchange _program.{description, errors, modes, upstream_flags}",
    ),
    Row("_program.upstream_flags", "_program.errors", "os"),
    Row("_program.calls", "", "os pathlib sys"),
    Row("_program.told_to_stop", "_insistence", "os signal threading"),
    Row("_program.errors", "_complaint _engine.errors"),
    Row("_program.description", "_program.{description, errors}", "numpy"),
    Row(
        "_program.description.block", "_program.{description, errors} _program.lowering.{inferring, op_rows}"
    ),
    Row("_program.description.program", "_program.{description, errors} _program.files.state"),
    Row("_program.description.framework_proto", "_engine.protobuf"),
    Row("_program.description.operator", "_program.{description, errors}", "os sys"),
    Row(
        "_program.description.program_desc",
        "_engine.protobuf _program.{description, errors} _program.lowering.op_rows",
    ),
    Row(
        "_program.lowering",
        "_engine.{autodiff, builder, errors, exchange, program, registry, row_initial, rows} "
        "_program.{description, errors, lowering}",
        "numpy",
    ),
    Row(
        "_program.lowering.slope_rules",
        "_engine.{builder, errors, ops.around, program}",
    ),
    Row("_program.lowering.entries", "_absent _engine.entry _program.errors"),
    Row(
        "_program.lowering.op_rows",
        "_absent _program.{description, lowering, running.host, running.tape}",
        "importlib",
    ),
    Row(
        "_program.ops",
        "_absent _engine.{boxes, builder, initial, program, row_initial, steps, volumes} "
        "_program.{description, errors, lowering, ops, running}",
        "numpy",
    ),
    Row("_program.ops.{__init__, boxes.__init__, formulas.__init__}", "", "importlib pkgutil"),
    Row(
        "_program.ops.formulas.clicks",
        "_program.{description, errors, lowering, ops, running}",
        "numpy xxhash",
    ),
    Row(
        "_program.ops.formulas.{grids, windows}",
        "_engine.kernels.{grids, images} _program.ops.formulas.formula",
        "numpy",
    ),
    Row("_program.ops.files", "_program.{description, errors, files, lowering, running}", "numpy pathlib"),
    Row(
        "_program.ops.boxes.matching",
        "_engine.kernels.introsort _program.{description, errors, lowering, ops, running}",
        "numpy",
    ),
    Row(
        "_program.ops.averaging",
        "_absent _engine.{averages, exchange} _program.{description, lowering, running}",
        "numpy",
    ),
    Row(
        "_program.ops.talking",
        "_program.{carrier, description, lowering, running}",
        "os pathlib tempfile",
    ),
    Row("_program.writing", "_complaint _program.{description, errors, writing}", "numpy"),
    Row("_program.writing.optimizer", "_program.{description, errors, writing} _program.lowering.updates"),
    Row("_program.writing.taking", "_complaint _program.{description, errors}", "inspect numpy"),
    Row("_program.writing.scheduling", "_engine.exchange _program.description"),
    Row("_program.writing.backward", "_program.{description, errors, lowering}"),
    Row("_program.running", "_engine.scope _program.{description, errors, running}", "numpy"),
    Row("_program.running.fed", "_program.{description, errors, running}", "numpy warnings"),
    Row("_program.running.open_table", "_engine.{row_initial, rows} _program.running.scope", "numpy"),
    Row("_program.running.places", "_absent _program.{errors, upstream_flags}"),
    Row("_program.running.{taken, tape}", "_program.{description, errors, lowering, running}", "numpy"),
    Row("_program.running.course", "_program.{description, lowering, moving.turns, running, upstream_flags}"),
    Row(
        "_program.running.finite",
        "_engine.{program, rows} _program.{description, errors, lowering.value, running}",
        "numpy",
    ),
    Row(
        "_program.running.sized_run",
        "_engine.{plans.room, program} _program.{description, errors, lowering, moving.turns, running}",
        "numpy",
    ),
    Row(
        "_program.running.segment_run",
        "_engine.{errors, executor, program} _program.{errors, lowering, moving, running, upstream_flags}",
        "numpy",
    ),
    Row(
        "_program.running.executor",
        "_complaint _program.{carrier, description, errors, lowering, moving.turns, reading, running}",
        "numpy threading",
    ),
    Row("_program.running.blas", "_blas _streams", "os"),
    Row(
        "_program.moving",
        "_engine.{exchange, executor, rows, rules} _program.{carrier, errors, lowering, moving, running}",
        "numpy warnings",
    ),
    Row(
        "_program.moving.averaging",
        "_engine.{averages, exchange} _program.{description, errors, running, writing}",
        "numpy",
    ),
    Row("_program.moving.turns", "_engine.{exchange, rows}", "contextlib numpy"),
    Row(
        "_program.files",
        "_engine.{checkpoint, errors, rows, rules} _program.{description, errors, files, running}",
        "numpy os pathlib shutil warnings",
    ),
    Row(
        "_program.files.{beginnings, tables}",
        "_engine.{checkpoint, errors, rows} "
        "_program.{description, errors, files, lowering.lowering, lowering.updates, running}",
        "errno numpy pathlib tempfile",
    ),
    Row("_program.files.exchange", "", "ctypes errno os pathlib"),
    Row(
        "_program.files.{pickles, records}",
        "_engine.{checkpoint, errors} _program.{errors, files, running} _recordio.{chunks, errors, pickled}",
        "numpy pathlib pickle",
    ),
    Row(
        "_program.predicting",
        "_absent _program.{description, errors, files, predicting, running}",
        "numpy pathlib sys tempfile",
    ),
    Row(  # the one door to the parameter server
        "_program.carrier",
        "_absent _exits _goodbye _loading _reported _engine.{errors, exchange} "
        "_program.{errors, told_to_stop, upstream_flags} "
        "_launch.{environ, infolog, nics} _pserver.memory.memory "
        "_pserver.options _pserver.protocol.{placement, wire} _pserver.service.endpoint "
        "_pserver.trainer.{local, places, remote, trainer_modes} _pserver.trust.{tls, token_file}",
        "atexit os pathlib sys",
    ),
    Row("_program.reading", "_data batch _program.{description, errors, reading, running}", "numpy"),
    Row("_program.reading.{opened, reader}", "_data.ahead _program", "contextlib numpy random time"),
    Row(
        "_program.reading.{dumping, training}",
        "_absent _data.records _program.{description, errors, lowering, reading}",
        "numpy pathlib queue threading time",
    ),
    Row("io", "_data _public_names _program.reading.data_loader"),
    # Data as the later generations bring them.
    Row("_data", "_data _absent", "numpy"),
    Row("_data.ahead", "_data.turn", "contextvars numpy queue threading"),
    Row("_data.turn", "", "os threading"),
    Row("_data.command", "_complaint", f"gzip {STANDARD}"),
    Row("_data.data_generator", "", "sys"),
    Row("_data.dataset", "_data _absent", "concurrent numpy threading"),
    Row("_data.filelist", "_data", "concurrent threading"),
    Row("_data.gathering", "_data.processes", "numpy"),
    Row("_data.processes", "", "multiprocessing signal traceback"),
    Row("_data.samplers", "_launch.environ", "numpy os"),
    Row("_data.lines", "_complaint _data _engine.kernels.slot_lines", "numpy"),
    Row("_data.settings", "_complaint _data _absent", "glob"),
    # What one step computes.
    Row("_engine", "_engine", "numpy"),
    Row("_engine.errors", "_complaint"),
    Row("_engine.arena", "_engine.memory", "contextlib mmap numpy"),
    Row("_engine.blas", "", "ctypes numpy"),
    Row("_engine.profile", "_engine.{plan, program, registry}", "numpy threading time weakref"),
    Row("_engine.teams", "_engine", "numpy queue threading"),
    Row("_engine.teams.crew", "", "queue threading time weakref"),
    Row("_engine.checkpoint", "_engine.{checkpoint, errors, protobuf}", "numpy pathlib tarfile zlib"),
    Row("_engine.checkpoint.row_lines", "_engine.kernels.{row_lines, slot_lines}", "numpy"),
    Row("_engine.plans.room", "", "contextlib mmap pathlib random"),
    Row("_engine.kernels", "_engine.kernels", "numpy"),
    Row("_engine.kernels.kernel", "_loading", "numba os pathlib scipy threading"),
    Row("_engine.kernels.{flushing, prefetch, matrices.tiles}", "_engine.kernels.kernel", "llvmlite numba"),
    Row("_engine.kernels.matrices.amx", "_engine.kernels.matrices.tiles", "ctypes llvmlite numba numpy sys"),
    Row(UPDATES, f"{EXCHANGE} _engine.kernels", "numpy"),
    *PSERVER,
    Row(
        "_herald",
        "_launch.environ _pserver.{errors, protocol.messages} _pserver.trainer.{fallen, watching} _visible",
        "os sys threading",
    ),
    Row("_warm", "_engine.kernels _warm", "ctypes fcntl numba os pathlib signal sys"),
    *LAUNCH,
)
