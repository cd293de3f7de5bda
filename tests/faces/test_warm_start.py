"""What a trainer does before its first step, where kernels were compiled before: it is counted, as times are
what the machine makes of them. Nothing is compiled, whatever people begin with, and only so many modules are
loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

MOST_MODULES = 1_160
"""Of Python, numpy, numba and this package together: what a trainer of word2vec loaded, and a tenth."""
TURNS = 5
"""The first one warms where nobody has; and of two that keep what they compiled at once one may be lost."""

COUNTING = """
import sys
from numba.core import event

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        self.names.append(str(event.data["dispatcher"]))
    def on_end(self, event): ...

event.register("numba:compile", Compiled())
"""
TRAINER = f"""{COUNTING}
import numpy as np
import paddle.v2 as paddle

paddle.init(use_gpu=False, trainer_count=1)
table = paddle.attr.Param(name="table", sparse_update=True)
words = [paddle.layer.data(name=f"word{{n}}", type=paddle.data_type.integer_value(500)) for n in range(4)]
rows = [paddle.layer.embedding(input=word, size=32, param_attr=table) for word in words]
hidden = paddle.layer.fc(input=paddle.layer.concat(input=rows), size=256, act=paddle.activation.Sigmoid())
guess = paddle.layer.fc(input=hidden, size=500, act=paddle.activation.Softmax())
label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(500))
cost = paddle.layer.classification_cost(input=guess, label=label)
trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(momentum=0))
trainer.train(paddle.batch(lambda: iter([(1, 2, 3, 4, 5)] * SAMPLES), SAMPLES), num_passes=1)
print(len(Compiled.names), len(sys.modules), *Compiled.names)
"""

PROGRAMS = f"""{COUNTING}
from tests import called  # watches calls
from tests.faces.warm import {{face}}

{{face}}.all_of_them()
print(*(f"unlisted {{{{text}}}}" for text in called.lacking(called.CALLS, lambda given: False)), sep="\\n")
print(*(f"compiled {{{{name}}}}" for name in Compiled.names), sep="\\n")
"""


@pytest.fixture(scope="module")
def warmed() -> None:
    subprocess.run([sys.executable, "-m", "paddle._warm"], check=True)


@pytest.mark.parametrize("face", ["of_v2", "of_fluid", "of_2x"])
def test_what_people_begin_with_compiles_nothing(warmed: None, face: str) -> None:
    """Of what it calls all is listed, so that it was compiled before, and is found."""
    for _ in range(TURNS):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAMS.format(face=face)], capture_output=True, text=True, check=True
        )
        if "compiled" not in run.stdout or "unlisted" in run.stdout:
            break
    assert not run.stdout.strip()


@pytest.mark.parametrize("samples", [32, 300], ids=["few", "many"])
def test_a_warm_trainer_compiles_nothing_and_loads_little(samples: int) -> None:
    for _ in range(TURNS):
        run = subprocess.run(
            [sys.executable, "-c", f"SAMPLES = {samples}\n{TRAINER}"],
            capture_output=True,
            text=True,
            check=True,
        )
        compiled, modules, *names = run.stdout.split(maxsplit=2)
        if not int(compiled):
            break
    assert int(compiled) == 0, names
    assert int(modules) <= MOST_MODULES
