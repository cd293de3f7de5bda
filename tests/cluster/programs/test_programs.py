"""Programs as people wrote them for v2, as processes: alone, and on two trainers and two pservers."""

import re
import tarfile
from pathlib import Path

import pytest

from tests.marks import on_demand

from tests.cluster.by_hand import outputs_of_all_well, run_job, trainer
from tests.cluster.programs import data_sets

pytestmark = pytest.mark.cluster

HERE = Path(__file__).parent
# What it prints at the end, what it saves (trainer 0 as trainer 1), and how far its test cost falls.
PROGRAMS = {
    "word2vec": (r"next word: five", "batch-{}.tar.gz", 0.5),
    "fit_a_line": (r"label=\d.*, predict=\d", "params-{}.tar", 0.8),
    "digits": (r"Label of the first image is: 0", "params_pass_3-{}.tar", 0.5),
    "clicks": (r"clicks expected", "clicks-{}.tar", 0.9),
}
OFTEN = ("word2vec", "clicks")
LEARNED = 0.01  # a cost that is as low after one pass has nowhere to fall


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    data_sets.write(folder)
    return folder


def run(folder: Path, home: Path, name: str, trainers: int) -> list[str]:
    """The outputs of the program's processes, which ended well, as did their pservers. Alone: 0 trainers."""
    text = (HERE / f"{name}.py").read_text()
    own = {"PADDLE_DATASET_HOME": str(home), "PADDLE_DATASET_LOCAL": "1"}
    if not trainers:
        return outputs_of_all_well([trainer(folder, text, **own)])
    return run_job(folder, text, trainers=trainers, PADDLE_CLUSTER_TRAIN="True", **own)


def parameters(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}


@pytest.mark.parametrize("trainers", [0, 2], ids=["alone", "2x2"])
@pytest.mark.parametrize("name", [name if name in OFTEN else on_demand(name) for name in PROGRAMS])
def test_a_program_learns_saves_and_infers(tmp_path: Path, home: Path, name: str, trainers: int) -> None:
    last, saved, falls_to = PROGRAMS[name]
    for output in run(tmp_path, home, name, trainers):
        assert re.search(last, output), output
        costs = [float(cost) for cost in re.findall(r"Test cost ([0-9.]+)", output)]
        assert costs[-1] < max(falls_to * costs[0], LEARNED), output
        assert "Warning" not in output
    found = [parameters(tmp_path / saved.format(number)) for number in range(trainers or 1)]
    assert len(found[0]) > 2 and all(each == found[0] for each in found)
