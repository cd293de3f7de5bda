"""Tags of sequences in fluid: chains, alignments and measures, padded or not; costs over many classes."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
LENGTHS = [2, 1, 3]
RUNS = [range(2), range(2, 3), range(3, 6)]
RNG = np.random.default_rng(17)
X = RNG.normal(size=(6, 3)).astype(np.float32)
TAGS = np.array([[0], [2], [1], [1], [0], [2]])


def tensor(array, lengths=LENGTHS):
    return fluid.create_lod_tensor(np.asarray(array), [list(lengths)], None)


def padded(array, fill=0):
    out = np.full((3, 3, array.shape[1]), fill, array.dtype)
    for row, run in enumerate(RUNS):
        out[row, : len(run)] = array[run]
    return out


def data(name, width, dtype="float32"):
    return layers.data(name, [width], dtype=dtype, lod_level=1)


def run(*fetches, **feed):
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    program = fluid.default_main_program()._prune(fetches)
    found = exe.run(program, feed, [each.name for each in fetches], return_numpy=False)
    return [each if each.lod() else np.array(each) for each in found]


def chain_score(weights, run, tags):
    steps = sum(weights[2 + a, b] for a, b in pairwise(tags))
    return (
        weights[0, tags[0]]
        + weights[1, tags[-1]]
        + steps
        + sum(X[k, t] for k, t in zip(run, tags, strict=True))
    )


def test_a_chain_costs_what_its_definition_says_padded_or_not() -> None:
    rows, tags = data("x", 3), data("tags", 1, "int64")
    length = layers.data("length", [1], dtype="int64")
    wide, wide_tags = layers.data("wide", [3, 3]), layers.data("wide_tags", [3, 1], dtype="int64")
    attr = fluid.ParamAttr(name="crfw", initializer=fluid.initializer.Uniform(-1, 1, seed=3))
    cost = layers.linear_chain_crf(rows, tags, attr)
    best = layers.crf_decoding(rows, attr)
    is_right = layers.crf_decoding(rows, attr, label=tags)
    same = layers.linear_chain_crf(wide, wide_tags, attr, length=length)
    best_wide = layers.crf_decoding(wide, attr, length=length)
    feed = {"x": tensor(X), "tags": tensor(TAGS), "length": np.array(LENGTHS)[:, None]}
    feed |= {"wide": padded(X), "wide_tags": padded(TAGS)}
    costs, path, right, costs_wide, path_wide = run(cost, best, is_right, same, best_wide, **feed)
    weights = np.array(fluid.global_scope().find_var("crfw").get_tensor())
    assert weights.shape == (5, 3)
    for number, rows_of in enumerate(RUNS):
        ways = {t: chain_score(weights, rows_of, t) for t in product(range(3), repeat=len(rows_of))}
        own = ways[tuple(TAGS[list(rows_of), 0].tolist())]
        assert costs[number, 0] == pytest.approx(np.log(sum(map(np.exp, ways.values()))) - own, rel=1e-4)
        assert tuple(np.array(path)[list(rows_of), 0].tolist()) == max(ways, key=ways.__getitem__)
    assert path.lod() == right.lod() == [[0, 2, 3, 6]]
    np.testing.assert_array_equal(np.array(right), np.array(path) == TAGS)
    np.testing.assert_allclose(costs_wide, costs, rtol=1e-5)
    np.testing.assert_array_equal(path_wide, padded(np.array(path))[:, :, 0])


def test_chunks_are_counted() -> None:
    said, right = data("said", 1, "int64"), data("right", 1, "int64")
    found = layers.chunk_eval(said, right, "IOB", 1)
    feed = {"said": tensor([[0], [1], [0], [2], [0], [1]]), "right": tensor([[0], [1], [0], [0], [2], [2]])}
    precision, recall, f1, *counts = run(*found, **feed)
    assert [int(each[0]) for each in counts] == [3, 3, 2]
    assert (precision[0], recall[0], f1[0]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_edits_are_counted_and_tokens_left_out() -> None:
    said, right = data("said", 1, "int64"), data("right", 1, "int64")
    share, count = layers.edit_distance(said, right)
    fewest, _ = layers.edit_distance(said, right, normalized=False, ignored_tokens=[9])
    feed = {"said": tensor([[1], [2], [3], [9], [4], [5]]), "right": tensor([[1], [3], [9], [5]], [2, 1, 1])}
    found, number, others = run(share, count, fewest, **feed)
    assert found.ravel().tolist() == [0.5, 1, 2]
    assert number.tolist() == [3]
    assert others.ravel().tolist() == [1, 1, 1]


def test_an_alignment_costs_as_much_padded_as_not() -> None:
    rows, label = data("x", 3), data("label", 1, "int64")
    wide, wide_label = layers.data("wide", [3, -1, 3]), layers.data("wide_label", [2], dtype="int64")
    sizes = [layers.data(name, [1], dtype="int64") for name in ("rows", "labels")]
    cost = layers.warpctc(rows, label, blank=2)
    same = layers.warpctc(wide, wide_label, blank=2, input_length=sizes[0], label_length=sizes[1])
    feed = {"x": tensor(X), "label": tensor([[0], [1], [0]], [1, 1, 1])}
    feed |= {"wide": padded(X).swapaxes(0, 1), "wide_label": np.array([[0, 0], [1, 0], [0, 0]])}
    feed |= {"rows": np.array(LENGTHS)[:, None], "labels": np.ones((3, 1), np.int64)}
    costs, costs_wide = run(cost, same, **feed)
    shares = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    a, b = shares[0], shares[1]
    expected = -np.log(a[0] * b[0] + a[0] * b[2] + a[2] * b[0])
    assert costs[0, 0] == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(costs_wide, costs, rtol=1e-5)


def test_labels_that_have_no_room_cost_nothing_and_have_no_slope() -> None:
    """1.8.5 and 2.6.2 give 0 for more labels than rows, and where a row of none has to part two alike."""
    rows, label = data("x", 4), data("label", 1, "int64")
    rows.stop_gradient = False
    cost = layers.warpctc(rows, label)
    (slope,) = fluid.gradients(layers.reduce_sum(cost), [rows])
    scores = np.random.default_rng(5).normal(size=(6, 4)).astype(np.float32)
    feed = {"x": tensor(scores, [2, 2, 2]), "label": tensor([[1], [2], [3], [1], [1], [2]], [3, 2, 1])}
    costs, slopes = (np.array(each) for each in run(cost, slope, **feed))
    assert costs[:2].ravel().tolist() == [0, 0]
    assert costs[2, 0] > 0
    assert not slopes[:4].any()
    assert slopes[4:].all()


def test_a_decoder_of_padded_rows_says_what_sizes_its_lengths_have() -> None:
    rows, lengths = layers.data("x", [2, 5, 4], append_batch_size=False), layers.data("n", [1], dtype="int64")
    assert layers.ctc_greedy_decoder(rows, blank=0, input_length=lengths)[1].shape == (2, 1)


def test_an_alignment_is_read_without_repetitions_and_blanks() -> None:
    tags = data("tags", 1, "int64")
    block = fluid.default_main_program().global_block()
    out = block.create_var("out", dtype="int64")
    block.append_op("ctc_align", {"Input": tags}, {"Output": out}, {"blank": 0, "merge_repeated": True})
    given = tensor([[1], [1], [0], [2], [0], [2]])
    (found,) = run(out, tags=given)
    assert (found.lod(), np.array(found).ravel().tolist()) == ([[0, 1, 1, 3]], [1, 2, 2])


SAMPLERS = {
    "uniform": np.full(4, 0.25),
    "log_uniform": np.log(np.arange(2, 6) / np.arange(1, 5)) / np.log(4),
    "custom_dist": np.array([0.1, 0.2, 0.3, 0.4]),
}


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_labels_are_told_from_drawn_classes(sampler: str, labels: int) -> None:
    """Held to 1.8.5's, whose costs of the classes that it drew are these to seven digits."""
    x, label = layers.data("x", [3]), layers.data("label", [labels], dtype="int64")
    weight, shares = layers.data("weight", [1]), SAMPLERS[sampler]
    told = {"sampler": sampler, "custom_dist": shares.tolist() if sampler == "custom_dist" else None}
    x.stop_gradient = False
    cost = layers.nce(x, label, 4, weight, num_neg_samples=2, **told)
    (slope,) = fluid.gradients(layers.reduce_sum(cost), [x])
    block = fluid.default_main_program().global_block()
    op = next(op for op in block.ops if op.type == "nce")
    drawn, scores = (block.var(op.output(slot)[0]) for slot in ("SampleLabels", "SampleLogits"))
    right, weights_of = np.concatenate([TAGS[:4], TAGS[1:5]], 1)[:, :labels], np.array([[1], [2], [0.5], [1]])
    feed = {"x": X[:4], "label": right, "weight": weights_of.astype(np.float32)}
    found, classes, scored, slopes = run(cost, drawn, scores, slope, **feed)
    weights = np.array(fluid.global_scope().find_var("nce_0.w_0").get_tensor())
    np.testing.assert_array_equal(classes[:, :labels], right)
    assert classes.shape == (4, labels + 2)
    given = 1 / (1 + np.exp(-np.einsum("nd,nkd->nk", X[:4], weights[classes])))
    np.testing.assert_allclose(scored, given, rtol=1e-4)
    chance, is_own = 2 * shares[classes], np.arange(labels + 2) < labels
    costs = -np.log(np.where(is_own, given, chance) / (given + chance))
    np.testing.assert_allclose(found, weights_of * costs.sum(1, keepdims=True) / 3, rtol=1e-4)
    by_score = np.where(is_own, -chance, given) * (1 - given) / (given + chance)
    by_x = np.einsum("nk,nkd->nd", weights_of * by_score / 3, weights[classes])
    np.testing.assert_allclose(slopes, by_x, rtol=1e-3, atol=1e-6)


def test_the_last_class_is_never_drawn_log_uniformly() -> None:
    """As 1.8.5 has it: 0.43, 0.25, 0.18, 0.14 and 0 of five classes."""
    x, label = layers.data("x", [3]), layers.data("label", [1], dtype="int64")
    layers.nce(x, label, 5, num_neg_samples=20_000, sampler="log_uniform")
    block = fluid.default_main_program().global_block()
    op = next(op for op in block.ops if op.type == "nce")
    (classes,) = run(block.var(op.output("SampleLabels")[0]), x=X[:1], label=TAGS[:1])
    shares = np.bincount(classes[0, 1:], minlength=5) / 20_000
    expected = [*np.log(np.arange(2, 6) / np.arange(1, 5)) / np.log(5), 0]
    np.testing.assert_allclose(shares, expected, atol=0.015)
    with pytest.raises(ValueError, match="2 classes or more, not 1"):
        layers.nce(x, label, 1, sampler="log_uniform")


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_tree_of_classes_learns_its_labels(is_sparse: bool) -> None:
    x, label = layers.data("x", [3]), layers.data("label", [1], dtype="int64")
    cost = layers.hsigmoid(x, label, 3, is_sparse=is_sparse)
    loss = layers.mean(cost)
    fluid.optimizer.SGD(learning_rate=1.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    assert np.array(fluid.global_scope().find_var("hierarchical_sigmoid_0.w_0").get_tensor()).shape == (2, 3)
    feed = {"x": np.eye(3, dtype=np.float32), "label": np.array([[0], [1], [2]])}
    losses = [float(exe.run(feed=feed, fetch_list=[loss])[0][0]) for _ in range(40)]
    assert losses[-1] < losses[0] / 4
