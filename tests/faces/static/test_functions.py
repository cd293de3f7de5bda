"""Functions of tensors and of networks, each against what numpy computes of the same numbers."""

import math

import numpy as np
import pytest

import paddle
from paddle._program.lowering.lowering import Lowering
from paddle.nn import functional as F  # noqa: N812  as programs call it

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 4)).astype(np.float32)
B = RNG.normal(size=(3, 4)).astype(np.float32)
P = (RNG.random((3, 4)) * 0.8 + 0.1).astype(np.float32)
T = RNG.normal(size=(2, 3, 4)).astype(np.float32)
I = RNG.integers(0, 3, (3, 4))  # noqa: E741
L = np.array([[1], [3], [0]])
V = RNG.normal(size=(4,)).astype(np.float32)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf)

CASES = {
    "add": (lambda a, b: paddle.add(a, b), lambda a, b: a + b),
    "add_row": (lambda a, b: paddle.add(a, b[0]), lambda a, b: a + b[0]),
    "row_add": (lambda a, b: paddle.add(b[0], a), lambda a, b: a + b[0]),
    "column": (lambda a, b: a * b[:, 0:1], lambda a, b: a * b[:, :1]),
    "subtract": (lambda a, b: paddle.subtract(a, b), np.subtract),
    "rsub": (lambda a, b: 1 - a, lambda a, b: 1 - a),
    "divide": (lambda a, b: a / b, np.divide),
    "rdiv": (lambda a, b: 2.0 / a, lambda a, b: 2 / a),
    "neg": (lambda a, b: -a, lambda a, b: -a),
    "pow": (lambda a, b: paddle.pow(a, 2), lambda a, b: a**2),
    "pow_op": (lambda a, b: a**2 + a**3.0, lambda a, b: a**2 + a**3),
    "maximum": (lambda a, b: paddle.maximum(a, b), np.maximum),
    "minimum": (lambda a, b: paddle.minimum(a, b), np.minimum),
    "matmul": (lambda a, b: paddle.matmul(a, b, transpose_y=True), lambda a, b: a @ b.T),
    "matmul_op": (lambda a, b: a @ paddle.t(b), lambda a, b: a @ b.T),
    "mm": (lambda a, b: paddle.mm(paddle.transpose(a, [1, 0]), b), lambda a, b: a.T @ b),
    "dot": (lambda a, b: paddle.dot(a, b), lambda a, b: (a * b).sum(-1)),
    "sum": (lambda a, b: paddle.sum(a), lambda a, b: a.sum()),
    "sum_axis": (lambda a, b: paddle.sum(a, axis=1, keepdim=True), lambda a, b: a.sum(1, keepdims=True)),
    "sum_method": (lambda a, b: a.sum(axis=0), lambda a, b: a.sum(0)),
    "mean": (lambda a, b: paddle.mean(a, axis=-1), lambda a, b: a.mean(-1)),
    "max": (lambda a, b: paddle.max(a, axis=1), lambda a, b: a.max(1)),
    "min": (lambda a, b: paddle.min(a, axis=[0, 1]), lambda a, b: a.min()),
    "prod": (lambda a, b: paddle.prod(a, axis=1), lambda a, b: a.prod(1)),
    "std": (lambda a, b: paddle.std(a, axis=1), lambda a, b: a.std(1, ddof=1)),
    "var": (lambda a, b: paddle.var(a, unbiased=False), lambda a, b: a.var()),
    "logsumexp": (
        lambda a, b: paddle.logsumexp(a, axis=1),
        lambda a, b: np.log(np.exp(a).sum(1)),
    ),
    "cumsum": (lambda a, b: paddle.cumsum(a, axis=1), lambda a, b: a.cumsum(1)),
    "norm": (lambda a, b: paddle.norm(a), lambda a, b: np.sqrt((a**2).sum())),
    "norm_axis": (lambda a, b: paddle.norm(a, p=1, axis=1), lambda a, b: np.abs(a).sum(1)),
    "norm, counted": (lambda a, b: paddle.norm(F.relu(a), 0, 1), lambda a, b: (a > 0).sum(1)),
    "norm, below 0": (lambda a, b: paddle.norm(a, -2, 1), lambda a, b: (a**-2.0).sum(1) ** -0.5),
    "clip_at": (lambda a, b: paddle.clip(a, max=paddle.full([1], 0.5)), lambda a, b: a.clip(max=0.5)),
    "clip": (lambda a, b: paddle.clip(a, -0.5, 0.5), lambda a, b: a.clip(-0.5, 0.5)),
    "abs": (lambda a, b: paddle.abs(a), lambda a, b: np.abs(a)),
    "exp": (lambda a, b: paddle.exp(a), lambda a, b: np.exp(a)),
    "square": (lambda a, b: a.square(), lambda a, b: a**2),
    "tanh": (lambda a, b: paddle.tanh(a), lambda a, b: np.tanh(a)),
    "scale": (lambda a, b: paddle.scale(a, 2.0, 1.0, False), lambda a, b: (a + 1) * 2),
    "add_n": (lambda a, b: paddle.add_n([a, b, a]), lambda a, b: a + b + a),
    "concat": (lambda a, b: paddle.concat([a, b], axis=1), lambda a, b: np.concatenate([a, b], 1)),
    "stack": (lambda a, b: paddle.stack([a, b], axis=1), lambda a, b: np.stack([a, b], 1)),
    "split": (lambda a, b: paddle.split(a, [1, -1], axis=1)[1], lambda a, b: a[:, 1:]),
    "chunk": (lambda a, b: paddle.chunk(a, 2, axis=1)[1], lambda a, b: a[:, 2:]),
    "unstack": (lambda a, b: paddle.unbind(a, axis=1)[2], lambda a, b: a[:, 2]),
    "reshape": (lambda a, b: paddle.reshape(a, [0, 2, -1]), lambda a, b: a.reshape(3, 2, 2)),
    "flatten": (lambda a, b: paddle.flatten(paddle.unsqueeze(a, [0, 3]), 1), lambda a, b: a.reshape(1, 12)),
    "squeeze": (lambda a, b: paddle.squeeze(paddle.unsqueeze(a, 1)), lambda a, b: a),
    "tile": (lambda a, b: paddle.tile(a, [2, 1]), lambda a, b: np.tile(a, (2, 1))),
    "expand": (lambda a, b: paddle.expand(a[0:1], [3, 4]), lambda a, b: np.repeat(a[:1], 3, 0)),
    "flip": (lambda a, b: paddle.flip(a, axis=[1]), lambda a, b: a[:, ::-1]),
    "index": (lambda a, b: a[1], lambda a, b: a[1]),
    "last": (lambda a, b: a[:, -1], lambda a, b: a[:, -1]),
    "pieces": (lambda a, b: a[0:2, ..., None], lambda a, b: a[0:2, ..., None]),
    "strides": (lambda a, b: a[:, ::2], lambda a, b: a[:, ::2]),
    "argmax": (lambda a, b: paddle.argmax(a, axis=1), lambda a, b: a.argmax(1)),
    "argsort": (lambda a, b: paddle.argsort(a, axis=1, descending=True), lambda a, b: np.argsort(-a, 1)),
    "sort": (lambda a, b: paddle.sort(a, axis=1), lambda a, b: np.sort(a, 1)),
    "topk": (lambda a, b: paddle.topk(a, 2)[0], lambda a, b: -np.sort(-a, 1)[:, :2]),
    "where": (lambda a, b: paddle.where(a > b, a, b), np.maximum),
    "greater": (lambda a, b: paddle.cast(a > 0, "int64"), lambda a, b: (a > 0).astype(np.int64)),
    "equal": (lambda a, b: paddle.equal(a, a), lambda a, b: np.ones((3, 4), bool)),
    "logical": (
        lambda a, b: paddle.logical_and(a > 0, paddle.logical_not(b > 0)),
        lambda a, b: (a > 0) & ~(b > 0),
    ),
    "full": (lambda a, b: paddle.full([2, 2], 3, "int64"), lambda a, b: np.full((2, 2), 3)),
    "zeros_like": (lambda a, b: paddle.zeros_like(a), lambda a, b: np.zeros_like(a)),
    "arange": (lambda a, b: paddle.arange(1, 7, 2), lambda a, b: np.arange(1, 7, 2)),
    "linspace": (lambda a, b: paddle.linspace(0, 1, 5), lambda a, b: np.linspace(0, 1, 5)),
    "eye": (lambda a, b: paddle.eye(3), lambda a, b: np.eye(3)),
    "assign": (lambda a, b: paddle.assign(np.array([1.5, 2.5])), lambda a, b: np.array([1.5, 2.5])),
    "shape": (lambda a, b: paddle.shape(a), lambda a, b: np.array([3, 4])),
    "relu": (lambda a, b: F.relu(a), lambda a, b: a.clip(0)),
    "sigmoid": (lambda a, b: F.sigmoid(a), lambda a, b: sigmoid(a)),
    "softmax": (lambda a, b: F.softmax(a, axis=0), lambda a, b: softmax(a, 0)),
    "log_softmax": (lambda a, b: F.log_softmax(a), lambda a, b: np.log(softmax(a))),
    "gelu": (lambda a, b: F.gelu(a), lambda a, b: a * (1 + erf(a / math.sqrt(2))) / 2),
    "leaky_relu": (lambda a, b: F.leaky_relu(a), lambda a, b: np.where(a > 0, a, 0.01 * a)),
    "elu": (lambda a, b: F.elu(a), lambda a, b: np.where(a > 0, a, np.exp(a) - 1)),
    "relu6": (lambda a, b: F.relu6(a * 9), lambda a, b: (a * 9).clip(0, 6)),
    "softplus": (lambda a, b: F.softplus(a), lambda a, b: np.log1p(np.exp(a))),
    "softplus, bent": (lambda a, b: F.softplus(a, 0.5), lambda a, b: 2 * np.log1p(np.exp(a / 2))),
    "softplus, cut": (
        lambda a, b: F.softplus(a, 2, 1),
        lambda a, b: np.where(a > 0.5, a, np.log1p(np.exp(2 * a)) / 2),
    ),
    "sum of int32": (
        lambda a, b: paddle.sum(paddle.cast(a * 9, "int32")),
        lambda a, b: int((a * 9).astype(int).sum()),
    ),
    "swish": (lambda a, b: F.swish(a), lambda a, b: a * sigmoid(a)),
    "mish": (lambda a, b: F.mish(a), lambda a, b: a * np.tanh(np.log1p(np.exp(a)))),
    "hardsigmoid": (lambda a, b: F.hardsigmoid(a), lambda a, b: (a / 6 + 0.5).clip(0, 1)),
    "hardswish": (lambda a, b: F.hardswish(a), lambda a, b: a * (a + 3).clip(0, 6) / 6),
    "hardtanh": (lambda a, b: F.hardtanh(a), lambda a, b: a.clip(-1, 1)),
    "normalize": (
        lambda a, b: F.normalize(a, axis=1),
        lambda a, b: a / np.sqrt((a**2).sum(1, keepdims=True)),
    ),
    "cosine": (
        lambda a, b: F.cosine_similarity(a, b, axis=1),
        lambda a, b: (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1)),
    ),
    "layer_norm": (
        lambda a, b: F.layer_norm(a, 4),
        lambda a, b: (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5),
    ),
    "mse": (lambda a, b: F.mse_loss(a, b), lambda a, b: ((a - b) ** 2).mean()),
    "l1": (lambda a, b: F.l1_loss(a, b, reduction="sum"), lambda a, b: np.abs(a - b).sum()),
    "smooth_l1": (
        lambda a, b: F.smooth_l1_loss(a, b),
        lambda a, b: np.where(np.abs(a - b) < 1, (a - b) ** 2 / 2, np.abs(a - b) - 0.5).mean(),
    ),
    "linear": (lambda a, b: F.linear(a, paddle.t(b)), lambda a, b: a @ b.T),
    "pad": (lambda a, b: F.pad(a, [0, 0, 1, 2]), lambda a, b: np.pad(a, ((0, 0), (1, 2)))),
    "label_smooth": (lambda a, b: F.label_smooth(a), lambda a, b: 0.9 * a + 0.1 / 4),
    "margin": (
        lambda a, b: F.margin_ranking_loss(a, b, paddle.ones_like(a)),
        lambda a, b: (b - a).clip(0).mean(),
    ),
    "bce_logits": (
        lambda a, b: F.binary_cross_entropy_with_logits(a, F.sigmoid(b)),
        lambda a, b: (np.log1p(np.exp(-np.abs(a))) + a.clip(0) - a * sigmoid(b)).mean(),
    ),
}


def computed(given, function):
    fed = {f"x{n}": value for n, value in enumerate(given)}
    inputs = [paddle.static.data(name, [None, *value.shape[1:]], value.dtype) for name, value in fed.items()]
    found = function(*inputs)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    return found, executor.run(feed=fed, fetch_list=[found])[0]


@pytest.mark.parametrize("name", CASES)
def test_of_two_tensors(name):
    function, expected = CASES[name]
    described, found = computed([A, B], function)
    wanted = np.asarray(expected(A.astype(np.float64), B.astype(np.float64)))
    assert found.shape == (wanted.shape or (1,))
    assert found == pytest.approx(wanted.reshape(found.shape), rel=1e-4, abs=1e-5)
    sizes = [
        size for size, there in zip(described.shape, found.shape, strict=True) if size not in (-1, there)
    ]
    assert not sizes


def test_exp_of_whole_numbers_is_not_whole():
    _, found = computed([L], paddle.exp)
    assert found == pytest.approx(np.exp(L), rel=1e-5)


OF_LABELS = {
    "cross_entropy": (
        lambda a, y: F.cross_entropy(a, y),
        lambda a: -np.log(softmax(a))[range(3), L[:, 0]].mean(),
    ),
    "flat labels": (
        lambda a, y: F.cross_entropy(a, paddle.squeeze(y, [1])),
        lambda a: -np.log(softmax(a))[range(3), L[:, 0]].mean(),
    ),
    "ignored": (
        lambda a, y: F.cross_entropy(a, y, ignore_index=3),
        lambda a: -np.log(softmax(a))[[0, 2], [1, 0]].mean(),
    ),
    "softmax_with": (
        lambda a, y: F.softmax_with_cross_entropy(a, y),
        lambda a: -np.log(softmax(a))[range(3), L[:, 0]][:, None],
    ),
    "of chances": (
        lambda a, y: F.cross_entropy(F.softmax(a), y, use_softmax=False, reduction="none"),
        lambda a: -np.log(softmax(a))[range(3), L[:, 0]][:, None],
    ),
    "nll": (
        lambda a, y: F.nll_loss(F.log_softmax(a), y),
        lambda a: -np.log(softmax(a))[range(3), L[:, 0]].mean(),
    ),
    "one_hot": (lambda a, y: F.one_hot(paddle.squeeze(y, [1]), 4), lambda a: np.eye(4)[L[:, 0]]),
    "gather": (
        lambda a, y: paddle.gather(a, paddle.clip(paddle.squeeze(y, [1]), max=2)),
        lambda a: a[[1, 2, 0]],
    ),
    "index_sample": (lambda a, y: paddle.index_sample(a, y), lambda a: np.take_along_axis(a, L, 1)),
    "accuracy": (lambda a, y: paddle.static.accuracy(F.softmax(a), y, k=2), lambda a: hits(a)),
}


def hits(a):
    return np.mean([label in np.argsort(-row)[:2] for row, label in zip(a, L[:, 0], strict=True)])


@pytest.mark.parametrize("name", OF_LABELS)
def test_of_scores_and_labels(name):
    function, expected = OF_LABELS[name]
    _, found = computed([A, L], function)
    wanted = np.asarray(expected(A.astype(np.float64)))
    assert found == pytest.approx(wanted.reshape(found.shape), rel=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [-100, 2])
def test_nll_of_many_places(reduction, ignored):
    """(n, classes, places), and a label for each place; places whose label is ignored count nothing."""
    label = np.array([[0, 1, 2, 0], [2, 2, 1, 0]])
    losses = -np.take_along_axis(T, label[:, None], 1)[:, 0] * (label != ignored)
    wanted = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / np.sum(label != ignored)}[reduction]
    _, found = computed([T, label], lambda t, y: F.nll_loss(t, y, ignore_index=ignored, reduction=reduction))
    assert found == pytest.approx(np.asarray(wanted).reshape(found.shape), rel=1e-4)
    assert (found.shape == label.shape) == (reduction == "none")


def test_of_chances():
    label = (B > 0).astype(np.float32)
    exact = -(label * np.log(P) + (1 - label) * np.log(1 - P))
    for function, wanted in (
        (lambda p, y: F.binary_cross_entropy(p, y), exact.mean()),
        (lambda p, y: F.log_loss(p, y, epsilon=1e-7), exact),
        (lambda p, y: paddle.nn.BCELoss(reduction="sum")(p, y), exact.sum()),
    ):
        with paddle.static.program_guard(paddle.static.Program()):
            found = computed([P, label], function)[1]
            assert found == pytest.approx(np.asarray(wanted).reshape(found.shape), rel=1e-4)


def test_of_batches_of_matrices():
    for function, wanted in (
        (lambda t: paddle.matmul(t, t, transpose_y=True), T @ T.transpose(0, 2, 1)),
        (lambda t: paddle.transpose(t, [2, 0, 1]), T.transpose(2, 0, 1)),
        (
            lambda t: paddle.nn.Linear(4, 2, weight_attr=paddle.nn.initializer.Constant(0.5))(t),
            T.sum(2, keepdims=True).repeat(2, 2) / 2,
        ),
        (lambda t: paddle.max(t, axis=1), T.max(1)),
        (lambda t: paddle.split(t, 2, axis=0)[1], T[1:]),
        (lambda t: F.softmax(t, axis=1), softmax(T, 1)),
        (lambda t: t[:, 1, :], T[:, 1]),
        (lambda t: paddle.mean(t, axis=[1, 2]), T.mean((1, 2))),
        (lambda t: F.avg_pool1d(t, 2, 2), T.reshape(2, 3, 2, 2).mean(-1)),
        (lambda t: F.max_pool1d(t, 2, 2), T.reshape(2, 3, 2, 2).max(-1)),
        (lambda t: F.adaptive_avg_pool1d(t, 1), T.mean(2, keepdims=True)),
    ):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            assert computed([T], function)[1] == pytest.approx(wanted, rel=1e-4, abs=1e-5)


CHOSEN = {
    "tril": (lambda a: paddle.tril(a, 1), lambda a: np.tril(a, 1)),
    "triu": (lambda a: paddle.triu(a), lambda a: np.triu(a)),
    "trace": (lambda a: paddle.trace(a), lambda a: np.trace(a)),
    "diagonal": (lambda a: paddle.diag(a), lambda a: np.diag(a)),
    "diag": (lambda a: paddle.diag(a[0]), lambda a: np.diag(a[0])),
    "roll": (lambda a: paddle.roll(a, 1, axis=1), lambda a: np.roll(a, 1, 1)),
    "roll_all": (lambda a: paddle.roll(a, -2), lambda a: np.roll(a, -2)),
    "meshgrid": (
        lambda a: paddle.meshgrid(a[0], a[:, 0])[1],
        lambda a: np.meshgrid(a[0], a[:, 0], indexing="ij")[1],
    ),
    "numel": (lambda a: paddle.numel(a), lambda a: a.size),
    "masked": (lambda a: paddle.masked_select(a, a > 0), lambda a: a[a > 0]),
    "unique": (lambda a: paddle.unique(paddle.sign(a)), lambda a: np.unique(np.sign(a))),
    "nonzero": (lambda a: paddle.nonzero(a > 0), lambda a: np.argwhere(a > 0)),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_of_what_is_chosen(name):
    function, expected = CHOSEN[name]
    x = paddle.static.data("x", [3, 4])
    found = paddle.static.Executor().run(feed={"x": A}, fetch_list=[function(x)])[0]
    wanted = np.asarray(expected(A))
    assert found == pytest.approx(wanted.reshape(wanted.shape or (1,)))


def test_of_what_is_drawn():
    order, coin = paddle.randperm(20), paddle.bernoulli(paddle.full([200], 0.25))
    even, normal = paddle.rand([500]), paddle.randn([500])
    whole = paddle.randint(3, 6, [100])
    found = paddle.static.Executor().run(fetch_list=[order, coin, even, normal, whole])
    assert sorted(found[0].tolist()) == list(range(20))
    assert 0.1 < found[1].mean() < 0.4
    assert 0 <= found[2].min() <= found[2].max() < 1
    assert abs(found[3].mean()) < 0.3
    assert set(found[4].tolist()) == {3, 4, 5}


def test_of_images():
    image = RNG.normal(size=(2, 4, 6, 6)).astype(np.float32)

    def standard(x, axes):
        return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)

    x = paddle.static.data("x", [None, 4, 6, 6])
    last = paddle.nn.GroupNorm(2, 4, data_format="NHWC")(paddle.transpose(x, [0, 2, 3, 1]))
    found = [
        paddle.transpose(last, [0, 3, 1, 2]),
        *(paddle.nn.GroupNorm(2, 4)(x), paddle.nn.InstanceNorm2D(4)(x)),
        *(F.interpolate(x, scale_factor=2), F.dropout2d(x, 0.5), F.dropout2d(x, 0.5, training=False)),
    ]
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    last_groups, groups, instances, larger, dropped, whole = executor.run(feed={"x": image}, fetch_list=found)
    parted = standard(image.reshape(2, 2, 2, 6, 6), (2, 3, 4)).reshape(image.shape)
    assert groups == pytest.approx(parted, abs=1e-4)
    assert last_groups == pytest.approx(parted, abs=1e-4)
    assert instances == pytest.approx(standard(image, (2, 3)), abs=1e-4)
    assert np.array_equal(larger, image.repeat(2, 2).repeat(2, 3))
    assert np.array_equal(whole, image)
    for each, of in zip(dropped.reshape(8, 36), image.reshape(8, 36), strict=True):
        assert not each.any() or each == pytest.approx(of * 2)


def test_a_mask_of_lengths():
    lengths = paddle.static.data("lengths", [None], "int64")
    found = paddle.static.Executor().run(
        feed={"lengths": np.array([2, 0, 3])}, fetch_list=[F.sequence_mask(lengths, 4, "float32")]
    )
    assert found[0].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]


@pytest.mark.parametrize("turned", [False, True])
def test_a_matrix_multiplies_all_rows_at_once(turned: bool) -> None:
    """A product for each matrix of a batch took half as long again, with its gradients twice as long."""
    x = paddle.static.data("x", [None, 3, 4])
    weight = paddle.create_parameter([5, 4] if turned else [4, 5], "float32")
    out = paddle.matmul(x, weight, transpose_y=turned)
    block = paddle.static.default_main_program().global_block()
    low = Lowering(block, fed=["x"])
    low.lower(block.ops)
    (product,) = (each for each in low.builder.program.main.operators if "mul" in each.type)
    assert low.builder.program.main.variables[product.inputs["X"][0]].shape == (-1, 4)
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(out * out))
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    kept = np.array(paddle.static.global_scope().find_var(weight.name).get_tensor())
    found, gradient = exe.run(feed={"x": T}, fetch_list=[out, weight.name + "@GRAD"])
    expected = T @ (kept.T if turned else kept)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    slope = np.einsum("nti,ntj->ij", T, 2 * expected)
    np.testing.assert_allclose(gradient, slope.T if turned else slope, rtol=1e-4, atol=1e-5)


def test_dropping_nothing_is_nothing() -> None:
    x = paddle.static.data("x", [None, 3])
    assert F.dropout(x, 0.0) is x
