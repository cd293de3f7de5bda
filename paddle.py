"""Run, this starts a job on every node of conf.py; imported, it is the package ``paddle`` of runtime/.

    python paddle.py --job_dispatch_package=FOLDER        python paddle.py --help

A program in this folder that says ``import paddle`` finds this file before the package, because Python looks
into the program's own folder first. It gets the package all the same, and submodules are found as ever.
"""

import signal
import sys

if __name__ == "__main__" and __spec__ is None:  # held back from the first moment, until the launcher answers
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _find() -> ModuleSpec:
    """Find the package: beside this file, or, where only this file was copied, wherever it is installed."""
    home = _HERE / "runtime" / "paddle"
    if (home / "__init__.py").is_file():
        spec = spec_from_file_location("paddle", home / "__init__.py", submodule_search_locations=[str(home)])
    else:
        elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != _HERE]
        spec = PathFinder.find_spec("paddle", elsewhere)
    if spec is None or spec.loader is None:
        raise ImportError(f"no package paddle: there is no {home}, and none is installed (pip install -e .)")
    return spec


def _hand_over() -> None:
    """Put the package in this module's place, so that whoever imported this name gets it."""
    spec = _find()
    package = module_from_spec(spec)
    sys.modules["paddle"] = package
    spec.loader.exec_module(package)


if __name__ == "paddle":
    _hand_over()


def _lacks(package: str | None) -> str:
    venv = _HERE / ".venv" / "bin" / "activate"
    made = (
        f"Its virtual environment has it: . {venv}" if venv.is_file() else "sh run.sh makes one that has it"
    )
    return (
        f"paddle.py: {sys.executable} lacks the package {package}. {made}; or install it: pip install {_HERE}"
    )


if __name__ == "__main__":
    _hand_over()
    try:
        if __spec__ is None:  # python paddle.py
            from paddle._launch.cli import main
        else:  # python -m paddle
            from paddle.__main__ import main
    except ModuleNotFoundError as error:
        if (error.name or "paddle").partition(".")[0] == "paddle":
            raise
        sys.exit(_lacks(error.name))
    sys.exit(main(sys.argv[1:]))
