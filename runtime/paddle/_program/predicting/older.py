"""Predictors of fluid 1.x: tensors are handed over (``PaddleTensor``), or copied to (``ZeroCopyTensor``).

They must never know a file. Guarantee: inputs go by their names where a config says so, else by their order;
a ``PaddleTensor`` keeps what it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument
from paddle._program.predicting.config import Config, tell
from paddle._program.predicting.kinds import Kind
from paddle._program.predicting.model import Model, read_files, read_folder
from paddle._program.predicting.predictor import Runner
from paddle._program.predicting.tensor import Tensor
from paddle._program.running.lod_tensor import LoDTensor


class PaddleDType(Kind):
    """What a PaddleTensor holds."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2


class PaddlePlace(Kind):
    """Where a tensor lies: the CPU."""

    UNK = -1
    CPU = 0
    GPU = 1


_NUMPY: dict[PaddleDType, np.dtype[Any]] = {
    PaddleDType.FLOAT32: np.dtype(np.float32),
    PaddleDType.INT64: np.dtype(np.int64),
    PaddleDType.INT32: np.dtype(np.int32),
}
_KINDS = {dtype: kind for kind, dtype in _NUMPY.items()}
_NAMED = {dtype.name: dtype for dtype in _KINDS}


def paddle_dtype_size(dtype: PaddleDType) -> int:
    """How many bytes one number takes."""
    return _NUMPY[PaddleDType(dtype)].itemsize


class PaddleBuf:
    """Numbers one after another: of an array, a list of float, or room for so many bytes."""

    def __init__(self, data: Any = 0) -> None:
        self.reset(data)

    def reset(self, data: Any) -> None:
        """Hold a copy of other numbers."""
        if isinstance(data, int) and not isinstance(data, bool):
            self._bytes = np.zeros(data, np.uint8)
            return
        array = np.asarray(data, np.float32) if isinstance(data, list | tuple) else data
        self._bytes = np.frombuffer(_supported(array).tobytes(), np.uint8).copy()

    def resize(self, length: int) -> None:
        """Have room for so many bytes; those that fit stay."""
        self._bytes = (
            np.resize(self._bytes, length)
            if length <= len(self._bytes)
            else np.pad(self._bytes, (0, length - len(self._bytes)))
        )

    def length(self) -> int:
        """In bytes."""
        return len(self._bytes)

    def empty(self) -> bool:
        """Whether it has no room."""
        return not len(self._bytes)

    def array(self, dtype: np.dtype) -> np.ndarray:
        """Its bytes, read as such numbers."""
        whole = len(self._bytes) // dtype.itemsize * dtype.itemsize
        return self._bytes[:whole].view(dtype)

    def float_data(self) -> list[float]:
        """Its bytes, read as float32."""
        return self.tolist("float32")

    def int32_data(self) -> list[int]:
        """Its bytes, read as int32."""
        return self.tolist("int32")

    def int64_data(self) -> list[int]:
        """Its bytes, read as int64."""
        return self.tolist("int64")

    def tolist(self, dtype: str) -> list[Any]:
        """Its bytes, read as float32, int32 or int64."""
        if dtype not in _NAMED:
            raise BadArgument(f"PaddleBuf.tolist: {dtype!r} is none of {', '.join(_NAMED)}")
        found: list[Any] = self.array(_NAMED[dtype]).tolist()
        return found


class PaddleTensor:
    """An array of float32, int64 or int32 with a name. ``lod``: offsets, level by level."""

    def __init__(
        self, data: Any = None, name: str = "", lod: Sequence[Sequence[int]] = (), copy: bool = True
    ) -> None:
        self.name, self.lod = name, [list(level) for level in lod]
        array = np.zeros(0, np.float32) if data is None else _supported(data)
        self.shape = [] if data is None else list(array.shape)
        self.dtype, self.data = _KINDS[array.dtype], PaddleBuf(array)

    def as_ndarray(self) -> np.ndarray:
        """Its numbers, in its shape."""
        return self.data.array(_NUMPY[PaddleDType(self.dtype)]).reshape(self.shape).copy()


class AnalysisConfig(Config):
    """A model, and how it is computed: see Config. What 1.8 has for CPUs differs from 2.x in two places."""

    _MKLDNN = False

    def enable_tensorrt_engine(self, *given: Any, **named: Any) -> None:
        """There is no GPU: 1.8 says so and goes on, where 2.x refuses."""
        tell("AnalysisConfig.enable_tensorrt_engine: TensorRT is of GPUs")


class NativeConfig:
    """A model's folder (``model_dir``), or its files. ``use_gpu`` is refused when a predictor is made."""

    def __init__(self) -> None:
        self.model_dir = self.prog_file = self.param_file = ""
        self.use_gpu = False
        self.device = 0
        self.fraction_of_gpu_memory = -1.0
        self.specify_input_name = False
        self._threads = 1

    def cpu_math_library_num_threads(self) -> int:
        """What was said of threads."""
        return self._threads

    def set_cpu_math_library_num_threads(self, cpu_math_library_num_threads: int) -> None:
        """Say how many threads a matrix may take; it takes those that BLAS has."""
        self._threads = int(cpu_math_library_num_threads)


class PaddlePredictor(Runner):
    """What both predictors answer."""

    def __init__(self, model: Model, by_name: bool) -> None:
        super().__init__(model)
        self._by_name = by_name

    def run(self, inputs: Sequence[PaddleTensor]) -> list[PaddleTensor]:
        """What the model makes of as many tensors as it has inputs."""
        names = self.get_input_names()
        if len(inputs) != len(names):
            raise BadArgument(
                f"the model has {len(names)} inputs ({', '.join(names)}), and run is given {len(inputs)}"
            )
        if self._by_name:
            given = {each.name: each for each in inputs}
        else:
            given = dict(zip(names, inputs, strict=True))
        if unknown := [repr(name) for name in given if name not in names]:
            raise BadArgument(f"{', '.join(unknown)}: no input of the model, which has {', '.join(names)}")
        found = self._computed({name: LoDTensor(each.as_ndarray(), each.lod) for name, each in given.items()})
        return [_tensor(name, each) for name, each in zip(self.get_output_names(), found, strict=True)]

    def get_input_tensor(self, name: str) -> ZeroCopyTensor:
        """The input of that name, to copy to."""
        return ZeroCopyTensor(self._handle(name, self._inputs, "input"))

    def get_output_tensor(self, name: str) -> ZeroCopyTensor:
        """The output of that name, to copy from."""
        return ZeroCopyTensor(self._output(name))

    def zero_copy_run(self) -> bool:
        """Compute the outputs of what was copied to the inputs."""
        self._run()
        return True

    def clone(self) -> PaddlePredictor:
        """Another one of the same values, for another thread."""
        return type(self)(self._model, self._by_name)

    def get_serialized_program(self) -> bytes:
        """The program, as a file holds it."""
        return bytes(self._model.program.serialize_to_string())


class NativePaddlePredictor(PaddlePredictor):
    """That of a NativeConfig."""


class AnalysisPredictor(PaddlePredictor):
    """That of an AnalysisConfig."""

    def get_input_tensor_shape(self) -> dict[str, list[int]]:
        """The sizes that the program declares of each input, -1 where any will do."""
        block = self._model.program.global_block()
        return {name: list(block.var(name).shape) for name in self.get_input_names()}


class ZeroCopyTensor:
    """An input or output of a predictor, as 1.x says it."""

    def __init__(self, handle: Tensor) -> None:
        self._handle = handle
        for name in ("reshape", "shape", "lod", "set_lod", "copy_from_cpu", "copy_to_cpu"):
            setattr(self, name, getattr(handle, name))

    def type(self) -> PaddleDType:
        """What it holds."""
        return PaddleDType(int(self._handle.type()))


def create_paddle_predictor(config: Any) -> PaddlePredictor:
    """A predictor of the model that a config names."""
    if isinstance(config, Config):
        return AnalysisPredictor(config._read(), config.specify_input_name())
    if not isinstance(config, NativeConfig):
        raise BadArgument(
            f"create_paddle_predictor takes a NativeConfig or an AnalysisConfig, not {type(config).__name__}"
        )
    if config.use_gpu:
        raise BadArgument("NativeConfig.use_gpu is True, and this release computes on CPUs: set it to False")
    if config.model_dir:
        return NativePaddlePredictor(read_folder(config.model_dir), config.specify_input_name)
    if not (config.prog_file and config.param_file):
        raise BadArgument("NativeConfig names no model: set model_dir, or prog_file and param_file")
    return NativePaddlePredictor(read_files(config.prog_file, config.param_file), config.specify_input_name)


def _tensor(name: str, found: LoDTensor) -> PaddleTensor:
    return PaddleTensor(np.asarray(found), name, found.lod())


def _supported(data: Any) -> np.ndarray:
    if not isinstance(data, np.ndarray) or data.dtype not in _KINDS:
        said = f"an array of {data.dtype}" if isinstance(data, np.ndarray) else f"a {type(data).__name__}"
        raise BadArgument(f"predictors of 1.x take arrays of float32, int64 or int32, and not {said}")
    return data
