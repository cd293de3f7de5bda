"""What each field of a DistributedStrategy begins with, and what becomes of what it is given, as 2.6.2 has
it: each of its fields was given each of these values there, and what was read back, or raised, is written
here."""

import warnings
from typing import Any

import pytest

from paddle._fleet.errors import MistypedConfig, UnknownConfig
from paddle._fleet.strategy import DistributedStrategy


class _Thing:
    """None of a field's types."""


GIVEN: dict[str, Any] = {
    **{"none": None, "1": 1, "-1": -1, "0": 0, "1.5": 1.5, "x": "x", "[]": [], "{}": {}},
    **{"{u}": {"unknown": 1}, "true": True, "false": False, "thing": _Thing()},
}
IS, T, V, A, K = "stays", TypeError, ValueError, AttributeError, AssertionError
ON, OFF = (
    "a_sync fuse_all_reduce_ops split_data sync_nccl_allreduce without_graph_optimization".split(),  # noqa: SIM905
    """
    _calc_comm_same_stream adam_d2sum adaptive_localsgd amp asp auto auto_search
    cudnn_batchnorm_spatial_persistent cudnn_exhaustive_search dgc elastic find_unused_parameters
    fp16_allreduce fuse_grad_merge gradient_merge heter_ccl_mode is_fl_ps_mode is_with_coordinator lamb
    lars localsgd pipeline qat recompute semi_auto sharding sync_batch_norm tensor_parallel
    use_hierarchical_allreduce
    """.split(),  # noqa: SIM905  read in columns
)
NUMBERS = {
    "_fuse_grad_size_in_TFLOPS": 50.0,
    "conv_workspace_size_limit": 512,
    "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_num": 8,
    "hierarchical_allreduce_inter_nranks": 1,
    "last_comm_group_size_MB": 1.0,
    "nccl_comm_num": 1,
}
GROUPS: dict[str, dict[str, Any]] = {
    "a_sync_configs": {
        "k_steps": -1,
        "max_merge_var_num": 1,
        "send_queue_size": 16,
        "independent_recv_thread": False,
        "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1,
        "send_wait_times": 1,
        "runtime_split_send_recv": False,
        "launch_barrier": True,
        "heter_worker_device_guard": "cpu",
        "lr_decay_steps": 10,
        "use_ps_gpu": 0,
    },
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "amp_configs": {
        "init_loss_scaling": 32768.0,
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True,
        "custom_white_list": [],
        "custom_black_list": [],
        "custom_black_varnames": [],
        "use_pure_fp16": False,
        "use_fp16_guard": True,
        "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "fs_client_param": {"uri": "", "user": "", "passwd": "", "hadoop_bin": ""},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "hybrid_configs": {
        "dp_degree": -1,
        "mp_degree": 1,
        "pp_degree": 1,
        "sharding_degree": 1,
        "sep_degree": 1,
        "mp_configs": {
            "sync_param": True,
            "sync_grad": False,
            "sync_moment": False,
            "sync_mode": "broadcast",
            "mp_async_allreduce": False,
            "mp_skip_c_identity": False,
            "mp_fused_linear_param_grad_add": False,
            "need_broadcast_data": True,
        },
        "pp_configs": {
            "dp_comm_overlap": False,
            "delay_scale_loss": False,
            "enable_timer": False,
            "sharding_comm_overlap": False,
            "profiling": False,
        },
        "sharding_configs": {
            "tensor_fusion": False,
            "accumulate_steps": 1,
            "comm_overlap": False,
            "split_param": False,
            "fuse_optimizer": True,
        },
    },
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars_configs": {
        "lars_coeff": 0.001,
        "lars_weight_decay": 0.0005,
        "epsilon": 0.0,
        "exclude_from_weight_decay": [],
    },
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "pipeline_configs": {
        "micro_batch_size": 1,
        "accumulate_steps": 1,
        "schedule_mode": "1F1B",
        "p2p_cache_shape": True,
        "enable_partial_send_recv": True,
    },
    "qat_configs": {
        "channel_wise_abs_max": True,
        "weight_bits": 8,
        "activation_bits": 8,
        "not_quant_pattern": [],
        "algo": "",
    },
    "recompute_configs": {
        "checkpoints": [],
        "enable_offload": False,
        "checkpoint_shape": [],
        "enable_tuning": False,
        "refined_ops_patterns": [],
    },
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB",
        "segment_broadcast_MB": 32.0,
        "segment_anchors": [],
        "sharding_degree": 8,
        "mp_degree": 1,
        "dp_degree": 1,
        "hybrid_dp": False,
        "gradient_merge_acc_step": 1,
        "optimize_offload": False,
        "pp_allreduce_in_optimize": False,
        "pp_degree": 1,
        "optimize_cast": False,
        "_dp_as_optimizer_sharding": False,
        "stage": 1,
        "enable_tuning": False,
        "use_calc_stream": False,
    },
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "trainer_desc_configs": {
        "dump_fields_path": "",
        "dump_fields": [],
        "dump_param": [],
        "stat_var_names": [],
        "trainer": "",
        "device_worker": "",
        "local_sparse": [],
        "remote_sparse": [],
    },
}
# Columns: as in GIVEN. IS: what it was before.
FLAGS: dict[str, list[Any]] = {
    "amp": [IS, IS, IS, IS, IS, IS, IS, IS, IS, True, False, IS],
    "a_sync": [V, V, V, V, V, V, V, V, V, True, False, V],
    "adam_d2sum": [V, V, V, V, V, V, V, V, V, True, False, V],
    "fp16_allreduce": [T, T, T, T, T, T, T, T, T, True, False, T],
    "nccl_comm_num": [IS, 1, -1, 0, IS, IS, IS, IS, IS, 1, 0, IS],
    "_fuse_grad_size_in_TFLOPS": [IS, IS, IS, IS, 1.5, IS, IS, IS, IS, IS, IS, IS],
    "last_comm_group_size_MB": [T, 1.0, V, V, 1.5, T, T, T, T, 1.0, V, T],
    "build_strategy": [A] * 12,
    "execution_strategy": [A] * 12,
    "a_sync_configs": [T, T, T, T, T, K, IS, IS, K, T, T, T],
    "sparse_table_configs": [IS, T, T, IS, T, T, IS, IS, T, T, IS, T],
}
# Of a list, the letters of a text and the keys of a dict are taken there, and refused here.
KEYS: dict[str, list[Any]] = {
    "int": [T, 1, -1, 0, T, T, T, T, T, 1, 0, T],
    "bool": [T, True, True, False, T, T, T, T, T, True, False, T],
    "float": [T, 1.0, -1.0, 0.0, 1.5, T, T, T, T, 1.0, 0.0, T],
    "str": [T, T, T, T, T, "x", T, T, T, T, T, T],
    "list": [[], T, T, [], T, T, [], [], T, T, [], T],
}


def _outcome(name: str, value: Any, key: str = "") -> Any:
    made = DistributedStrategy()
    before = getattr(made, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            setattr(made, name, {key: value} if key else value)
        except Exception as error:
            return error
    read = getattr(made, name)
    return read[key] if key else IS if read == before and type(read) is type(before) else read


def _check(found: Any, expected: Any, what: str) -> None:
    if isinstance(expected, type):
        assert isinstance(found, expected) and what.partition("[")[0].strip("_") in str(found), what
    else:
        assert (found, type(found)) == (expected, type(expected)), what


def test_all_fields_begin_as_upstreams() -> None:
    made = DistributedStrategy()
    assert {name: getattr(made, name) for name in (*ON, *OFF)} == dict.fromkeys(ON, True) | dict.fromkeys(
        OFF, False
    )
    assert {name: getattr(made, name) for name in NUMBERS} == NUMBERS
    assert {name: getattr(made, name) for name in GROUPS} == GROUPS
    built, run = made.build_strategy, made.execution_strategy
    assert (built.fuse_broadcast_ops, built.enable_inplace, built.fuse_bn_add_act_ops) == (False, False, True)
    assert (run.num_threads, run.num_iteration_per_drop_scope, run.num_iteration_per_run) == (1, 10, 1)


@pytest.mark.parametrize("name", FLAGS)
def test_fields_take_and_refuse_what_upstreams_do(name: str) -> None:
    usual = getattr(DistributedStrategy(), name)
    for (label, value), expected in zip(GIVEN.items(), FLAGS[name], strict=True):
        unchanged = not isinstance(expected, type) and expected == usual and type(expected) is type(usual)
        _check(_outcome(name, value), IS if unchanged else expected, f"{name}[{label}]")


def test_all_flags_and_numbers_take_what_the_others_of_their_type_take() -> None:
    for name in (*ON, *OFF, *NUMBERS):
        kind = type(getattr(DistributedStrategy(), name))
        row = FLAGS[name if name in FLAGS else "amp" if kind is bool else "nccl_comm_num"]
        for (label, value), expected in zip(GIVEN.items(), row, strict=True):
            found = _outcome(name, value)
            if isinstance(expected, type):
                assert isinstance(found, expected), (name, label)
            elif expected is not IS:
                assert found in (expected, IS), (name, label)
            else:
                assert found is IS, (name, label)


@pytest.mark.parametrize("name", GROUPS)
def test_keys_of_groups_take_and_refuse_what_upstreams_do(name: str) -> None:
    for (label, value), expected in zip(GIVEN.items(), FLAGS["a_sync_configs"], strict=True):
        _check(_outcome(name, value), expected, f"{name}[{label}]")
    for key, usual in GROUPS[name].items():
        if isinstance(usual, dict) or key == "refined_ops_patterns":
            continue
        row = KEYS[type(usual).__name__]
        for (label, value), expected in zip(GIVEN.items(), row, strict=True):
            _check(_outcome(name, value, key), expected, f"{name}[{key}]: {label}")


def test_lists_are_of_one_type_and_groups_within_groups_have_their_own_keys() -> None:
    made = DistributedStrategy()
    made.recompute_configs = {"checkpoints": ("a", "b"), "checkpoint_shape": [True, 2]}
    assert (made.recompute_configs["checkpoints"], made.recompute_configs["checkpoint_shape"]) == (
        ["a", "b"],
        [1, 2],
    )
    made.recompute_configs["checkpoints"].append("c")
    assert made.recompute_configs["checkpoints"] == ["a", "b"]
    made.recompute_configs = {"refined_ops_patterns": [{"main_ops": ["mul"], "num": 2}]}
    assert made.recompute_configs["refined_ops_patterns"][0]["num"] == 2
    made.hybrid_configs = {"mp_configs": {"sync_param": False}, "order": ["dp", "mp"]}
    assert made.hybrid_configs["mp_configs"].sync_param is False
    assert made.hybrid_configs["mp_configs"].sync_mode == "broadcast"
    for given in ({"checkpoints": [1]}, {"checkpoint_shape": [1.5]}, {"refined_ops_patterns": [1]}):
        with pytest.raises(MistypedConfig, match=r"recompute_configs\['.*'\]\[0\]|is a dict"):
            made.recompute_configs = given
    with pytest.raises(UnknownConfig, match=r"\['pp_configs'\] has no key 'timer'"):
        made.hybrid_configs = {"pp_configs": {"timer": True}}
    with pytest.raises(AttributeError, match="this group has no 'url'; it has uri, user"):
        _ = made.fs_client_param.url
