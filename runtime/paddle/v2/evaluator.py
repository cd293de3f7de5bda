"""Evaluators: metrics over layers, reported as ``event.metrics`` by name.

They must never know how they are computed. Guarantee: an evaluator is part of every network that holds all
its layers; what it reads fits, which is checked here, where it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._engine.chunks import SCHEMES
from paddle.v2._config import EvaluatorConfig
from paddle.v2._draft import dense, gives_ids
from paddle.v2._errors import WrongCall
from paddle.v2._measures.objects import WAYS
from paddle.v2.config_base import Layer, default_name

__all__ = [
    "auc",
    "chunk",
    "classification_error",
    "classification_error_printer",
    "column_sum",
    "ctc_error",
    "detection_map",
    "gradient_printer",
    "maxframe_printer",
    "maxid_printer",
    "pnpair",
    "precision_recall",
    "seqtext_printer",
    "sum",
    "value_printer",
]

Layers = Layer | Sequence[Layer]


def classification_error(
    input: Layer,
    label: Layer,
    name: str | None = None,
    weight: Layer | None = None,
    top_k: int | None = None,
    threshold: float | None = None,
) -> None:
    """The share of samples whose label is not among the ``top_k`` greatest columns, 1 if not given.

    Of a label of numbers: how many of a sample's columns are not on the same side of ``threshold``, 0.5 if
    not given; of a sparse label, which share of them. With ``weight``, of their weights. ``threshold``
    changes nothing where a label is a class, as in the original.
    """
    type = "classification_error"
    _check_layers(type, [input, label])
    if not gives_ids(label) and input.size == label.size:
        bound = 0.5 if threshold is None else float(threshold)
        _attach(type, name, [input, label], weight, classification_threshold=bound)
        return
    if input.size == 1:
        raise NotInThisRelease(
            f"classification_error of the one column of {input!r} is not in this release, which compares "
            "columns: use a layer of size 2 with Softmax, a column for each label, or a label of "
            "dense_vector(1)"
        )
    _check_classes(type, input, label)
    values = {} if top_k in (None, 1) else {"top_k": top_k}
    _attach(type, name, [input, label], weight, **values)


def auc(input: Layer, label: Layer, name: str | None = None, weight: Layer | None = None) -> None:
    """How often the last column is greater for a sample of class 1 than for one of class 0: the area under
    the curve. It lies between 0 and 1.
    """
    _attach("last-column-auc", name, [input, label], weight, prefix="auc")


def precision_recall(
    input: Layer,
    label: Layer,
    positive_label: int | None = None,
    weight: Layer | None = None,
    name: str | None = None,
) -> None:
    """``NAME.precision``, ``NAME.recall`` and ``NAME.F1-score`` of the class ``positive_label``.

    Without one, of all classes: each number twice, with ``macro-average-`` or ``micro-average-`` after the
    point.
    """
    _check_layers("precision_recall", [input, label])
    _check_classes("precision_recall", input, label)
    if positive_label is not None and not 0 <= positive_label < input.size:
        raise WrongCall(f"evaluator 'precision_recall': {input!r} has no class {positive_label}")
    values = {} if positive_label is None else {"positive_label": positive_label}
    _attach("precision_recall", name, [input, label], weight, **values)


def pnpair(
    input: Layer,
    label: Layer,
    query_id: Layer | None = None,
    weight: Layer | None = None,
    name: str | None = None,
    info: Layer | None = None,
) -> None:
    """Of every two samples of one query with unlike labels: how many ``input`` has in the right order, over
    how many in the wrong one. ``info`` is what 0.10 calls ``query_id``.
    """
    query = info if query_id is None else query_id
    if query is None:
        raise WrongCall("evaluator 'pnpair' pairs samples of one query: give it query_id, a layer of ids")
    _attach("pnpair", name, [input, label, query], weight)


def chunk(
    input: Layer,
    label: Layer,
    chunk_scheme: str,
    num_chunk_types: int,
    name: str | None = None,
    excluded_chunk_types: Sequence[int] | None = None,
) -> None:
    """``NAME.precision``, ``NAME.recall`` and ``NAME.F1-score`` of chunks in sequences of tags.

    ``input`` gives tags as ids, such as ``crf_decoding``. ``chunk_scheme``: IOB, IOE, IOBES or plain. Types
    in ``excluded_chunk_types`` do not count.
    """
    if chunk_scheme not in SCHEMES:
        raise WrongCall(f"chunk_scheme is one of {', '.join(SCHEMES)}, not {chunk_scheme!r}")
    _check_layers("chunk", [input, label])
    excluded = list(excluded_chunk_types or ())
    values = {"chunk_scheme": chunk_scheme, "num_chunk_types": num_chunk_types}
    _attach("chunk", name, [input, label], None, excluded_chunk_types=excluded, **values)


def ctc_error(input: Layer, label: Layer, name: str | None = None) -> None:
    """How far what an alignment says is from the right tags: ``NAME.error`` and others, means over sequences.

    ``input`` is what ``paddle.layer.ctc`` reads.
    """
    _attach("ctc_edit_distance", name, [input, label], None, prefix="ctc_error")


def detection_map(
    input: Layer,
    label: Layer,
    overlap_threshold: float = 0.5,
    background_id: int = 0,
    evaluate_difficult: bool = False,
    ap_type: str = "11point",
    name: str | None = None,
) -> None:
    """The mean precision of the objects that ``detection_output`` finds, from 0 to 100.

    ``label`` is that of ``multibox_loss``. An object is found where a box overlaps it by more than
    ``overlap_threshold``; difficult ones count only if ``evaluate_difficult``. ``ap_type`` is "11point" or
    "Integral". A class of which nothing was found is left out, as it was in the original; ``background_id``
    is the original's, and nothing depends on it.
    """
    _check_layers("detection_map", [input, label])
    if ap_type not in WAYS:
        raise WrongCall(f"evaluator 'detection_map': ap_type is one of {', '.join(WAYS)}, not {ap_type!r}")
    if input.layer_type != "detection_output" or label.size != 6:
        raise WrongCall(
            "evaluator 'detection_map' reads a detection_output layer and the label of multibox_loss, not "
            f"{input!r} and {label!r}"
        )
    values = {"background_id": background_id, "evaluate_difficult": bool(evaluate_difficult)}
    bound = float(overlap_threshold)
    _attach("detection_map", name, [input, label], None, overlap_threshold=bound, ap_type=ap_type, **values)


def sum(input: Layer, name: str | None = None, weight: Layer | None = None) -> None:
    """The sum of the input over its columns, per sample; with ``weight``, weighted."""
    _attach("sum", name, [input], weight)


def column_sum(input: Layer, name: str | None = None, weight: Layer | None = None) -> None:
    """The sum of the input's last column, per sample; with ``weight``, weighted."""
    _attach("last-column-sum", name, [input], weight, prefix="column_sum")


def value_printer(input: Layers, name: str | None = None) -> None:
    """Print what layers give, batch by batch."""
    _attach("value_printer", name, _listed(input), None)


def gradient_printer(input: Layers, name: str | None = None) -> None:
    """Print what comes back to layers in training, batch by batch."""
    _attach("gradient_printer", name, _listed(input), None)


def maxid_printer(input: Layers, num_results: int | None = None, name: str | None = None) -> None:
    """Print the ``num_results`` greatest columns of each row of layers, batch by batch."""
    _attach(
        "max_id_printer", name, _listed(input), None, prefix="maxid_printer", num_results=num_results or 1
    )


def maxframe_printer(input: Layers, num_results: int | None = None, name: str | None = None) -> None:
    """Print the ``num_results`` greatest elements of each sequence of one column, batch by batch."""
    results = num_results or 1
    _attach("max_frame_printer", name, _listed(input), None, prefix="maxframe_printer", num_results=results)


def seqtext_printer(
    input: Layer,
    result_file: str,
    id_input: Layer | None = None,
    dict_file: str | None = None,
    delimited: bool | None = None,
    name: str | None = None,
) -> None:
    """Write sequences of ids into ``result_file``: a line for each, its number or that of ``id_input`` first.

    ``dict_file`` has a word in each line, for ids from 0 on. ``delimited``: with spaces between words.
    """
    reads = [input] if id_input is None else [id_input, input]
    values = {"dict_file": dict_file or "", "delimited": delimited is not False}
    _attach(
        "seq_text_printer", name, reads, None, prefix="seqtext_printer", result_file=result_file, **values
    )


def classification_error_printer(
    input: Layer, label: Layer, threshold: float = 0.5, name: str | None = None
) -> None:
    """Print which samples are wrong, batch by batch: 1 for each that is."""
    _check_layers("classification_error_printer", [input, label])
    _check_classes("classification_error_printer", input, label)
    _attach("classification_error_printer", name, [input, label], None)


def _attach(
    type: str,
    name: str | None,
    layers: Sequence[Layer],
    weight: Layer | None,
    prefix: str | None = None,
    **values: Any,
) -> None:
    """``prefix``: of the name of one that has none, where that is not its type."""
    reads = [*layers, weight] if weight is not None else list(layers)
    _check_layers(type, reads)
    if type in ("sum", "last-column-sum", "last-column-auc", "classification_error", "precision_recall"):
        dense(f"{type}_evaluator", reads[0])
    if weight is not None and weight.size != 1:
        raise WrongCall(f"evaluator {type!r}: its weight has size {weight.size}, a sample has one weight")
    name = name or default_name(f"{prefix or type}_evaluator")
    config = EvaluatorConfig(name=name, type=type, input_layers=[each.name for each in reads], **values)
    reads[0].evaluators.append(config)


def _check_layers(type: str, reads: Sequence[Layer]) -> None:
    for each in reads:
        if not isinstance(each, Layer):
            raise WrongCall(f"evaluator {type!r} reads layers, not {each!r}")


def _check_classes(type: str, input: Layer, label: Layer) -> None:
    if not gives_ids(label):
        raise WrongCall(
            f"evaluator {type!r}: its label is a data layer of type integer_value({input.size}), not "
            f"{label!r}"
        )


def _listed(input: Layers) -> list[Layer]:
    return [input] if isinstance(input, Layer) else list(input)
