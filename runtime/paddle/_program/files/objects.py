"""Objects on disk, as ``paddle.save`` of 2.x writes them: states, nested values, tensors and programs.

A state (tensors by their names) is a pickled dict of arrays; of other objects each tensor is pickled as
the expression "data", as the original has it; a program, or a tensor with ``use_binary_format``, is its own
bytes.

It must never know a layer. Guarantee: what is read is data, and nothing that a file names is imported or
called (pickles.py); a file of the original is read, and what is written it reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from paddle._program.description import program_desc
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, BadFile, check_known
from paddle._program.files import inference, pickles, tensors
from paddle._program.files.state import load_program_state
from paddle._program.files.variables import is_persistable, value_of
from paddle._program.files.whole import write_whole
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import global_scope

_NAMES = "StructuredToParameterName@@"  # of a layer's state in the original: what its parameters are called
_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic, type(None))


def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Write an object to a file or a BytesIO: a state_dict, a tensor or a program, or lists, tuples, sets and
    dicts of these and of plain values. ``use_binary_format``: a tensor as ``save_vars`` writes it."""
    check_known("paddle.save", configs, "use_binary_format pickle_protocol")
    if configs.get("pickle_protocol") is not None:
        protocol = configs["pickle_protocol"]
        warnings.warn("paddle.save: 'pickle_protocol' is called 'protocol' since 2.1", stacklevel=2)
    found = _shown(obj, "the object")
    if isinstance(found, Program):
        data = program_desc.serialized(found)
        _written(path, lambda file: file.write(data))
    elif configs.get("use_binary_format"):
        if not isinstance(found, LoDTensor):
            raise BadArgument(
                "paddle.save(use_binary_format=True) writes a tensor or a program, and not a "
                f"{type(obj).__name__}"
            )
        _written(path, lambda file: tensors.write_one(file, found))
    else:
        whole = _arrays(found) if _is_state(found) else _expressed(found)
        _written(path, lambda file: pickles.dump(file, whole, protocol))


def load(path: Any, **configs: Any) -> Any:
    """The object of a file or a BytesIO; or the state of a saved model: of its prefix, or its folder.

    ``return_numpy``: tensors as arrays, else as LoDTensors. ``keep_name_table``: with what a layer's state
    says of its parameters' names. ``model_filename``, ``params_filename``: in a folder, where they are not
    those of 1.x.
    """
    check_known("paddle.load", configs, "return_numpy keep_name_table model_filename params_filename")
    if not isinstance(path, BytesIO) and not Path(path).is_file():
        return _of_model(Path(path), configs)
    data = path.read() if isinstance(path, BytesIO) else Path(path).read_bytes()
    as_array = bool(configs.get("return_numpy"))
    if data[:1] != b"\x80":
        return _of_bytes(path, data, as_array)
    found = pickles.parsed(path, data)
    if not isinstance(found, dict) or _NAMES not in found:
        return _tensors(found, as_array, named=_has_pairs(found))
    table = found[_NAMES] if isinstance(found[_NAMES], dict) else {}
    state = {name: _tensor(value, as_array) if name in table else value for name, value in found.items()}
    if not configs.get("keep_name_table"):
        del state[_NAMES]
    return state


def _shown(value: Any, where: str) -> Any:
    """The value with tensors in place of variables. Raises BadArgument for what no file holds."""
    if isinstance(value, Variable):
        return value_of(global_scope(), value)
    if isinstance(value, Mapping):
        return {name: _shown(each, f"{where}[{name!r}]") for name, each in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(_shown(each, f"an element of {where}") for each in value)
    if isinstance(value, _PLAIN) or type(value) in (LoDTensor, Program):
        return value
    raise BadArgument(
        f"paddle.save: {where} is a {type(value).__name__}, which no file holds; save its state_dict(), or "
        "tensors, arrays, numbers and texts in lists, tuples, sets and dicts"
    )


def _is_state(value: Any) -> bool:
    """Whether it is a dict of tensors, and of dicts that hold none."""
    if not isinstance(value, dict):
        return False
    inner = (each for each in value.values() if not isinstance(each, LoDTensor))
    return all(isinstance(each, dict) and not _holds_tensor(each) for each in inner)


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    if isinstance(value, list | tuple | set):
        return any(map(_holds_tensor, value))
    return isinstance(value, LoDTensor | Program)


def _arrays(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(each) if isinstance(each, LoDTensor) else each for name, each in state.items()}


def _expressed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _expressed(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_expressed, value))
    if isinstance(value, Program):
        raise BadArgument("paddle.save writes a program alone: not one among other things")
    return pickles.Expressed(np.asarray(value)) if isinstance(value, LoDTensor) else value


def _has_pairs(value: Any) -> bool:
    """Whether tensors are pairs of a name and an array, as 2.1 and later write those that compute at once."""
    if isinstance(value, dict):
        return any(map(_has_pairs, value.values()))
    if isinstance(value, tuple) and _is_pair(value):
        return True
    return isinstance(value, list | tuple) and any(map(_has_pairs, value))


def _is_pair(value: tuple[Any, ...]) -> bool:
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], np.ndarray)


def _tensors(value: Any, as_array: bool, named: bool) -> Any:
    """The value with tensors in place of arrays; ``named``: in place of pairs, and arrays stay."""
    if isinstance(value, dict):
        return {name: _tensors(each, as_array, named) for name, each in value.items()}
    if named and isinstance(value, tuple) and _is_pair(value):
        return _tensor(value[1], as_array)
    if isinstance(value, list | tuple):
        return type(value)(_tensors(each, as_array, named) for each in value)
    return value if named else _tensor(value, as_array)


def _tensor(value: Any, as_array: bool) -> Any:
    return LoDTensor(value) if isinstance(value, np.ndarray) and not as_array else value


def _of_bytes(path: Any, data: bytes, as_array: bool) -> Any:
    """A tensor or a program, by its bytes."""
    try:
        tensor = tensors.parsed(data)
        return np.array(tensor) if as_array else tensor
    except ValueError:
        pass  # it may be a program
    try:
        return program_desc.parsed(data)
    except ValueError:
        raise BadFile(
            f"{path} is not a pickled state, a tensor or a program: paddle.load reads these"
        ) from None


def _of_model(path: Path, configs: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a saved model, by their names."""
    model = path.with_name(f"{path.name}.pdmodel")
    if model.exists() and path.is_dir():
        raise BadArgument(f"{model} and the folder {path} are both there: say which, by another name of one")
    if model.exists():
        state = _of_files(model, path.with_name(f"{path.name}.pdiparams"))
    elif path.is_dir():
        state = _of_folder(path, configs)
    else:
        whole = [name for name in (".pdparams", ".pdopt") if path.with_name(path.name + name).exists()]
        meant = f"; paddle.load takes whole names: {path}{whole[0]}" if whole else ""
        raise BadArgument(f"there is no file, folder or model {path}{meant}")
    as_array = bool(configs.get("return_numpy"))
    return {name: _tensor(value, as_array) for name, value in state.items()}


def _of_folder(folder: Path, configs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    model = folder / (configs.get("model_filename") or inference.MODEL)
    if not model.exists():
        return load_program_state(str(folder))
    values = configs.get("params_filename")
    if values:
        return _of_files(model, folder / values)
    wanted = _kept(model)
    found = {name: tensors.load_one(tensors.path_of(folder, name), name, wanted[name]) for name in wanted}
    return {name: np.array(each) for name, each in found.items()}


def _of_files(model: Path, values: Path) -> dict[str, np.ndarray]:
    wanted = _kept(model)
    found = tensors.load_several(values, {name: wanted[name] for name in sorted(wanted)})
    return {name: np.array(each) for name, each in found.items()}


def _kept(model: Path) -> dict[str, Any]:
    """What a saved program keeps, and its shapes."""
    program = inference.read_program(model)
    return {each.name: tensors.shape_of(each) for each in program.list_vars() if is_persistable(each)}


def _written(path: Any, write: Callable[[IO[bytes]], Any]) -> None:
    if isinstance(path, BytesIO):
        write(path)
        return
    if not isinstance(path, str | Path) or not Path(path).name or str(path).endswith("/"):
        raise BadArgument(f"paddle.save writes to a file (folder/name) or a BytesIO, and not to {path!r}")
    write_whole(Path(path), write)
