"""Every way to get at the package: from its folder, from the root, past a copy of the root's paddle.py."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paddle
from tests.waiting import PATIENCE_S

RUNTIME = Path(paddle.__file__).parents[1]
ROOT = RUNTIME.parent
PACKAGE = str(RUNTIME / "paddle" / "__init__.py")
SPAWN = """
import multiprocessing, sys
import paddle

def child(queue):
    import paddle._launch.flags
    queue.put(sys.modules["paddle"].__file__)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
"""


def python(*arguments: str, cwd: Path, path: Path | None = None) -> str:
    """Run Python with no more than ``path`` to find packages by; gives what it printed."""
    environ = {"PATH": "/usr/bin:/bin", **({"PYTHONPATH": str(path)} if path else {})}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environ, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def beside_the_launcher(tmp_path: Path) -> Path:
    """A folder of the user's that Python searches first, and that holds the root's paddle.py by a link."""
    (tmp_path / "paddle.py").symlink_to(ROOT / "paddle.py")
    return tmp_path


def test_from_the_root_it_is_the_package() -> None:
    assert python("-c", "import paddle; print(paddle.__file__)", cwd=ROOT) == PACKAGE


def test_from_anywhere_with_the_runtime_on_the_path(tmp_path: Path) -> None:
    assert python("-P", "-c", "import paddle; print(paddle.__file__)", cwd=tmp_path, path=RUNTIME) == PACKAGE


@pytest.mark.parametrize(
    "code",
    [
        "import paddle._launch.flags as found; print(found.FLAGS[0].name)",
        "from paddle._launch import flags as found; print(found.FLAGS[0].name)",
        "import importlib as i, paddle; print(i.import_module('paddle._launch.flags').FLAGS[0].name)",
        "import paddle.batch; print('job_dispatch_package' if callable(paddle.batch) else '')",
    ],
)
def test_submodules_are_found_from_the_root(code: str) -> None:
    assert python("-c", code, cwd=ROOT) == "job_dispatch_package"


@pytest.mark.parametrize("where", ["root", "elsewhere"])
def test_as_a_module_it_is_the_command(where: str, tmp_path: Path) -> None:
    options, cwd = ([], ROOT) if where == "root" else (["-P"], tmp_path)
    assert python(*options, "-m", "paddle", "version", cwd=cwd, path=RUNTIME).startswith("PaddlePaddle ")


def test_from_the_root_as_a_module_without_any_path() -> None:
    assert python("-m", "paddle", "version", cwd=ROOT).startswith("PaddlePaddle ")


def test_a_submodule_can_be_run_from_the_root() -> None:
    assert python("-m", "paddle._launch.flags", cwd=ROOT) == ""


def test_run_as_a_script_it_is_the_launcher(tmp_path: Path) -> None:
    drawn = python(str(ROOT / "paddle.py"), "--help", cwd=tmp_path)
    assert "--job_dispatch_package" in drawn
    assert "--job_workspace" in drawn


def test_a_program_beside_the_launcher_gets_the_package(beside_the_launcher: Path) -> None:
    (beside_the_launcher / "train.py").write_text("import paddle\nprint(paddle.__file__)\n")
    assert python("train.py", cwd=beside_the_launcher) == PACKAGE


def test_a_copy_of_the_launcher_does_not_hide_an_installed_package(tmp_path: Path) -> None:
    shutil.copy(ROOT / "paddle.py", tmp_path)
    (tmp_path / "train.py").write_text("import paddle\nprint(paddle.__file__)\n")
    assert python("train.py", cwd=tmp_path, path=RUNTIME) == PACKAGE


def test_a_lone_copy_says_what_is_missing(tmp_path: Path) -> None:
    shutil.copy(ROOT / "paddle.py", tmp_path)
    code = "try:\n    import paddle\nexcept ImportError as error:\n    print(error)"
    said = python(
        "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}", cwd=tmp_path
    )
    assert "no package paddle" in said
    assert "pip install" in said


def test_reloading_gives_the_package_again() -> None:
    code = "import importlib as i, paddle as p; p = i.reload(p); print(p.__file__, p.batch.__name__)"
    assert python("-c", code, cwd=ROOT) == f"{PACKAGE} batch"


def test_spawned_children_get_the_package(beside_the_launcher: Path) -> None:
    (beside_the_launcher / "train.py").write_text(SPAWN)
    assert python("train.py", cwd=beside_the_launcher) == PACKAGE


COMPILERS = {"numba", "llvmlite", "scipy"}
NETWORKS = {"aiohttp", "asyncio", "ssl", "fabric", "invoke", "paramiko", "cryptography"}
SIGHTS = {"rich", "matplotlib", "PIL", "tensorboardX"}
HEAVY = COMPILERS | NETWORKS | SIGHTS
ARRAYS = {"numpy", "msgspec", "safetensors", "xxhash", "multiprocessing", "paddle._engine"}
WRITTEN = {
    "paddle": "paddle.nn.Linear, paddle.static.Executor, paddle.optimizer.SGD",
    "paddle.fluid": "paddle.fluid.layers.fc, paddle.fluid.Executor, paddle.fluid.optimizer.SGD",
    "paddle.v2": "paddle.v2.layer.fc, paddle.v2.trainer.SGD, paddle.v2.optimizer.Momentum, paddle.v2.init()",
}


def loaded(program: str, folder: Path, names: set[str]) -> str:
    """Which of these modules a program has loaded."""
    code = f"import sys, {program}; print([each for each in {sorted(names)} if each in sys.modules])"
    return python("-P", "-c", code, cwd=folder, path=RUNTIME)


@pytest.mark.parametrize("face", WRITTEN)
def test_importing_it_loads_nothing_heavy(face: str, tmp_path: Path) -> None:
    """Names are loaded when they are used: what `benchmarks start` has a goal for, by what costs it."""
    others = {name for name in WRITTEN if not face.startswith(name)}
    assert loaded(face, tmp_path, HEAVY | ARRAYS | others) == "[]"


@pytest.mark.parametrize("face", WRITTEN)
def test_what_programs_are_written_with_loads_neither_compilers_nor_networks(
    face: str, tmp_path: Path
) -> None:
    assert loaded(f"{face}; {WRITTEN[face]}", tmp_path, HEAVY) == "[]"


def test_names_of_v2_are_the_same_objects_at_top_level() -> None:
    import paddle.v2 as v2

    for name in ("init", "layer", "trainer", "event", "infer", "parameters", "batch"):
        assert getattr(paddle, name) is getattr(v2, name), name
    assert paddle.v2 is v2
    assert paddle.optimizer.AdaGrad is v2.optimizer.AdaGrad


def test_importing_the_module_of_batches_leaves_the_function() -> None:
    importlib.import_module("paddle.batch")
    assert list(paddle.batch(lambda: iter(range(3)), 2)()) == [[0, 1], [2]]


def test_every_listed_name_is_there() -> None:
    assert set(paddle.__all__) <= set(dir(paddle))
    assert not [name for name in paddle.__all__ if not hasattr(paddle, name)]


def test_a_name_of_a_later_release_says_so_and_a_wrong_one_does_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"paddle\.Model is not in this release"):
        _ = paddle.Model
    with pytest.raises(AttributeError, match=r"paddle\.layr does not exist"):
        _ = paddle.layr
    with pytest.raises(ImportError, match=r"paddle\.Model is not in this release"):
        importlib.import_module("paddle.Model")
