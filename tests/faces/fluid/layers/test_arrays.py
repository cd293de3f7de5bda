"""Layers of arrays that 1.8 has: values and slopes as 1.8.5 printed them, slopes against numerical ones, and
what both refuse."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument
from tests.faces.fluid.layers import array_cases as cases
from tests.faces.fluid.layers.array_figures import FIGURES

layers = fluid.layers
Told = tuple[list[int], str, list[float]]


def figures() -> dict[str, tuple[list[Told], dict[str, list[float]]]]:
    found: dict[str, tuple[list[Told], dict[str, list[float]]]] = {}
    words: list[str] = []
    rows = [*FIGURES.splitlines()[1:], ""]
    for row, behind in pairwise(rows):
        if not row.startswith(" "):
            outs, slopes = found[row] = [], {}
            continue
        words = words + row.split() if row.startswith(" " * 8) else row.split()
        if behind.startswith(" " * 8):
            continue
        if words[0] == "=":
            outs.append(
                ([int(size) for size in words[1].split("x")], words[2], [float(each) for each in words[3:]])
            )
        else:
            slopes[words[0]] = [float(each) for each in words[1:]]
    return found


PRINTED = figures()


@pytest.mark.parametrize("name", cases.CASES)
def test_a_layer_gives_what_1_8_5_gives(name: str) -> None:
    told, slopes = cases.asked(name)
    wanted, steep = PRINTED[name]
    assert [each[:2] for each in told] == [each[:2] for each in wanted]
    for (_, _, found), (_, _, expected) in zip(told, wanted, strict=True):
        assert found == pytest.approx(expected, rel=2e-5, abs=2e-6)
    assert sorted(slopes) == sorted(steep)
    for each, expected in steep.items():
        assert slopes[each] == pytest.approx(expected, rel=1e-4, abs=1e-5), each


JUMPS = ("dist of 0", "teacher_student", "diag_embed", "full_like", "nonzero", "allclose")
"""What has no slope where it is asked, or one that is said to stop there."""
SMOOTH = [name for name, (_, slopes) in PRINTED.items() if slopes and not name.startswith(JUMPS)]


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_are_the_numerical_ones(name: str) -> None:
    inputs, call = cases.CASES[name]
    data = cases.given(inputs)
    made = call(**data)
    outs = list(made) if isinstance(made, list | tuple) else [made]
    half = layers.sums([layers.reduce_sum(each * each) * 0.5 for each in outs])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for slot, expected in PRINTED[name][1].items():
        found = []
        for at in np.ndindex(inputs[slot].shape):
            sides = []
            for step in (0.01, -0.01):
                moved = inputs[slot].copy()
                moved[at] += step
                exe.run(fluid.default_startup_program())  # centres are where they begin
                sides.append(float(exe.run(feed={**inputs, slot: moved}, fetch_list=[half])[0].item()))
            found.append((sides[0] - sides[1]) / 0.02)
        assert found == pytest.approx(expected, rel=3e-2, abs=5e-3), slot


def test_a_student_learns_what_the_numerical_slope_says_between_its_bounds_and_nothing_beyond() -> None:
    score = layers.data("score", [1])
    label = layers.data("label", [1])
    score.stop_gradient = False
    cost = layers.teacher_student_sigmoid_loss(score, label, soft_max_up_bound=3.0, soft_max_lower_bound=-3.0)
    (slope,) = fluid.gradients([cost], [score])
    exe = fluid.Executor()
    feed = {
        "score": np.array([[0.5], [-1.0], [2.0], [-0.3], [5.0], [-4.0]], "float32"),
        "label": cases.CLICKS,
    }
    found = exe.run(feed=feed, fetch_list=[slope])[0]
    sides = [
        exe.run(feed={**feed, "score": feed["score"] + step}, fetch_list=[cost])[0] for step in (0.01, -0.01)
    ]
    steep = (sides[0] - sides[1]) / 0.02
    assert found[:4] == pytest.approx(steep[:4], rel=1e-2)
    assert found[4:].tolist() == [[0.0], [0.0]]


def of_3() -> Any:
    return layers.data("x", [2, 3, 4], append_batch_size=False)


def of_2() -> Any:
    return layers.data("y", [2, 3], append_batch_size=False)


REFUSED: dict[str, Callable[[], Any]] = {
    "addcmul: value": lambda: layers.addcmul(of_2(), of_2(), of_2(), value=1),
    "addmm: x has 2 axes": lambda: layers.addmm(of_2(), of_3(), of_2()),
    "bmm: x has 3 axes": lambda: layers.bmm(of_2(), of_2()),
    "dot: x and y have as many axes": lambda: layers.dot(
        layers.data("line", [3], append_batch_size=False), of_2()
    ),
    "diag_embed: dim1 and dim2 are two axes": lambda: layers.diag_embed(of_2(), dim1=1, dim2=1),
    "flip: dims holds one axis": lambda: layers.flip(of_2(), []),
    "full: device": lambda: layers.full([2], 1.0, device="xpu"),
    "full: dtype": lambda: layers.full([2], 1.0, dtype="int8"),
    "hash: input": lambda: layers.hash(of_2(), 10),
    "index_sample: index": lambda: layers.index_sample(of_2(), of_2()),
    "index_select: index": lambda: layers.index_select(of_2(), of_2()),
    "interpolate: resample": lambda: layers.interpolate(of_3(), [2, 2], resample="FINE"),
    "inplace_abn: act": lambda: layers.inplace_abn(of_3(), act="relu"),
    "kron: y": lambda: layers.kron(of_2(), 2.0),
    "meshgrid: input is a list": lambda: layers.meshgrid((of_2(), of_2())),
    "randint: low is less than high": lambda: layers.randint(5, 3),
    "randn: shape": lambda: layers.randn([]),
    "randn: dtype": lambda: layers.randn([2], dtype="int32"),
    "randperm: n": lambda: layers.randperm(0),
    "randperm: dtype": lambda: layers.randperm(3, dtype="float32"),
    "roll: shifts": lambda: layers.roll(of_2(), "a"),
    "roll: shifts has a number": lambda: layers.roll(of_2(), [1, 1], dims=[0]),
    "shard_index: shard_id": lambda: layers.shard_index(layers.data("i", [1], dtype="int64"), 20, 3, 3),
    "similarity_focus: input has 4 axes": lambda: layers.similarity_focus(of_3(), 1, [0]),
    "spectral_norm: dim": lambda: layers.spectral_norm(of_2(), dim="a"),
    "t: input has 2 axes": lambda: layers.t(of_3()),
    "trace: dim2 is one of 2 axes": lambda: layers.trace(of_2(), dim2=2),
    "tril: diagonal": lambda: layers.tril(of_2(), diagonal=1.5),
    "unfold: x has 4 axes": lambda: layers.unfold(of_3(), 2),
    "Normal: loc": lambda: layers.Normal(1, 2),
    "Normal: loc and scale": lambda: layers.Normal(of_2(), 1.0),
    "Normal.kl_divergence": lambda: layers.Normal(0.0, 1.0).kl_divergence(layers.Uniform(0.0, 1.0)),
    "Normal.log_prob": lambda: layers.Normal(0.0, 1.0).log_prob(1.0),
    "Uniform.sample": lambda: layers.Uniform(0.0, 1.0).sample(3),
    "Categorical: logits": lambda: layers.Categorical(1.0),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_1_8_5_refuses_is_refused_by_the_arguments_name(said: str) -> None:
    with pytest.raises(BadArgument, match=said.replace(".", r"\.")):
        REFUSED[said]()
    made = {op.type for op in fluid.default_main_program().global_block().ops}
    assert made <= {"assign_value"}  # numbers of a distribution


def test_a_size_a_scale_and_a_place_that_are_computed_give_what_told_ones_give() -> None:
    x = layers.data("x", [2, 3, 2])
    half, sizes = layers.fill_constant([1], "float32", 1.5), layers.assign(np.array([4, 3], "int32"))
    told = {"resample": "BICUBIC", "align_corners": False}
    outs = [
        layers.interpolate(x, [4, 3], **told),
        layers.interpolate(x, scale=1.5, **told),
        layers.interpolate(x, scale=half, **told),
        layers.interpolate(x, sizes, **told),
        layers.interpolate(x, [layers.fill_constant([1], "int32", 4), 3], **told),
        layers.interpolate(x, [7, 7], actual_shape=sizes, **told),
    ]
    outs.append(layers.arange(half, 6.0, 2))
    first, *others, counted = fluid.Executor().run(feed={"x": cases.IMAGE}, fetch_list=outs)
    assert first.shape == (1, 2, 4, 3) and all((first == each).all() for each in others)
    assert counted.tolist() == [1.5, 3.5, 5.5]


def test_an_axis_of_any_size_is_rolled_and_a_batch_has_diagonals() -> None:
    x = layers.data("x", [3])
    x.stop_gradient = False
    rolled = layers.roll(x, [5, 1], dims=[0, -1])
    outs = [
        rolled,
        layers.roll(x, 3, dims=0),
        layers.roll(x, 4),
        layers.flip(x, [-2]),
        layers.tril(layers.reshape(x, [-1, 1, 3])),
    ]
    outs += fluid.gradients([layers.reduce_sum(rolled * rolled * rolled)], [x])
    values = np.arange(12, dtype="float32").reshape(4, 3)
    found = fluid.Executor().run(feed={"x": values}, fetch_list=outs)
    expected = [np.roll(values, (5, 1), (0, 1)), np.roll(values, 3, 0), np.roll(values, 4), values[::-1]]
    expected += [np.tril(values[:, None]), 3 * values**2]
    for one, other in zip(found, expected, strict=True):
        assert (one == other).all()
