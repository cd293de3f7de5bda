"""The public names of PaddlePaddle 2.x, by module, and what is said of those that are not built.

It must never import what it names. Guarantee: a listed name that a module lacks raises AbsentName, with what
there is instead where that is known; any other name is an ordinary AttributeError.
"""

from __future__ import annotations

from sys import modules

from paddle._absent import AbsentName

LISTED = {
    "paddle": """
        CPUPlace CUDAPinnedPlace CUDAPlace ComplexTensor DataParallel LazyGuard Model ParamAttr
        Tensor VarBase abs abs_ acos acos_ acosh add add_n addcmul addmm addmm_ all allclose amax
        amin angle any arange argmax argmin argsort as_complex as_real as_strided asin asinh assign
        atan atan2 atan_ atanh atleast_1d atleast_2d atleast_3d audio batch bernoulli bfloat16
        bincount bitwise_and bitwise_and_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
        bitwise_xor bitwise_xor_ bmm bool broadcast_shape broadcast_tensors broadcast_to bucketize
        cast cast_ cauchy_ cdist ceil check_shape chunk clip clone combinations compat complex
        complex128 complex64 concat conj core cos cos_ cosh cost_model count_nonzero
        create_global_var create_parameter crop crop_tensor cross cummax cummin cumprod cumprod_
        cumsum cumsum_ cumulative_trapezoid decomposition deg2rad diag diag_embed diagflat diagonal
        diagonal_scatter diff digamma digamma_ disable_signal_handler disable_static dist divide
        divide_ dot dtype einsum empty empty_like enable_grad enable_static equal equal_ equal_all
        erf erf_ erfinv exp expand expand_as expm1 expm1_ eye fft finfo flatten flip float16 float32
        float64 floor floor_divide floor_divide_ floor_mod floor_mod_ flops fluid fmax fmin frac
        frac_ frexp full full_like gather gather_nd gcd gcd_ geometric geometric_ get_cuda_rng_state
        get_default_dtype get_flags get_rng_state get_tensor_from_selected_rows grad greater_equal
        greater_equal_ greater_than greater_than_ has_inf has_nan heaviside histogram hub hypot
        hypot_ i0 i0_ i0e i1 i1e iinfo imag in_dynamic_mode increment index_add index_add_
        index_fill index_fill_ index_put index_put_ index_sample index_select inner int16 int32
        int64 int8 is_complex is_empty is_floating_point is_grad_enabled is_integer is_tensor
        isclose isfinite isinf isnan kron kthvalue lcm lcm_ ldexp ldexp_ lerp less_equal less_equal_
        less_than less_than_ lgamma lgamma_ linalg linspace load log log10 log10_ log1p log2 log2_
        log_ logaddexp logcumsumexp logical_and logical_and_ logical_not logical_not_ logical_or
        logical_or_ logical_xor logit logit_ logspace logsumexp manual_seed masked_fill masked_fill_
        masked_select matmul max maximum mean median meshgrid min minimum mm mod mod_ mode moveaxis
        multigammaln multigammaln_ multinomial multiplex multiply multiply_ mv nan_to_num
        nan_to_num_ nanmean nanmedian nanquantile nansum neg neg_ nextafter no_grad nonzero normal
        normal_ not_equal numel ones ones_like outer poisson polar polygamma polygamma_ pow pow_
        prod put_along_axis quantile quantization rad2deg rand randint randint_like randn randperm
        rank real reciprocal remainder remainder_ renorm renorm_ repeat_interleave reshape reshape_
        reverse roll rot90 round rsqrt save scale scatter scatter_ scatter_nd scatter_nd_add
        searchsorted seed select_scatter set_cuda_rng_state set_default_dtype set_flags
        set_grad_enabled set_printoptions set_rng_state sgn shape shard_index sign signal sin sin_
        sinh sinh_ slice sort sparse split sqrt square square_ squeeze squeeze_ stack
        standard_normal stanh std strided_slice subtract sum summary sysconfig t t_ take
        take_along_axis tan tan_ tanh tanh_ tensor_array tensordot tile to_tensor tolist topk trace
        transpose transpose_ trapezoid tril tril_ tril_indices triu triu_ triu_indices trunc trunc_
        uint8 unbind unflatten unfold uniform unique unique_consecutive unique_with_counts unsqueeze
        unsqueeze_ unstack vander var version view view_as vsplit where where_ zeros zeros_like
        """,
    "paddle.inference": """
        Config DataType InternalUtils PlaceType PrecisionType Predictor PredictorPool Tensor XpuConfig
        convert_to_mixed_precision create_predictor get_num_bytes_of_data_type get_trt_compile_version
        get_trt_runtime_version get_version
        """,
    "paddle.static": """
        BuildStrategy CompiledProgram ExecutionStrategy Executor ExponentialMovingAverage InputSpec
        IpuCompiledProgram IpuStrategy Print Program Scope Variable WeightNormParamAttr accuracy amp
        append_backward auc cpu_places create_global_var create_parameter ctr_metric_bundle
        cuda_places data default_main_program default_startup_program deserialize_persistables
        deserialize_program device_guard global_scope gradients ipu_shard_guard load load_from_file
        load_inference_model load_program_state name_scope nn normalize_program program_guard
        py_func quantization save save_inference_model save_to_file scope_guard
        serialize_persistables serialize_program set_ipu_shard set_program_state sparsity xpu_places
        """,
    "paddle.static.nn": """
        StaticRNN batch_norm bilinear_tensor_product case cond conv2d conv2d_transpose conv3d
        conv3d_transpose create_parameter crf_decoding data_norm deform_conv2d embedding fc
        group_norm hsigmoid instance_norm layer_norm multi_box_head nce prelu py_func row_conv
        sequence_concat sequence_conv sequence_enumerate sequence_expand sequence_expand_as
        sequence_first_step sequence_last_step sequence_pad sequence_pool sequence_reshape
        sequence_reverse sequence_scatter sequence_slice sequence_softmax sequence_unpad
        sparse_embedding spectral_norm static_pylayer switch_case while_loop
        """,
    "paddle.nn": """
        AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool2D
        AdaptiveMaxPool3D AlphaDropout AvgPool1D AvgPool2D AvgPool3D BCELoss BCEWithLogitsLoss
        BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D BeamSearchDecoder BiRNN Bilinear CELU CTCLoss
        ChannelShuffle ClipGradByGlobalNorm ClipGradByNorm ClipGradByValue Conv1D Conv1DTranspose
        Conv2D Conv2DTranspose Conv3D Conv3DTranspose CosineEmbeddingLoss CosineSimilarity
        CrossEntropyLoss Dropout Dropout2D Dropout3D ELU Embedding Flatten Fold GELU GLU GRU GRUCell
        GaussianNLLLoss GroupNorm HSigmoidLoss Hardshrink Hardsigmoid Hardswish Hardtanh
        HingeEmbeddingLoss Identity InstanceNorm1D InstanceNorm2D InstanceNorm3D KLDivLoss L1Loss
        LSTM LSTMCell Layer LayerDict LayerList LayerNorm LeakyReLU Linear LocalResponseNorm
        LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1D MaxPool2D MaxPool3D MaxUnPool1D
        MaxUnPool2D MaxUnPool3D Maxout Mish MultiHeadAttention MultiLabelSoftMarginLoss
        MultiMarginLoss NLLLoss PReLU Pad1D Pad2D Pad3D PairwiseDistance ParameterList PixelShuffle
        PixelUnshuffle PoissonNLLLoss RNN RNNCellBase RNNTLoss RReLU ReLU ReLU6 SELU Sequential
        Sigmoid Silu SimpleRNN SimpleRNNCell SmoothL1Loss SoftMarginLoss Softmax Softmax2D Softplus
        Softshrink Softsign SpectralNorm Swish SyncBatchNorm Tanh Tanhshrink ThresholdedReLU
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold
        Upsample UpsamplingBilinear2D UpsamplingNearest2D ZeroPad2D dynamic_decode quant utils
        """,
    "paddle.nn.functional": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout assign avg_pool1d
        avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
        binary_cross_entropy_with_logits celu channel_shuffle class_center_sample conv1d
        conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose cosine_embedding_loss
        cosine_similarity cross_entropy ctc_loss diag_embed dice_loss dropout dropout2d dropout3d
        elu elu_ embedding fold gather_tree gaussian_nll_loss gelu glu grid_sample gumbel_softmax
        hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss hsigmoid_loss
        instance_norm interpolate kl_div l1_loss label_smooth layer_norm leaky_relu leaky_relu_
        linear local_response_norm log_loss log_sigmoid log_softmax margin_cross_entropy
        margin_ranking_loss max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d
        maxout mish mse_loss multi_label_soft_margin_loss multi_margin_loss nll_loss normalize
        npair_loss one_hot pad pairwise_distance pixel_shuffle pixel_unshuffle poisson_nll_loss
        prelu relu relu6 relu_ rnnt_loss rrelu scaled_dot_product_attention selu sequence_mask
        sigmoid sigmoid_focal_loss silu smooth_l1_loss soft_margin_loss softmax softmax_
        softmax_with_cross_entropy softplus softshrink softsign sparse_attention square_error_cost
        swish tanh tanh_ tanhshrink temporal_shift thresholded_relu thresholded_relu_
        triplet_margin_loss triplet_margin_with_distance_loss unfold upsample zeropad2d
        """,
    "paddle.nn.initializer": """
        Assign Bilinear Constant Dirac KaimingNormal KaimingUniform Normal Orthogonal
        TruncatedNormal Uniform XavierNormal XavierUniform calculate_gain set_global_initializer
        """,
    "paddle.optimizer": """
        Adadelta Adagrad Adam AdamW Adamax LBFGS Lamb Momentum Optimizer RMSProp SGD
        """,
    "paddle.optimizer.lr": """
        CosineAnnealingDecay CosineAnnealingWarmRestarts CyclicLR ExponentialDecay InverseTimeDecay
        LRScheduler LambdaDecay LinearLR LinearWarmup MultiStepDecay MultiplicativeDecay
        NaturalExpDecay NoamDecay OneCycleLR PiecewiseDecay PolynomialDecay ReduceOnPlateau
        StepDecay
        """,
    "paddle.io": """
        BatchSampler ChainDataset ComposeDataset ConcatDataset DataLoader Dataset
        DistributedBatchSampler IterableDataset RandomSampler Sampler SequenceSampler Subset
        SubsetRandomSampler TensorDataset WeightedRandomSampler get_worker_info random_split
        """,
    "paddle.metric": """
        Accuracy Auc Metric Precision Recall accuracy
        """,
    "paddle.distributed": """
        BoxPSDataset CountFilterEntry DistAttr InMemoryDataset ParallelEnv ParallelMode Partial
        Placement ProbabilityEntry ProcessMesh QueueDataset ReduceOp ReduceType Replicate Shard
        ShowClickEntry Strategy all_gather all_gather_object all_reduce alltoall alltoall_single
        auto_parallel barrier broadcast broadcast_object_list cloud_utils destroy_process_group
        dtensor_from_fn gather get_backend get_group get_rank get_world_size gloo_barrier
        gloo_init_parallel_env gloo_release init_parallel_env io irecv is_available is_initialized
        isend launch load_state_dict new_group parallel passes ps recv reduce reduce_scatter reshard
        rpc save_state_dict scatter scatter_object_list send shard_layer shard_optimizer
        shard_tensor sharding spawn split to_static utils wait
        """,
    "paddle.distributed.fleet": """
        BoxPSDataset CommunicateTopology DatasetBase DistributedStrategy FileInstantDataset Fleet
        HybridCommunicateGroup InMemoryDataset MultiSlotDataGenerator MultiSlotStringDataGenerator
        PaddleCloudRoleMaker QueueDataset Role UserDefinedRoleMaker UtilBase all_reduce amp_init
        auto barrier_worker check_save_pre_patch_done clear_grad cloud_utils collective_perf
        distributed_model distributed_optimizer distributed_scaler elastic fleet get_fl_client
        get_hybrid_communicate_group get_hybrid_parallel_topology get_log_level_code
        get_log_level_name get_lr init init_coordinator init_server init_worker is_coordinator
        is_first_worker is_server is_worker layers load_inference_model load_model load_one_table
        local_device_ids local_rank log_util make_fl_strategy meta_optimizers meta_parallel metrics
        minimize node_num nranks rank rank_in_node recompute run_server runtime save
        save_cache_model save_cache_table save_dense_params save_inference_model save_one_table
        save_persistables scaler server_endpoints server_index server_num set_date set_log_level
        set_lr set_state_dict shrink state_dict step stop_worker util worker_endpoints worker_index
        worker_num world_device_ids world_size
        """,
    "paddle.distributed.fleet.utils": """
        DistributedInfer HDFSClient LocalFS recompute
        """,
    "paddle.text": """
        Conll05st Imdb Imikolov Movielens UCIHousing ViterbiDecoder WMT14 WMT16 viterbi_decode
        """,
    "paddle.vision": """
        LeNet datasets get_image_backend image_load models ops set_image_backend transforms
        """,
    "paddle.vision.datasets": """
        Cifar10 Cifar100 DatasetFolder FashionMNIST Flowers ImageFolder MNIST VOC2012
        """,
    "paddle.vision.models": """
        AlexNet DenseNet GoogLeNet InceptionV3 LeNet MobileNetV1 MobileNetV2 MobileNetV3Large
        MobileNetV3Small ResNet ShuffleNetV2 SqueezeNet VGG alexnet densenet121 densenet161 densenet169
        densenet201 densenet264 googlenet inception_v3 mobilenet_v1 mobilenet_v2 mobilenet_v3_large
        mobilenet_v3_small resnet101 resnet152 resnet18 resnet34 resnet50 resnext101_32x4d
        resnext101_64x4d resnext152_32x4d resnext152_64x4d resnext50_32x4d resnext50_64x4d
        shufflenet_v2_swish shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5 shufflenet_v2_x1_0
        shufflenet_v2_x1_5 shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 vgg11 vgg13 vgg16 vgg19
        wide_resnet101_2 wide_resnet50_2
        """,
    "paddle.vision.ops": """
        ConvNormActivation DeformConv2D PSRoIPool RoIAlign RoIPool box_coder decode_jpeg deform_conv2d
        distribute_fpn_proposals generate_proposals matrix_nms nms prior_box psroi_pool read_file roi_align
        roi_pool yolo_box yolo_loss
        """,
    "paddle.vision.transforms": """
        BaseTransform BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform Grayscale
        HueTransform Normalize Pad RandomAffine RandomCrop RandomErasing RandomHorizontalFlip
        RandomPerspective RandomResizedCrop RandomRotation RandomVerticalFlip Resize SaturationTransform
        ToTensor Transpose adjust_brightness adjust_contrast adjust_hue affine center_crop crop erase
        hflip normalize pad perspective resize rotate to_grayscale to_tensor vflip
        """,
    "paddle.static.amp": """
        AutoMixedPrecisionLists CustomOpLists bf16 cast_model_to_fp16 cast_parameters_to_fp16 debugging
        decorate fp16_guard
        """,
    "paddle.utils": """
        deprecated require_version run_check try_import
        """,
    "paddle.device": """
        Event IPUPlace Stream XPUPlace current_stream get_all_custom_device_type get_all_device_type
        get_available_custom_device get_available_device get_cudnn_version get_device
        is_compiled_with_cinn is_compiled_with_cuda is_compiled_with_custom_device
        is_compiled_with_distribute is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu
        set_device set_stream stream_guard synchronize
        """,
    "paddle.regularizer": """
        L1Decay L2Decay
        """,
}
"""Those of 2.0, and of the releases after it up to 2.6, by module."""

_IN_PLACE = (
    "it changes a tensor in its place, and programs are static here: take the one without _ at its end"
)


def missing(module: str, name: str, why: str = "") -> AttributeError:
    """What to raise where ``module`` lacks a name. ``why``: what is known of it."""
    if why or name in LISTED[module].split():
        needs = why or (_IN_PLACE if name.endswith("_") else "it is not built")
        return AbsentName(f"{module}.{name} is not in this release: {needs}.")
    return AttributeError(f"{module}.{name} does not exist", name=name, obj=modules.get(module))
