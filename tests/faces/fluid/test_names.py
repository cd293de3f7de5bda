"""Every name that fluid 0.14 lists is built, or says that it is not; none is silently missing."""

from __future__ import annotations

import importlib

import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease

# What ``__all__`` of release 0.14 lists, and what later releases up to 1.8 added that programs use.
NAMES = {
    "paddle.fluid": """
        Program Variable Operator Block Parameter default_startup_program default_main_program
        program_guard get_var Executor global_scope scope_guard fetch_var Go make_channel
        channel_send channel_recv channel_close Select Trainer BeginEpochEvent EndEpochEvent
        BeginStepEvent EndStepEvent CheckpointConfig Inferencer DistributeTranspiler
        DistributeTranspilerConfig InferenceTranspiler memory_optimize release_memory HashName
        RoundRobin ParallelExecutor ExecutionStrategy BuildStrategy create_lod_tensor
        create_random_int_lodtensor ParamAttr WeightNormParamAttr DataFeeder LoDTensor
        LoDTensorArray CPUPlace CUDAPlace CUDAPinnedPlace Tensor io initializer layers nets
        optimizer learning_rate_decay backward regularizer clip profiler unique_name recordio_writer
        average metrics evaluator core contrib transpiler CompiledProgram DataFeedDesc
        DatasetFactory data embedding one_hot name_scope cpu_places cuda_places in_dygraph_mode
        is_compiled_with_cuda require_version device_guard dygraph save load gradients install_check
        incubate Scope AsyncExecutor set_flags get_flags executor framework
        """,
    "paddle.fluid.io": """
        save_vars save_params save_persistables load_vars load_params load_persistables
        save_inference_model load_inference_model get_inference_program save_checkpoint
        load_checkpoint clean_checkpoint load_persist_vars_without_grad
        save_persist_vars_without_grad get_latest_checkpoint_serial get_parameter_value
        get_parameter_value_by_name load_program_state set_program_state save load batch shuffle
        buffered map_readers chain compose firstn xmap_readers cache PyReader DataLoader
        """,
    "paddle.fluid.metrics": """
        MetricBase CompositeMetric Precision Recall Accuracy ChunkEvaluator EditDistance
        DetectionMAP Auc
        """,
    "paddle.fluid.average": "WeightedAverage",
    "paddle.fluid.evaluator": "ChunkEvaluator EditDistance DetectionMAP",
    "paddle.fluid.profiler": "cuda_profiler reset_profiler profiler start_profiler stop_profiler",
    "paddle.fluid.unique_name": "generate guard switch",
    "paddle.fluid.learning_rate_decay": """
        exponential_decay natural_exp_decay inverse_time_decay polynomial_decay piecewise_decay
        noam_decay
        """,
    "paddle.fluid.backward": "append_backward calc_gradient gradients",
    "paddle.fluid.optimizer": """
        SGD Momentum Adagrad Adam Adamax DecayedAdagrad Ftrl RMSProp Adadelta ModelAverage
        SGDOptimizer MomentumOptimizer AdagradOptimizer AdamOptimizer AdamaxOptimizer
        DecayedAdagradOptimizer FtrlOptimizer RMSPropOptimizer AdadeltaOptimizer LambOptimizer
        LarsMomentumOptimizer
        """,
    "paddle.fluid.initializer": """
        Constant Uniform Normal Xavier Bilinear MSRA TruncatedNormal NumpyArrayInitializer
        ConstantInitializer UniformInitializer NormalInitializer XavierInitializer MSRAInitializer
        force_init_on_cpu init_on_cpu
        """,
    "paddle.fluid.regularizer": """
        L1Decay L2Decay L1DecayRegularizer L2DecayRegularizer append_regularization_ops
        """,
    "paddle.fluid.clip": """
        ErrorClipByValue GradientClipByValue GradientClipByNorm GradientClipByGlobalNorm
        set_gradient_clip append_gradient_clip_ops
        """,
    "paddle.fluid.nets": """
        simple_img_conv_pool sequence_conv_pool glu scaled_dot_product_attention img_conv_group
        """,
    "paddle.fluid.core": """
        CPUPlace CUDAPlace CUDAPinnedPlace Scope LoDTensor LoDTensorArray EOFException VarDesc
        is_compiled_with_cuda get_cuda_device_count ProgramDesc OpRole SelectedRows AnalysisConfig
        """,
    "paddle.fluid.framework": """
        Program Block Operator Variable Parameter default_main_program default_startup_program
        program_guard switch_main_program switch_startup_program in_dygraph_mode
        convert_np_dtype_to_dtype_ grad_var_name get_var name_scope cpu_places
        """,
    "paddle.fluid.executor": "Executor global_scope scope_guard as_numpy fetch_var",
    "paddle.fluid.contrib": """
        Trainer Inferencer memory_usage op_freq_statistic InitState StateCell TrainingDecoder
        QuantizeTranspiler BeamSearchDecoder mixed_precision extend_with_decoupled_weight_decay
        HDFSClient layers
        """,
    "paddle.fluid.transpiler": """
        DistributeTranspiler DistributeTranspilerConfig InferenceTranspiler memory_optimize
        release_memory HashName RoundRobin
        """,
    "paddle.fluid.layers": """
        data fc mean square_error_cost cross_entropy embedding accuracy dynamic_lstm batch_norm
        concat DynamicRNN sequence_last_step sequence_first_step sequence_pool sums conv2d pool2d
        cos_sim dropout elementwise_add exponential_decay linear_chain_crf scale sigmoid tanh
        crf_decoding While array_write array_read array_length create_array topk sequence_expand
        lod_reset beam_search beam_search_decode ParallelDo get_places auc log_loss matmul
        reduce_sum reduce_mean elementwise_sub elementwise_mul elementwise_div elementwise_max
        reshape l2_normalize sigmoid_cross_entropy_with_logits fill_constant
        fill_constant_batch_size_like create_py_reader_by_data py_reader read_file sequence_reshape
        sequence_expand_as bpr_loss dynamic_gru softsign less_than cast expand piecewise_decay
        softmax relu StaticRNN IfElse Switch increment assign create_global_var create_parameter
        create_tensor chunk_eval edit_distance nce hsigmoid warpctc ctc_greedy_decoder im2sequence
        one_hot lstm_unit gru_unit dynamic_lstmp sequence_conv sequence_softmax sequence_concat
        softmax_with_cross_entropy smooth_l1 transpose split Print py_func multi_box_head
        detection_output prior_box ssd_loss cosine_decay linear_lr_warmup autoincreased_step_counter
        double_buffer batch shuffle open_recordio_file open_files ListenAndServ Send Recv
        """,
}


@pytest.mark.parametrize("module", NAMES)
def test_a_name_is_built_or_says_that_it_is_not(module: str) -> None:
    silent = []
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        assert f"{module} is not in this release" in str(error)
        return
    for name in NAMES[module].split():
        try:
            getattr(found, name)
        except NotInThisRelease as error:
            assert name in str(error)
        except AttributeError as error:
            silent.append(f"{name}: {error}")
    assert not silent, "\n".join(silent)


def test_a_layer_is_found_in_the_module_that_upstream_had_it_in() -> None:
    from paddle.fluid.layers import control_flow, nn, ops, tensor
    from paddle.fluid.layers.learning_rate_scheduler import _decay_step_counter

    assert nn.reduce_mean is fluid.layers.reduce_mean
    assert (ops.sqrt, tensor.cast, nn.cos_sim) == (fluid.layers.sqrt, fluid.layers.cast, fluid.layers.cos_sim)
    assert control_flow.increment is fluid.layers.increment
    assert _decay_step_counter().shape == (1,)
    with pytest.raises(NotInThisRelease, match=r"fluid\.layers\.lstm is not in this release"):
        _ = nn.lstm
    with pytest.raises(AttributeError, match=r"reduce_maen does not exist; did you mean reduce_mean"):
        _ = nn.reduce_maen


def test_what_is_told_of_absent_names_is_told_of_no_name_that_is_there() -> None:
    from paddle.fluid._listed import _INSTEAD, LISTED

    listed = {name: module for module, names in LISTED.items() for name in names.split()}
    homes = {name: importlib.import_module(f"paddle.fluid.{module}") for name, module in listed.items()}
    assert [name for name in _INSTEAD if name not in homes or hasattr(homes[name], name)] == []


def test_a_name_that_nobody_has_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match=r"paddle\.fluid\.nowhere does not exist"):
        _ = fluid.nowhere
    with pytest.raises(NotInThisRelease, match=r"programs are static"):
        _ = fluid.dygraph
    assert not hasattr(fluid, "dygraph")


def test_the_readers_and_data_sets_of_later_programs_are_those_of_paddle() -> None:
    import paddle

    assert fluid.io.batch is paddle.batch
    assert fluid.io.shuffle is paddle.reader.shuffle
    assert callable(paddle.dataset.uci_housing.train)
    from paddle.utils.plot import Ploter

    assert Ploter is paddle.v2.plot.Ploter
