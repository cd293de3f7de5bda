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
            "extend_optimizer",
            "model_stat",
            "mixed_precision",
            "op_frequence",
            "reader",
        ),
        *("trainer", "utils"),
    }
)
_MODULE_OF = {
    "memory_usage": "memory_usage_calc",
    "summary": "model_stat",
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
    "extend_with_decoupled_weight_decay": "extend_optimizer",
    **dict.fromkeys(("HDFSClient", "multi_download", "multi_upload"), "utils"),
    **dict.fromkeys(("BeamSearchDecoder", "InitState", "StateCell", "TrainingDecoder"), "decoder"),
}
_QUANTIZED = "numbers of 8 bits are not computed with"
_ABSENT = {
    **dict.fromkeys(("quantize", "QuantizeTranspiler", "int8_inference", "Calibrator", "slim"), _QUANTIZED),
    "sparsity": "networks are computed as they are written; minimize with the optimizer itself",
    "Compressor": _QUANTIZED,
    "optimizer": "fluid.optimizer has them",
}

__all__ = sorted({*_MODULES, *_MODULE_OF})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.fluid.contrib.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"paddle.fluid.contrib.{_MODULE_OF[name]}"), name)
    for each in ("layers", "utils"):  # whose names are seen here, too
        if name in LISTED[f"contrib.{each}"].split():
            return getattr(import_module(f"paddle.fluid.contrib.{each}"), name)
    if name in _ABSENT:
        raise _absent.AbsentName(f"paddle.fluid.contrib.{name} is not in this release: {_ABSENT[name]}.")
    raise AttributeError(
        f"paddle.fluid.contrib.{name} does not exist", name=name, obj=import_module(__name__)
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
