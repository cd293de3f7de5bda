"""What a program of fluid or fleet asked for that cannot be ends it in one paragraph, with status 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
CASES = {
    "role": (
        "import paddle.fluid as fluid\nfrom paddle.fluid.layers import data, fc, mean\n"
        "fluid.Trainer(lambda: mean(fc(data('x', [1]), 1)), lambda: fluid.optimizer.SGD(0.1))\n",
        {"PADDLE_TRAINING_ROLE": "TRAINER"},
        "PADDLE_TRAINERS is not set",
    ),
    "layer": (
        "import paddle.fluid as fluid\nx = fluid.layers.data('x', [3])\nfluid.layers.fc('x', 2)\n",
        {},
        "is a Variable of the program",
    ),
    "feed": (
        "import paddle.fluid as fluid\nx = fluid.layers.data('x', [2])\n"
        "fluid.Executor().run(feed={'x': [[1, 2], [3]]}, fetch_list=[x])\n",
        {},
        "feed gives 'x' what is not an array",
    ),
    **{
        name: (
            "import paddle.fluid as fluid\nfrom paddle.fluid.layers import data, fc, mean\n"
            "loss = mean(fc(data('x', [1]), 1))\nfluid.optimizer.SGD(0.1).minimize(loss)\n"
            f"t = fluid.DistributeTranspiler()\nt.transpile({number}, pservers={servers!r}, trainers=2)\n"
            "t.get_trainer_program()\n",
            {},
            said,
        )
        for name, number, servers, said in (
            ("endpoint", 0, "127.0.0.1", "'127.0.0.1' is not an endpoint of a parameter server"),
            ("endpoints", 0, "127.0.0.1:6174,127.0.0.1:6174", "named twice"),
            ("number", 2, "127.0.0.1:6174", "trainer_id is 2"),
        )
    },
    "fleet": (
        "import paddle.distributed.fleet as fleet\nfleet.init()\n",
        {"PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1:7000"},
        "TRAINING_ROLE is not set",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_told_in_one_paragraph_with_the_line_of_the_program(name: str, tmp_path: Path) -> None:
    program, environ, said = CASES[name]
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(RUNTIME), **environ},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert done.stderr.startswith("train.py:") and done.stderr.count("\n") == 1
