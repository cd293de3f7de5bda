"""Costs over many classes: noise contrast, a softmax over some of them, and a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper

__all__ = [
    "hsigmoid",
    "nce",
    "sampled_softmax_with_cross_entropy",
]

_SAMPLERS = ("uniform", "log_uniform", "custom_dist")
_SAMPLED = ("Samples", "Probabilities", "SampledLogits", "SampledLabels")
_USUAL = 10


def nce(
    input: Variable,
    label: Variable,
    num_total_classes: int,
    sample_weight: Variable | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Sequence[float] | None = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Variable:
    """What it costs to tell each label from ``num_neg_samples`` classes that are drawn, over their number and
    one. A row of ``label`` is a sample's label, or several.

    ``sampler``: classes are drawn uniformly, the more often the smaller their number is (log_uniform), or by
    ``custom_dist``, their probabilities.
    """
    if sampler not in _SAMPLERS:
        raise BadArgument(f"nce draws classes by one of {', '.join(_SAMPLERS)}, not {sampler!r}")
    if sampler == "custom_dist" and (custom_dist is None or len(custom_dist) != num_total_classes):
        raise BadArgument(f"nce: custom_dist holds the probability of each of {num_total_classes} classes")
    if sampler == "log_uniform" and num_total_classes < 2:
        raise BadArgument(f"nce: log_uniform draws of 2 classes or more, not {num_total_classes}")
    helper = LayerHelper("nce", input=input, param_attr=param_attr, bias_attr=bias_attr, name=name)
    dtype, drawn = helper.input_dtype(), _USUAL if num_neg_samples is None else int(num_neg_samples)
    inputs: dict[str, Any] = {"Input": input, "Label": label, "SampleWeight": sample_weight}
    inputs["Weight"] = helper.create_parameter(helper.param_attr, [num_total_classes, input.shape[1]], dtype)
    inputs["Bias"] = helper.create_parameter(helper.bias_attr, [num_total_classes, 1], dtype, is_bias=True)
    slots = {"Cost": dtype, "SampleLogits": dtype, "SampleLabels": "int64"}
    made = {slot: helper.create_variable_for_type_inference(each) for slot, each in slots.items()}
    attrs = {
        "num_total_classes": int(num_total_classes),
        "num_neg_samples": drawn,
        "seed": seed,
        "sampler": _SAMPLERS.index(sampler),
        "is_sparse": is_sparse,
        "custom_dist": [float(each) for each in custom_dist or ()],
    }
    helper.append_op("nce", inputs, made, attrs)
    return made["Cost"] / (drawn + 1)


def sampled_softmax_with_cross_entropy(
    logits: Variable,
    label: Variable,
    num_samples: int,
    num_true: int = 1,
    remove_accidental_hits: bool = True,
    use_customized_samples: bool = False,
    customized_samples: Variable | None = None,
    customized_probabilities: Variable | None = None,
    seed: int = 0,
) -> Variable:
    """The cross entropy of the softmax over a label and ``num_samples`` classes that are drawn, the same for
    all samples of a step, each once, a small number more often than a large one.

    ``remove_accidental_hits``: one that is a sample's label does not count against it. ``seed`` changes
    nothing: what is drawn follows from the program's ``random_seed`` and the step.
    ``use_customized_samples``: the classes are the program's own, each row a label and, behind it,
    ``num_samples`` others, with how likely each was to be among them. ``num_true`` is 1, as others fail
    in 1.8.5.
    """
    if num_true != 1:
        raise NotInThisRelease(
            f"sampled_softmax_with_cross_entropy(num_true={num_true}) is not in this release, nor does it "
            "run in 1.8.5: one label for each sample"
        )
    own = _own_classes(customized_samples, customized_probabilities) if use_customized_samples else {}
    classes = logits.shape[1]
    if not use_customized_samples and not 1 <= num_samples <= classes:
        raise BadArgument(f"num_samples is from 1 to {classes}, the number of classes, not {num_samples}")
    helper, kind = LayerHelper("sample_logits"), logits.dtype
    slots = {} if use_customized_samples else {"Samples": "int64", "Probabilities": kind}
    slots |= {"SampledLogits": kind, "SampledLabels": "int64", "own": kind}
    slots |= {"LogitsDim": kind, "LabelsDim": label.dtype, "Loss": kind, "Softmax": kind}
    named = {slot: helper.create_variable_for_type_inference(each) for slot, each in slots.items()}
    made: dict[str, Any] = {slot: named[slot] for slot in _SAMPLED if slot in named}
    attrs = {
        "use_customized_samples": use_customized_samples,
        "uniq": True,
        "remove_accidental_hits": remove_accidental_hits,
        "num_samples": num_samples,
        "seed": seed,
    }
    inputs: dict[str, Any] = {"Logits": logits, "Labels": label}
    inputs |= {f"Customized{slot}": each for slot, each in own.items()}
    made |= own
    helper.append_op("sample_logits", inputs, made, attrs)
    return _among_drawn(helper, named, num_samples) / num_true


def _own_classes(samples: Variable | None, chances: Variable | None) -> dict[str, Variable]:
    """What a program tells of them, by the slots in which they would be told to it."""
    if samples is None or chances is None:
        raise BadArgument(
            "sampled_softmax_with_cross_entropy: use_customized_samples wants customized_samples and "
            "customized_probabilities, both"
        )
    return {"Samples": samples, "Probabilities": chances}


def _among_drawn(helper: LayerHelper, named: dict[str, Variable], count: int) -> Variable:
    """The cross entropy of the label, which is the first, and of ``count`` others."""
    own, costs = named["own"], {slot: named[slot] for slot in ("Softmax", "Loss")}
    helper.append_op("one_hot", {"X": named["SampledLabels"]}, {"Out": [own]}, {"depth": count + 1})
    attrs = {"soft_label": True, "ignore_index": False, "numeric_stable_mode": False}
    helper.append_op(
        "softmax_with_cross_entropy", {"Logits": named["SampledLogits"], "Label": own}, costs, attrs
    )
    return costs["Loss"]


def hsigmoid(
    input: Variable,
    label: Variable,
    num_classes: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
    path_table: Variable | None = None,
    path_code: Variable | None = None,
    is_custom: bool = False,
    is_sparse: bool = False,
) -> Variable:
    """What a label costs whose class is at a leaf of a balanced tree: each turn on the way is a sigmoid.

    ``is_custom``: of a tree of one's own with ``num_classes`` inner nodes. ``path_table``: those on the way
    of each sample, and -1 behind them; ``path_code``: which way it goes there, 1 or 0.
    """
    if is_custom and (path_table is None or path_code is None or num_classes is None):
        raise BadArgument(
            "hsigmoid(is_custom=True) takes path_table, path_code and num_classes, the number of inner nodes"
        )
    if num_classes is None or num_classes < 2:
        raise BadArgument(f"hsigmoid needs 2 classes or more, not {num_classes}")
    helper = LayerHelper(
        "hierarchical_sigmoid", input=input, param_attr=param_attr, bias_attr=bias_attr, name=name
    )
    dtype = helper.input_dtype()
    inputs: dict[str, Any] = {"X": input, "Label": label, "PathTable": path_table, "PathCode": path_code}
    nodes = num_classes if is_custom else num_classes - 1
    inputs["W"] = helper.create_parameter(helper.param_attr, [nodes, input.shape[1]], dtype)
    inputs["Bias"] = helper.create_parameter(helper.bias_attr, [nodes, 1], dtype, is_bias=True)
    made = {slot: helper.create_variable_for_type_inference(dtype) for slot in ("Out", "PreOut")}
    attrs = {"num_classes": num_classes, "is_sparse": is_sparse}
    helper.append_op("hierarchical_sigmoid", inputs, made, attrs)
    return made["Out"]
