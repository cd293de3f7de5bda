"""Config: which model a predictor computes, and how: ``AnalysisConfig`` of 1.x, ``Config`` of 2.x.

It must never read a file before a predictor is made. Guarantee: what a wheel for CPUs takes is taken, and
what it refuses is refused; settings change how a wheel computes, and here no number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument
from paddle._program.predicting.kinds import PrecisionType
from paddle._program.predicting.model import Model, read_files, read_folder, read_memory

_IDLE = """
    collect_shape_range_info delete_pass disable_mkldnn_fc_passes disable_onnxruntime enable_lite_engine
    enable_memory_optim enable_mkldnn_bfloat16 enable_mkldnn_int8 enable_new_executor enable_opencl
    enable_ort_optimization enable_profile enable_save_optim_model enable_tensorrt_dla
    enable_tensorrt_explicit_quantization enable_tensorrt_inspector enable_tensorrt_memory_optim
    enable_tensorrt_varseqlen exp_disable_mixed_precision_ops exp_disable_tensorrt_ops
    exp_enable_mixed_precision_ops mark_trt_engine_outputs set_bfloat16_op set_ipu_config set_ipu_custom_info
    set_mkldnn_cache_capacity set_mkldnn_op set_optim_cache_dir set_tensorrt_optimization_level
    set_trt_dynamic_shape_info switch_ir_debug
    """.split()  # noqa: SIM905  read in columns
"""Settings that are taken, change nothing here, and are not asked for."""

_TOLD = {
    "enable_use_gpu": "there is no GPU",
    "enable_onnxruntime": "models are not computed by ONNX Runtime",
    "exp_enable_use_cutlass": "CUTLASS is of GPUs",
}
"""Those that a wheel for CPUs takes with an error in its log, and then computes on the CPU."""

_REFUSED = {
    "enable_tensorrt_engine": "TensorRT is of GPUs",
    "enable_xpu": "there is no XPU",
    "set_xpu_device_id": "there is no XPU",
    "set_xpu_config": "there is no XPU",
    "enable_ipu": "there is no IPU",
    "load_ipu_config": "there is no IPU",
    "enable_custom_device": "there is no other device",
    "enable_dlnne": "there is no other device",
    "enable_low_precision_io": "inputs and outputs of 16 bits are of GPUs",
    "enable_quantizer": "numbers of 8 bits are not computed with",
}

_NEVER = """
    lite_engine_enabled mkldnn_int8_enabled onnxruntime_enabled shape_range_info_collected
    tensorrt_dla_enabled tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
    tensorrt_explicit_quantization_enabled tensorrt_inspector_enabled tensorrt_varseqlen_enabled
    trt_allow_build_at_runtime tuned_tensorrt_dynamic_shape use_gpu use_opencl use_xpu
    """.split()  # noqa: SIM905
"""Questions whose answer is no, on a CPU."""


class Config:
    """``Config()``; ``Config(folder)``, with ``__model__`` and a file for each variable; ``Config(program,
    values)``, two files; or a copy of another one."""

    Precision = PrecisionType
    _MKLDNN = True  # whether oneDNN is meant to compute where nobody says

    def __init__(self, *model: Any) -> None:
        self._folder = self._program = self._values = ""
        self._memory: tuple[bytes, bytes] | None = None
        self._said: dict[str, Any] = {
            "ir_optim": True,
            "use_feed_fetch_ops": True,
            "specify_input_name": False,
            "glog_info_disabled": False,
            "mkldnn": self._MKLDNN,
            "threads": 1,
        }
        if len(model) == 1 and isinstance(model[0], Config):
            vars(self).update({**vars(model[0]), "_said": dict(model[0]._said)})
        elif model:
            self.set_model(*model)

    # Which model.

    def set_model(self, *model: str) -> None:
        """The folder of a model, or its program's file and that of its values."""
        if len(model) not in (1, 2) or not all(isinstance(each, str) for each in model):
            raise BadArgument(f"a model is a folder, or a program's file and its values', not {model!r}")
        self._folder, self._memory = (model[0], None) if len(model) == 1 else ("", None)
        if len(model) == 2:
            self._program, self._values = model

    def set_model_buffer(self, prog: bytes, prog_size: int, params: bytes, params_size: int) -> None:
        """What the two files of a model hold, and so many bytes of it."""
        self._memory = (bytes(prog)[:prog_size], bytes(params)[:params_size])

    def set_prog_file(self, path: str) -> None:
        """The program's file."""
        self._program = path

    def set_params_file(self, path: str) -> None:
        """The file of all values."""
        self._values = path

    def model_dir(self) -> str:
        """The folder, "" where there is none."""
        return self._folder

    def prog_file(self) -> str:
        """The program's file."""
        return self._program

    def params_file(self) -> str:
        """The file of all values."""
        return self._values

    def model_from_memory(self) -> bool:
        """Whether ``set_model_buffer`` gave it."""
        return self._memory is not None

    def _read(self) -> Model:
        if self._memory is not None:
            return read_memory(*self._memory)
        if self._program:
            return read_files(self._program, self._values)
        if not self._folder:
            raise BadArgument(
                "this config names no model: Config(folder), Config(program file, values' file) or "
                "set_model_buffer(...)"
            )
        return read_folder(self._folder)

    # How it is computed.

    def switch_ir_optim(self, x: Any = True) -> None:
        """Whether a wheel would rewrite the program; here plans are always made better."""
        self._said["ir_optim"] = bool(x)

    def ir_optim(self) -> bool:
        """What was said of it."""
        return bool(self._said["ir_optim"])

    def switch_use_feed_fetch_ops(self, x: Any = True) -> None:
        """Of 1.x: False where inputs are copied to."""
        self._said["use_feed_fetch_ops"] = bool(x)

    def use_feed_fetch_ops_enabled(self) -> bool:
        """What was said of it."""
        return bool(self._said["use_feed_fetch_ops"])

    def switch_specify_input_names(self, x: Any = True) -> None:
        """Of 1.x: whether tensors that are handed over go by their names, and not by their order."""
        self._said["specify_input_name"] = bool(x)

    def specify_input_name(self) -> bool:
        """What was said of it."""
        return bool(self._said["specify_input_name"])

    def set_cpu_math_library_num_threads(self, threads: int) -> None:
        """How many threads a matrix may take; it takes those that BLAS has."""
        self._said["threads"] = int(threads)

    def cpu_math_library_num_threads(self) -> int:
        """What was said of it."""
        return int(self._said["threads"])

    def disable_glog_info(self) -> None:
        """Say nothing; nothing is said."""
        self._said["glog_info_disabled"] = True

    def glog_info_disabled(self) -> bool:
        """What was said of it."""
        return bool(self._said["glog_info_disabled"])

    def enable_mkldnn(self) -> None:
        """In a wheel by oneDNN; here by the runtime's own kernels."""
        self._said["mkldnn"] = True

    def disable_mkldnn(self) -> None:
        """The opposite."""
        self._said["mkldnn"] = False

    def mkldnn_enabled(self) -> bool:
        """What was said of it."""
        return bool(self._said["mkldnn"])

    def disable_gpu(self) -> None:
        """So it is."""

    def gpu_device_id(self) -> int:
        """Of no GPU."""
        return 0

    xpu_device_id = gpu_device_id

    def memory_pool_init_size_mb(self) -> int:
        """What a GPU would begin with."""
        return 100

    def fraction_of_gpu_memory_for_pool(self) -> float:
        """The same, of no memory."""
        return 0.0

    def summary(self) -> str:
        """What is set, a line each."""
        rows = {"model_dir": self._folder, "model_file": self._program, "params_file": self._values}
        rows |= {name: str(value).lower() for name, value in self._said.items()}
        return "".join(f"{name:<24} {value}\n" for name, value in rows.items())


def _idle(name: str) -> Callable[..., None]:
    def setting(self: Config, *given: Any, **named: Any) -> None:
        self._said[name] = [*given, *named.values()] or True

    setting.__name__, setting.__doc__ = name, "It is taken, and changes nothing: see the module's text."
    return setting


def _told(name: str, why: str) -> Callable[..., None]:
    def setting(self: Config, *given: Any, **named: Any) -> None:
        tell(f"Config.{name}: {why}")

    setting.__name__, setting.__doc__ = name, f"It is taken, and {why}: the CPU computes."
    return setting


def tell(what: str) -> None:
    """Say that a setting changes nothing."""
    print(f"{what}; this release computes on CPUs, and so it does now", file=sys.stderr)


def _never(name: str) -> Callable[[Config], bool]:
    def question(self: Config) -> bool:
        return False

    question.__name__, question.__doc__ = name, "No: the CPU computes."
    return question


def _refused(name: str, why: str) -> Callable[..., None]:
    def refusal(self: Config, *given: Any, **named: Any) -> None:
        raise NotInThisRelease(
            f"Config.{name}: {why}; this release computes on CPUs, as a wheel for CPUs: leave the call out"
        )

    refusal.__name__, refusal.__doc__ = name, f"Refused: {why}."
    return refusal


for _name in _IDLE:
    setattr(Config, _name, _idle(_name))
for _name in _NEVER:
    setattr(Config, _name, _never(_name))
for _name, _why in _TOLD.items():
    setattr(Config, _name, _told(_name, _why))
for _name, _why in _REFUSED.items():
    setattr(Config, _name, _refused(_name, _why))
