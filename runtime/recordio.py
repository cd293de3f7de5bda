"""The module ``recordio`` for programs that import it before paddle: another one where that is installed, and
``paddle._recordio.library`` elsewhere."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_others = [folder for folder in sys.path if not Path(folder, "paddle", "_recordio").is_dir()]
_found = PathFinder.find_spec(__name__, _others)
if _found is None or _found.loader is None:
    sys.modules[__name__] = import_module("paddle._recordio.library")
else:
    sys.modules[__name__] = module_from_spec(_found)
    _found.loader.exec_module(sys.modules[__name__])
