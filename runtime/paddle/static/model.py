"""A model that is run and not trained, in files: ``paddle.static.save_inference_model`` and its family.

It must never know how tensors are written. Guarantee: what is loaded computes what was saved, from the same
feeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["load_inference_model", "normalize_program", "save_inference_model"]


def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any
) -> None:
    """Write ``path_prefix``.pdmodel and ``path_prefix``.pdiparams: what computes ``fetch_vars`` of
    ``feed_vars``.

    ``program``: the one that these are of, the default one if it is not given.
    """
    from paddle._program.files import inference

    prefix = Path(path_prefix)
    feeds = feed_vars if isinstance(feed_vars, (list, tuple)) else [feed_vars]
    fetches = fetch_vars if isinstance(fetch_vars, (list, tuple)) else [fetch_vars]
    inference.save_inference_model(
        str(prefix.parent),
        [each if isinstance(each, str) else each.name for each in feeds],
        list(fetches),
        executor,
        main_program=kwargs.get("program"),
        model_filename=f"{prefix.name}.pdmodel",
        params_filename=f"{prefix.name}.pdiparams",
    )


def load_inference_model(path_prefix: str, executor: Any, **kwargs: Any) -> Any:
    """What ``save_inference_model`` wrote: [program, names of feeds, variables to fetch]."""
    from paddle._program.files import inference

    prefix = Path(path_prefix)
    model = kwargs.get("model_filename", f"{prefix.name}.pdmodel")
    parameters = kwargs.get("params_filename", f"{prefix.name}.pdiparams")
    return inference.load_inference_model(str(prefix.parent), executor, model, parameters)


def normalize_program(program: Any, feed_vars: Any, fetch_vars: Any) -> Any:
    """The part of ``program`` that computes ``fetch_vars`` of ``feed_vars``."""
    feeds = feed_vars if isinstance(feed_vars, (list, tuple)) else [feed_vars]
    fetches = fetch_vars if isinstance(fetch_vars, (list, tuple)) else [fetch_vars]
    return program.clone(for_test=True)._prune_with_input([each.name for each in feeds], list(fetches))
