"""What a DistributedStrategy has: names and defaults, as upstream's message. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FLAGS: Mapping[str, Any] = {
    "amp": False,
    "recompute": False,
    "localsgd": False,
    "dgc": False,
    "gradient_merge": False,
    "lars": False,
    "lamb": False,
    "pipeline": False,
    "elastic": False,
    "auto": False,
    "a_sync": True,
    "sync_nccl_allreduce": True,
    "nccl_comm_num": 1,
    "use_hierarchical_allreduce": False,
    "hierarchical_allreduce_inter_nranks": 1,
    "sync_batch_norm": False,
    "fuse_all_reduce_ops": True,
    "fuse_grad_size_in_MB": 32,
    "fuse_grad_size_in_TFLOPS": 50.0,
    "calc_comm_same_stream": False,
    "cudnn_exhaustive_search": False,
    "conv_workspace_size_limit": 512,
    "cudnn_batchnorm_spatial_persistent": False,
    "adaptive_localsgd": False,
    "fp16_allreduce": False,
    "sharding": False,
    "last_comm_group_size_MB": 1.0,
    "find_unused_parameters": False,
    "heter_ccl_mode": False,
    "without_graph_optimization": True,
    "adam_d2sum": False,
    "asp": False,
    "auto_search": False,
    "fuse_grad_merge": False,
    "fuse_grad_size_in_num": 8,
    "is_fl_ps_mode": False,
    "is_with_coordinator": False,
    "qat": False,
    "semi_auto": False,
    "split_data": True,
    "tensor_parallel": False,
}
# Those that would train something else, and are not built.
OTHERWISE = (
    *("localsgd", "dgc", "gradient_merge", "lars", "lamb", "pipeline", "elastic", "adaptive_localsgd"),
    *("fp16_allreduce", "sharding", "asp", "auto_search", "is_fl_ps_mode", "is_with_coordinator", "qat"),
    *("semi_auto", "tensor_parallel"),
)
# Groups that would, where this is set in them.
UNBUILT = {
    "fs_client_param": ("uri",),
}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
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
    "recompute_configs": {
        "checkpoints": [],
        "enable_offload": False,
        "checkpoint_shape": [],
        "enable_tuning": False,
        "refined_ops_patterns": [],
    },
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
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "lars_configs": {
        "lars_coeff": 0.001,
        "lars_weight_decay": 0.0005,
        "epsilon": 0.0,
        "exclude_from_weight_decay": [],
    },
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "pipeline_configs": {
        "micro_batch_size": 1,
        "accumulate_steps": 1,
        "schedule_mode": "1F1B",
        "p2p_cache_shape": True,
        "enable_partial_send_recv": True,
    },
    "trainer_desc_configs": {
        "dump_fields_path": "",
        "dump_fields": [],
        "dump_param": [],
        "stat_var_names": [],
        "local_sparse": [],
        "remote_sparse": [],
        "trainer": "",
        "device_worker": "",
    },
    "fs_client_param": {"uri": "", "user": "", "passwd": "", "hadoop_bin": ""},
    "sparse_table_configs": {},
    "fleet_desc_configs": {},
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
    "qat_configs": {
        "channel_wise_abs_max": True,
        "weight_bits": 8,
        "activation_bits": 8,
        "not_quant_pattern": [],
        "algo": "",
    },
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB",
        "segment_broadcast_MB": 32.0,
        "segment_anchors": [],
        "sharding_degree": 8,
        "mp_degree": 1,
        "dp_degree": 1,
        "pp_degree": 1,
        "hybrid_dp": False,
        "gradient_merge_acc_step": 1,
        "optimize_offload": False,
        "optimize_cast": False,
        "pp_allreduce_in_optimize": False,
        "stage": 1,
        "enable_tuning": False,
        "use_calc_stream": False,
        "_dp_as_optimizer_sharding": False,
    },
}
# What options of graphs begin with in a strategy, where that is not what they begin with alone.
BEGINS: Mapping[str, Mapping[str, Any]] = {
    "build_strategy": {"fuse_broadcast_ops": False, "enable_inplace": False},
    "execution_strategy": {"num_threads": 1, "num_iteration_per_drop_scope": 10},
}
# Keys that other releases than 2.6 have, or that it takes and does not show.
OLDER: Mapping[str, Mapping[str, Any]] = {
    "pipeline_configs": {"micro_batch": 1},
    "sharding_configs": {"fuse_broadcast_MB": 32.0},
    "hybrid_configs": {"order": ["dp", "pp", "sharding", "sep", "mp"]},
}
# What lists are of, where that is not texts.
ITEMS: Mapping[str, Any] = {
    "checkpoint_shape": 0,
    "sparsity": 0.0,
    "refined_ops_patterns": {"main_ops": [], "num": 0, "pre_ops": [], "suf_ops": []},
}
# What is of no effect here, and is told where a program has set it.
IDLE = tuple(name for name in FLAGS if name not in (*OTHERWISE, "a_sync", "auto"))
IDLE_CONFIGS = tuple(
    key for key in CONFIGS["a_sync_configs"] if key not in ("k_steps", "max_merge_var_num", "lr_decay_steps")
)
