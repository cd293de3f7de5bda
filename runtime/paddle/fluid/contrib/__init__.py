"""Fluid's contributions: names that were tried there before, or kept there after, they were fluid's own.

It must never hold code of its own. Guarantee: each name is the very object of its module; what is not built
says so.
"""

from importlib import import_module
from typing import Any

from paddle import _absent
from paddle.fluid._listed import LISTED

_MODULES = frozenset(
    {
        *(
            "decoder",
            "inferencer",
            "layers",
            "memory_usage_calc",
            "mixed_precision",
            "op_frequence",
            "reader",
        ),
        *("trainer", "utils"),
    }
)
_MODULE_OF = {
    "memory_usage": "memory_usage_calc",
    "op_freq_statistic": "op_frequence",
    **dict.fromkeys(
        (
            *("BeginEpochEvent", "BeginStepEvent", "CheckpointConfig"),
            *("EndEpochEvent", "EndStepEvent", "Trainer"),
        ),
        "trainer",
    ),
    "Inferencer": "inferencer",
    **dict.fromkeys(("AutoMixedPrecisionLists", "decorate"), "mixed_precision"),
    "distributed_batch_reader": "reader",
    **dict.fromkeys(("HDFSClient", "multi_download", "multi_upload"), "utils"),
    **dict.fromkeys(("BeamSearchDecoder", "InitState", "StateCell", "TrainingDecoder"), "decoder"),
}
_QUANTIZED = "numbers of 8 bits are not computed with"
_ABSENT = {
    **dict.fromkeys(("quantize", "QuantizeTranspiler", "int8_inference", "Calibrator", "slim"), _QUANTIZED),
    "sparsity": "networks are computed as they are written; minimize with the optimizer itself",
    "Compressor": _QUANTIZED,
    **dict.fromkeys(
        (
            "convert_dist_to_sparse_program",
            "load_persistables_for_increment",
            "load_persistables_for_inference",
        ),
        "fluid.io.load_persistables reads tables, and embedding(is_sparse=True) looks rows up",
    ),
    **dict.fromkeys(
        ("extend_optimizer", "extend_with_decoupled_weight_decay"),
        "give the optimizer a regularization (fluid.regularizer.L2Decay)",
    ),
    **dict.fromkeys(("model_stat", "summary"), "print(program) shows operators and shapes"),
    "optimizer": "fluid.optimizer has them",
}

__all__ = sorted({*_MODULES, *_MODULE_OF})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.fluid.contrib.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"paddle.fluid.contrib.{_MODULE_OF[name]}"), name)
    if name in LISTED["contrib.layers"].split():  # which are seen here, too
        return getattr(import_module("paddle.fluid.contrib.layers"), name)
    if name in _ABSENT:
        raise _absent.AbsentName(f"paddle.fluid.contrib.{name} is not in this release: {_ABSENT[name]}.")
    raise AttributeError(
        f"paddle.fluid.contrib.{name} does not exist", name=name, obj=import_module(__name__)
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
