"""The names of ``paddle.fluid``: which module has each, and what is told of those that are not built.

It must never import what it names. Guarantee: every name of fluid 0.14 to 1.8 stands here once, or in the
list of its module.
"""

from __future__ import annotations

MODULES = frozenset(
    """
    annotations async_executor average backward clip communicator compiler contrib core data_feed_desc
    data_feeder dataset debugger device_worker evaluator executor framework graphviz incubate inferencer
    initializer input install_check io layer_helper layer_helper_base layers learning_rate_decay lod_tensor
    log_helper metrics nets optimizer parallel_executor param_attr profiler proto reader recordio_writer
    regularizer trainer trainer_desc transpiler unique_name wrapped_decorator
    """.split()  # noqa: SIM905  read in columns
)
"""Modules of it that programs name."""

_BY_MODULE = {
    "framework": """
        Block Operator Parameter Program Variable cpu_places cuda_pinned_places cuda_places
        default_main_program default_startup_program device_guard disable_dygraph disable_imperative
        get_flags get_var in_dygraph_mode is_compiled_with_cuda is_compiled_with_xpu name_scope program_guard
        require_version set_flags
        """,
    "executor": "Executor fetch_var global_scope scope_guard",
    "trainer": """
        BeginEpochEvent BeginStepEvent CheckpointConfig EndEpochEvent EndStepEvent Trainer
        """,
    "inferencer": "Inferencer",
    "transpiler": """
        DistributeTranspiler DistributeTranspilerConfig HashName InferenceTranspiler RoundRobin
        memory_optimize release_memory
        """,
    "compiler": "BuildStrategy CompiledProgram ExecutionStrategy IpuCompiledProgram IpuStrategy",
    "parallel_executor": "ParallelExecutor",
    "lod_tensor": "create_lod_tensor create_random_int_lodtensor",
    "param_attr": "ParamAttr WeightNormParamAttr",
    "data_feeder": "DataFeeder",
    "core": "CPUPlace CUDAPinnedPlace CUDAPlace LoDTensor LoDTensorArray Scope XPUPlace",
    "dataset": "DatasetFactory InMemoryDataset QueueDataset",
    "data_feed_desc": "DataFeedDesc",
    "async_executor": "AsyncExecutor",
    "input": "data embedding one_hot",
    "io": "load load_program_state save set_program_state",
    "backward": "gradients",
    "communicator": "Communicator",
}
MODULE_OF = {name: module for module, names in _BY_MODULE.items() for name in names.split()}
"""The module that has a name of ``paddle.fluid`` itself."""

_EAGER = "programs are static here: build one with fluid.layers and run it with fluid.Executor"
_CSP = "channels were taken out of fluid in 0.15; use Python's queue and threading"
_DATASETS = "Executor.train_from_dataset(...) reads files of fluid.DatasetFactory().create_dataset(...)"
ABSENT = {
    **dict.fromkeys(("dygraph", "dygraph_guard", "enable_dygraph"), _EAGER),
    **dict.fromkeys(("enable_imperative", "imperative", "eager"), _EAGER),
    **dict.fromkeys(("Go", "Select", "make_channel", "channel_close", "channel_recv", "channel_send"), _CSP),
    "load_op_library": "operators of one's own are written in Python (fluid.layers.py_func)",
    "op": "operators are appended to a block (Block.append_op)",
    "net_drawer": "a program is shown by print(program)",
    "cuda_profiler": "it computes on the CPU",
    "distribute_lookup_table": "embedding(is_distributed=True) is transpiled by DistributeTranspiler",
    "ComplexVariable": "numbers are real here",
    **dict.fromkeys(("data_generator", "trainer_factory"), _DATASETS),
    **dict.fromkeys(("dataloader", "multiprocess_utils"), "fluid.io.DataLoader reads batches"),
    **dict.fromkeys(("distributed", "distributed_fleet"), "fluid.incubate.fleet has servers and workers"),
    "dygraph_utils": _EAGER,
    "concurrency": _CSP,
    "default_scope_funcs": "fluid.scope_guard and fluid.global_scope are of scopes",
    "generator": "fluid.Program.random_seed says the seed of a program",
    "entry_attr": "paddle.distributed has entries of tables",
}
"""What is told of names that are not built, and never will be or not yet."""
