"""A model that is run and not trained, in files: ``paddle.static.save_inference_model`` and its family.

It must never know how tensors are written. Guarantee: what is loaded computes what was saved, from the same
feeds.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paddle._program.errors import MissingFile, check_known

__all__ = [
    *("deserialize_persistables", "deserialize_program", "load_from_file", "load_inference_model"),
    *("normalize_program", "save_inference_model", "save_to_file", "serialize_persistables"),
    "serialize_program",
]


def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any
) -> None:
    """Write ``path_prefix``.pdmodel and ``path_prefix``.pdiparams: what computes ``fetch_vars`` of
    ``feed_vars``.

    ``program``: the one that these are of, the default one if it is not given.
    """
    from paddle._program.files import inference

    check_known("save_inference_model", kwargs, "program clip_extra legacy_format")
    prefix = Path(path_prefix)
    feeds, fetches = _listed(feed_vars), _listed(fetch_vars)
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
    """What ``save_inference_model`` wrote: [program, names of feeds, variables to fetch].

    Where ``model_filename`` or ``params_filename`` is given, ``path_prefix`` is a folder, as of fluid: with
    these files in it, or else ``__model__`` and a file for each parameter.
    """
    from paddle._program.files import inference

    check_known("load_inference_model", kwargs, "model_filename params_filename")
    prefix = Path(path_prefix)
    if kwargs:
        model, parameters = kwargs.get("model_filename"), kwargs.get("params_filename")
        return inference.load_inference_model(str(prefix), executor, model, parameters)
    if (prefix / inference.MODEL).exists() and not prefix.with_name(f"{prefix.name}.pdmodel").exists():
        raise MissingFile(
            f"there is no {prefix}.pdmodel, and {prefix} is a folder as of fluid: read it by "
            f"fluid.io.load_inference_model, or with model_filename={inference.MODEL!r}"
        )
    model, parameters = f"{prefix.name}.pdmodel", f"{prefix.name}.pdiparams"
    return inference.load_inference_model(str(prefix.parent), executor, model, parameters)


def normalize_program(program: Any, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Any:
    """The part of ``program`` that computes ``fetch_vars`` of ``feed_vars``, as ``save_inference_model``
    writes it; all of it where ``skip_prune_program`` is true. Other keyword arguments change nothing. Raises
    TypeError of what is no program or no variable."""
    from paddle._program.description.program import Program
    from paddle._program.description.variable import Variable
    from paddle._program.files import inference

    feeds, fetches = _listed(feed_vars), _listed(fetch_vars)
    if not isinstance(program, Program):
        raise TypeError(f"normalize_program: program is a paddle.static.Program, not {program!r}")
    for name, given in (("feed_vars", feeds), ("fetch_vars", fetches)):
        if strange := [each for each in given if not isinstance(each, Variable)]:
            raise TypeError(f"normalize_program: {name} are Variables of the program, not {strange[0]!r}")
    whole = bool(kwargs.get("skip_prune_program"))
    return inference.model_of([each.name for each in feeds], fetches, program, whole)[0]


def serialize_program(feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> bytes:
    """What computes ``fetch_vars`` of ``feed_vars``, as a .pdmodel holds it. ``program``: theirs, the default
    one if it is not given."""
    from paddle._program.description import program_desc
    from paddle._program.files import inference

    check_known("serialize_program", kwargs, "program legacy_format")
    feeds = [each.name for each in _listed(feed_vars)]
    whole, _ = inference.model_of(feeds, _listed(fetch_vars), _program_of(kwargs))
    return bytes(program_desc.serialized(whole))


def deserialize_program(data: bytes) -> Any:
    """The program that ``serialize_program`` gave."""
    from paddle._program.description import program_desc

    return program_desc.parsed(data)


def serialize_persistables(feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> bytes:
    """The values that this needs, as a .pdiparams holds them."""
    with TemporaryDirectory(prefix="paddle-") as folder:
        save_inference_model(f"{folder}/it", feed_vars, fetch_vars, executor, **kwargs)
        return load_from_file(f"{folder}/it.pdiparams")


def deserialize_persistables(program: Any, data: bytes, executor: Any) -> None:
    """Put the values that ``serialize_persistables`` gave where ``program`` finds them."""
    from paddle._program.files.variables import is_persistable, load_vars

    with TemporaryDirectory(prefix="paddle-") as folder:
        save_to_file(f"{folder}/it", data)
        load_vars(executor, folder, program, None, is_persistable, "it")


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes, wholly or not at all."""
    from paddle._program.files.whole import write_whole

    if not isinstance(content, bytes):
        raise ValueError(f"save_to_file: content is bytes, and not {type(content).__name__}")
    write_whole(Path(path), lambda file: file.write(content))


def load_from_file(path: str) -> bytes:
    """The bytes of a file."""
    return Path(path).read_bytes()


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _program_of(kwargs: Any) -> Any:
    from paddle._program.description.guards import default_main_program

    return kwargs.get("program") or default_main_program()
