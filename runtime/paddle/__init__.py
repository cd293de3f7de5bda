"""PaddlePaddle's names. ``import paddle`` loads nothing heavy: a name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for.
"""

from importlib import import_module
from typing import Any

from paddle import _absent, _homes
from paddle._aliases import offer
from paddle._loading import undisturbed
from paddle._public_names import missing

# A function that has its module's name: importing the module later must not put the module in its place.
from paddle.batch import batch

for _file, _home in _homes.FILES.items():
    offer(f"paddle.{_file}", f"paddle.{_home}")

__version__ = "2.6.2"  # of the newest interface that is here; the project's own is paddle.version.release
__git_commit__ = "Unknown"

_MODULES = frozenset(
    """
    base compat dataset distributed fluid inference io metric optimizer profiler proto reader text v2 version
    vision
    """.split()  # noqa: SIM905
)
_OF_V2 = frozenset(
    {
        *(
            "activation",
            "attr",
            "data_type",
            "evaluator",
            "event",
            "image",
            "infer",
            "init",
            "layer",
        ),
        *("networks", "op", "parameters", "plot", "pooling", "topology", "trainer"),
    }
)
_AT_ONCE = "it computes at once (dygraph), and programs are static here: paddle.enable_static()"
_LATER = {
    **dict.fromkeys(("DataParallel", "Model", "autograd", "grad", "jit"), _AT_ONCE),
    "amp": "it is of what computes at once; programs have paddle.static.amp.decorate",
    **dict.fromkeys(("callbacks", "flops", "hapi", "summary"), _AT_ONCE),
    **dict.fromkeys(
        ("hub", "onnx"),
        "models for parameter servers are written with paddle.static, paddle.nn and paddle.fluid",
    ),
    "fleet": "it is paddle.distributed.fleet",
}

__all__ = [
    "__git_commit__",
    "__version__",
    "batch",
    *sorted({*_MODULES, *_OF_V2, *_homes.MODULES, *_homes.HOMES, *_homes.DTYPES}),
]


def __getattr__(name: str) -> Any:
    with undisturbed():
        return _look_up(name)


def _look_up(name: str) -> Any:
    if name in _MODULES or name in _homes.MODULES:
        return import_module(f"paddle.{name}")
    if name in _homes.HOMES:
        value = globals()[name] = getattr(import_module(f"paddle.{_homes.HOMES[name]}"), name)
        return value
    if name in _homes.DTYPES:
        return import_module("paddle._program.description.dtypes").VarType[_homes.DTYPES[name]]
    if name in _OF_V2:
        value = globals()[name] = getattr(import_module("paddle.v2"), name)
        return value
    if name in ("_C_ops", "_legacy_C_ops"):
        return import_module("paddle._at_once")
    if name.endswith("_") and _homes.HOMES.get(name[:-1], "").startswith("tensor."):
        in_place_of = import_module("paddle.tensor.in_place").in_place_of
        value = globals()[name] = in_place_of(name, __getattr__(name[:-1]))
        return value
    if name in _LATER:
        raise _absent.AbsentName(f"paddle.{name} is not in this release; {_LATER[name]}.")
    raise missing("paddle", name)


_absent.explain_imports()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
