"""Layers of arrays, each called once on a few numbers: what 1.8.5 and this release are both asked.

Nothing here is newer than the Python of 1.8.5, which ran it for the figures of test_arrays.py.
"""

from __future__ import annotations

import numpy as np

import paddle.fluid as fluid

layers = fluid.layers
_random = np.random.RandomState(3)


def _drawn(*sizes: int) -> np.ndarray:
    return _random.uniform(-1, 1, sizes).round(2).astype("float32")


def _whole(below: int, *sizes: int) -> np.ndarray:
    return _random.randint(0, below, sizes).astype("int64")


A, B, S, W, X, Y = _drawn(2, 3), _drawn(2, 3), _drawn(2, 2), _drawn(3, 2), _drawn(3), _drawn(2)
C, D, IMAGE, PAIR = _drawn(2, 2, 3), _drawn(2, 3, 1), _drawn(1, 2, 3, 2), _drawn(1, 1, 3, 2)
PLACES, COLUMNS, IDS = _whole(3, 2, 2), _whole(2, 3), _whole(12, 4, 1)
TOLD = np.array([[0, 1, 0], [2, 0, 3]], "float32")
SCORES = np.array([[0.5], [-1.0], [2.0], [-0.3], [20.0], [-4.0]], "float32")
CLICKS = np.array([[-2.0], [-1.0], [0.3], [1.6], [0.0], [1.0]], "float32")
WORDS, SAMPLES, LABELS = _drawn(1, 2, 4), _drawn(3, 2), np.array([[0], [2], [2]], "int64")
HALF = fluid.initializer.Constant(0.5)


def _center(x, label):
    attr = fluid.ParamAttr(name="centers", initializer=HALF)
    return layers.center_loss(x, label, 3, 0.1, attr)


def _normal(x, y):
    scale = layers.exp(y)
    own, other = layers.distributions.Normal(x, scale), layers.distributions.Normal(y, scale * 2.0)
    return [own.entropy(), own.log_prob(y), own.kl_divergence(other)]


def _uniform(x, y):
    own = layers.distributions.Uniform(x - 2.0, y + 2.0)
    return [own.entropy(), own.log_prob(x)]


def _categorical(x, y):
    own, other = layers.distributions.Categorical(x), layers.distributions.Categorical(y)
    return [own.entropy(), own.kl_divergence(other)]


def _many():
    kind = layers.distributions.MultivariateNormalDiag
    own = kind(X, np.diag(np.array([0.5, 0.8, 1.2], "float32")))
    return [own.entropy(), layers.reduce_mean(own.kl_divergence(kind(X + 0.5, np.eye(3, dtype="float32"))))]


CASES = {
    "addcmul": ({"a": A, "b": B, "c": A + 1}, lambda a, b, c: layers.addcmul(a, b, c, value=0.5)),
    "addmm": ({"i": S, "x": A, "y": W}, lambda i, x, y: layers.addmm(i, x, y, alpha=0.5, beta=2.0)),
    "addmm of a row": ({"i": S[:1], "x": A, "y": W}, lambda i, x, y: layers.addmm(i, x, y)),
    "add_position_encoding": ({"x": WORDS}, lambda x: layers.add_position_encoding(x, 0.7, 1.3)),
    "allclose": ({"x": A, "y": A + 1e-6}, lambda x, y: layers.allclose(x, y, atol=1e-4)),
    "allclose not": ({"x": A, "y": A * 1.1}, lambda x, y: layers.allclose(x, y)),
    "arange": ({}, lambda: layers.arange(1, 9, 2)),
    "arange down": ({}, lambda: layers.arange(5, 1, -2, dtype="int32")),
    "bmm": ({"x": C, "y": D}, lambda x, y: layers.bmm(x, y)),
    "center_loss": ({"x": SAMPLES, "label": LABELS}, _center),
    "cross": ({"x": A, "y": B}, lambda x, y: layers.cross(x, y)),
    "cross along an axis": ({"x": W, "y": W[::-1] + 1}, lambda x, y: layers.cross(x, y, dim=0)),
    "diag_embed": ({"x": A}, lambda x: layers.diag_embed(x, offset=-1, dim1=0, dim2=2)),
    "dist": ({"x": A, "y": B}, lambda x, y: layers.dist(x, y)),
    "dist of 1": ({"x": A, "y": B}, lambda x, y: layers.dist(x, y, 1)),
    "dist of 3, spread": ({"x": A, "y": B[:1]}, lambda x, y: layers.dist(x, y, 3)),
    "dist of 0": ({"x": A, "y": B}, lambda x, y: layers.dist(x, y, 0)),
    "dist, the most": ({"x": A, "y": B}, lambda x, y: layers.dist(x, y, float("inf"))),
    "dist, the least": ({"x": A, "y": B}, lambda x, y: layers.dist(x, y, float("-inf"))),
    "dot": ({"x": A, "y": B}, lambda x, y: layers.dot(x, y)),
    "dot of lines": ({"x": X, "y": X + 1}, lambda x, y: layers.dot(x, y)),
    "elementwise_equal": ({"x": COLUMNS, "y": COLUMNS[::-1]}, lambda x, y: layers.elementwise_equal(x, y)),
    "flip": ({"x": C}, lambda x: layers.flip(x, [0, -1])),
    "fsp_matrix": ({"x": IMAGE, "y": PAIR}, lambda x, y: layers.fsp_matrix(x, y)),
    "full": ({}, lambda: layers.full([2, 2], 1.5)),
    "full of truths": ({}, lambda: layers.full([2], True, dtype="bool")),
    "full_like": ({"x": A}, lambda x: layers.full_like(x, 2, dtype="int64")),
    "index_sample": ({"x": A, "index": PLACES}, lambda x, index: layers.index_sample(x, index)),
    "index_select": ({"x": A, "index": COLUMNS}, lambda x, index: layers.index_select(x, index, dim=1)),
    "interpolate": (
        {"x": IMAGE},
        lambda x: layers.interpolate(x, out_shape=[2, 3], resample="BICUBIC", align_corners=False),
    ),
    "interpolate to corners": (
        {"x": IMAGE},
        lambda x: layers.interpolate(x, scale=1.5, resample="BICUBIC"),
    ),
    "kron": ({"x": S, "y": A}, lambda x, y: layers.kron(x, y)),
    "kron of two ranks": ({"x": C, "y": Y}, lambda x, y: layers.kron(x, y)),
    "log_softmax": ({"x": A}, lambda x: layers.log_softmax(x, axis=0)),
    "logsumexp": ({"x": C}, lambda x: layers.logsumexp(x, dim=[0, 2], keepdim=True)),
    "meshgrid": ({"x": X, "y": Y}, lambda x, y: layers.meshgrid([x, y])),
    "nonzero": ({"x": TOLD}, lambda x: layers.nonzero(x)),
    "nonzero as columns": ({"x": TOLD}, lambda x: layers.nonzero(x, as_tuple=True)),
    "random_crop": ({"x": IMAGE}, lambda x: layers.random_crop(x, [2, 1], seed=7)),
    "random_crop, below 0": ({"x": IMAGE}, lambda x: layers.random_crop(x, [2, 1], seed=-29381)),
    "roll": ({"x": A}, lambda x: layers.roll(x, 2)),
    "roll along axes": ({"x": A}, lambda x: layers.roll(x, [1, -2], dims=[0, 1])),
    "shard_index": ({"x": IDS}, lambda x: layers.shard_index(x, 12, 3, 1, ignore_value=-7)),
    "similarity_focus": ({"x": IMAGE}, lambda x: layers.similarity_focus(x, 1, [0])),
    "t": ({"x": A}, lambda x: layers.t(x)),
    "teacher_student_sigmoid_loss": (
        {"x": SCORES, "label": CLICKS},
        lambda x, label: layers.teacher_student_sigmoid_loss(x, label),
    ),
    "trace": ({"x": A}, lambda x: layers.trace(x, offset=1)),
    "trace of many": ({"x": C}, lambda x: layers.trace(x, offset=1, dim1=-1, dim2=1)),
    "tril": ({"x": C}, lambda x: layers.tril(x)),
    "triu": ({"x": A}, lambda x: layers.triu(x, diagonal=1)),
    "triu of whole numbers": ({"x": PLACES}, lambda x: layers.triu(x)),
    "unfold": ({"x": IMAGE}, lambda x: layers.unfold(x, [2, 1], [1, 2], [1, 0], 1)),
    "Normal": ({"x": X, "y": X[::-1].copy()}, _normal),
    "Uniform": ({"x": X, "y": X[::-1].copy()}, _uniform),
    "Categorical": ({"x": A, "y": B}, _categorical),
    "MultivariateNormalDiag": ({}, _many),
}


STILL = ("random_crop", "similarity_focus", "MultivariateNormalDiag")
"""What has no slope in 1.8.5, whose names begin so."""


def given(inputs):
    """Data of the program, that a gradient may come to."""
    found = {name: fluid.data(name, list(value.shape), str(value.dtype)) for name, value in inputs.items()}
    for each in found.values():
        each.stop_gradient = False
    return found


def asked(name):
    """What a case gives, and by its float32 inputs the slope of the sum of half the squares."""
    inputs, call = CASES[name]
    with fluid.unique_name.guard(), fluid.program_guard(fluid.Program(), fluid.Program()):
        data = given(inputs)
        made = call(**data)
        outs = list(made) if isinstance(made, (list, tuple)) else [made]
        halves = [layers.reduce_sum(each * each) * 0.5 for each in outs if "FP32" in str(each.dtype)]
        sources = [data[each] for each in inputs if inputs[each].dtype == np.float32 and each != "label"]
        slopes = []
        if halves and sources and not name.startswith(STILL):
            found = fluid.backward.gradients([layers.sums(halves)], sources)
            slopes = [(sources[at].name, each) for at, each in enumerate(found) if each is not None]
        exe = fluid.Executor(fluid.CPUPlace())
        with fluid.scope_guard(fluid.core.Scope()):
            exe.run(fluid.default_startup_program())
            values = exe.run(feed=inputs, fetch_list=[*outs, *(each for _, each in slopes)])
    told = [(list(each.shape), str(each.dtype), np.ravel(each).tolist()) for each in values[: len(outs)]]
    steep = values[len(outs) :]
    return told, {slopes[at][0]: np.ravel(each).tolist() for at, each in enumerate(steep)}
