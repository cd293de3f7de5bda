"""Layers over sequences in fluid: what they compute, and in which sequences their results are."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadFeed, BadProgram
from paddle._program.running.lod_tensor import LoDTensor

layers = fluid.layers
LENGTHS = [[2, 0, 3]]  # the second sequence is empty
RUNS = [slice(0, 2), slice(2, 2), slice(2, 5)]
X = np.random.default_rng(5).normal(size=(5, 4)).astype(np.float32)
IDS = np.array([[4], [2], [1], [1], [3]])


def data(name="x", shape=(4,), dtype="float32", lod_level=1):
    return layers.data(name, list(shape), dtype=dtype, lod_level=lod_level)


def tensor(array, lengths=LENGTHS):
    return fluid.create_lod_tensor(np.asarray(array), lengths, None)


def run(*fetches, **feed):
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    program = fluid.default_main_program()._prune(fetches)
    found = exe.run(program, feed, [each.name for each in fetches], return_numpy=False)
    return found[0] if len(found) == 1 else found


def weights(name):
    return np.array(fluid.global_scope().find_var(name).get_tensor())


@pytest.mark.parametrize(
    ("kind", "by"),
    [
        ("sum", lambda x: x.sum(0)),
        ("average", lambda x: x.mean(0)),
        ("SQRT", lambda x: x.sum(0) / len(x) ** 0.5),
        ("max", lambda x: x.max(0)),
        ("first", lambda x: x[0]),
        ("last", lambda x: x[-1]),
    ],
)
def test_sequences_are_pooled_and_empty_ones_become_the_value_for_them(kind, by) -> None:
    for value in (0.0, -1.5):
        out = layers.sequence_pool(data(f"x{value}"), kind, pad_value=value)
        assert out.lod_level == 0
        found = run(out, **{f"x{value}": tensor(X)})
        expected = [by(X[run]) if len(X[run]) else np.full(4, value) for run in RUNS]
        np.testing.assert_allclose(np.array(found), expected, rtol=1e-5, atol=1e-6)


def test_data_that_says_no_level_is_sequences_where_an_operator_over_sequences_reads_it() -> None:
    words = layers.data("words", [1], dtype="int64")
    rows = layers.embedding(words, [5, 4], is_sparse=True)
    assert rows.lod_level == 0
    convolved = layers.sequence_pool(layers.sequence_conv(layers.fc(rows, 3), 2, 3), "sum")
    pooled = layers.sequence_pool(rows, "sum")
    assert (words.lod_level, convolved.lod_level) == (1, 0)
    found = np.array(run(pooled, convolved, words=tensor(IDS))[0])
    expected = [weights("embedding_0.w_0")[IDS[part, 0]].sum(0) for part in RUNS]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_of_nested_sequences_the_inner_ones_are_pooled() -> None:
    nested = tensor(X, [[2, 1], [2, 0, 3]])
    inner = layers.sequence_last_step(data(lod_level=2))
    outer = layers.sequence_first_step(inner)
    found, all = run(inner, outer, x=nested)
    assert found.lod() == [[0, 2, 3]]
    np.testing.assert_array_equal(np.array(found), [X[1], np.zeros(4), X[4]])
    np.testing.assert_array_equal(np.array(all), [X[1], X[4]])


def test_a_row_is_expanded_to_sequences_and_a_sequence_to_parts() -> None:
    x, y = layers.data("x", [4]), data("y", (1,), "int64")
    found = run(layers.sequence_expand(x, y), x=X[:3], y=tensor(IDS))
    np.testing.assert_array_equal(np.array(found), X[[0, 0, 2, 2, 2]])
    as_y = run(layers.sequence_expand_as(x, y), x=X[:3], y=tensor(IDS))
    assert as_y.lod() == [[0, 2, 2, 5]]
    both = data("two", (1,), "int64", 2)
    of_outer = layers.sequence_expand(x, both, ref_level=0)
    of_inner = layers.sequence_expand(x, both)
    two = tensor(IDS, [[2, 1], [1, 1, 3]])
    found = run(of_outer, x=X[:2], two=two)
    assert (found.lod(), np.array(found).tolist()) == ([], X[[0, 0, 1]].tolist())
    np.testing.assert_array_equal(np.array(run(of_inner, x=X[:3], two=two)), X[[0, 1, 2, 2, 2]])
    sequences = run(layers.sequence_expand(data("s"), both, 0), s=tensor(X, [[2, 3]]), two=two)
    assert sequences.lod() == [[0, 2, 4, 7]]
    np.testing.assert_array_equal(np.array(sequences), X[[0, 1, 0, 1, 2, 3, 4]])


def test_sequences_are_joined_cut_turned_and_reshaped() -> None:
    x, y = data(), data("y")
    more = tensor(-X[:4], [[1, 2, 1]])
    joined = run(layers.sequence_concat([x, y]), x=tensor(X), y=more)
    assert joined.lod() == [[0, 3, 5, 9]]
    np.testing.assert_array_equal(np.array(joined)[[0, 2, 3, 5]], [X[0], -X[0], -X[1], X[2]])
    offset, length = (layers.data(name, [1], dtype="int64") for name in ("offset", "length"))
    cut = layers.sequence_slice(x, offset, length)
    numbers = {"offset": np.array([[1], [0], [1]]), "length": np.array([[1], [0], [2]])}
    found = run(cut, x=tensor(X), **numbers)
    assert found.lod() == [[0, 1, 1, 3]]
    np.testing.assert_array_equal(np.array(found), X[[1, 3, 4]])
    turned = run(layers.sequence_reverse(x), x=tensor(X))
    np.testing.assert_array_equal(np.array(turned), X[[1, 0, 4, 3, 2]])
    halves = run(layers.sequence_reshape(x, 2), x=tensor(X))
    assert (halves.lod(), halves.shape()) == ([[0, 4, 4, 10]], [10, 2])


def test_sequences_are_padded_unpadded_and_masked() -> None:
    x, none = data(), layers.data("none", [1], append_batch_size=False)
    padded, length = layers.sequence_pad(x, none)
    again = layers.sequence_unpad(padded, length)
    mask = layers.sequence_mask(length, maxlen=4, dtype="float32")
    wide, _ = layers.sequence_pad(x, none, maxlen=4)
    given = {"x": tensor(X), "none": np.array([7.0], np.float32)}
    found = run(padded, length, again, mask, wide, **given)
    assert np.array(found[0])[:, :, 0].tolist() == [[X[0, 0], X[1, 0], 7], [7, 7, 7], X[2:, 0].tolist()]
    assert np.array(found[1]).tolist() == [2, 0, 3]
    assert found[2].lod() == [[0, 2, 2, 5]]
    np.testing.assert_array_equal(np.array(found[2]), X)
    assert np.array(found[3]).tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]
    assert found[4].shape() == [3, 4, 4]


def test_ids_are_enumerated_and_updates_scattered() -> None:
    ids = data("ids", (1,), "int64")
    windows = run(layers.sequence_enumerate(ids, 2, 9), ids=tensor(IDS))
    assert np.array(windows).tolist() == [[4, 2], [2, 9], [1, 1], [1, 3], [3, 9]]
    assert windows.lod() == [[0, 2, 2, 5]]
    out = layers.sequence_scatter(layers.data("x", [5]), ids, data("updates", (1,)))
    found = run(out, x=np.zeros((3, 5), np.float32), ids=tensor(IDS), updates=tensor(X[:, :1]))
    expected = np.zeros((3, 5))
    np.add.at(expected, ([0, 0, 2, 2, 2], IDS[:, 0]), X[:, 0])
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-6)


def test_a_batch_of_rows_of_one_length_is_weighed_as_sequences_are() -> None:
    """The figures are those of 1.8.5."""
    x = fluid.data("d", [None, 4, 3])
    x.stop_gradient = False
    first = fluid.initializer.NumpyArrayInitializer(np.arange(9, dtype=np.float32).reshape(3, 3))
    out = layers.row_conv(x, 2, param_attr=fluid.ParamAttr(initializer=first))
    assert out.shape == (-1, 4, 3)
    (gradient,) = fluid.gradients(layers.reduce_sum(layers.square(out)), x)
    values = np.arange(24, dtype=np.float32).reshape(2, 4, 3) / 10
    found, moved = run(out, gradient, d=values)
    np.testing.assert_allclose(
        np.array(found)[0], [[4.5, 6.6, 9.3], [7.2, 10.2, 13.8], [2.7, 4.7, 7.1], [0, 1, 2.2]], rtol=1e-5
    )
    np.testing.assert_allclose(
        np.array(moved)[1],
        [[0, 42, 109.2], [91.8, 217.2, 400.2], [291.6, 512.2, 816.8], [253.8, 434.4, 682.2]],
        rtol=1e-5,
    )


def test_a_gradient_is_of_the_sequences_that_its_variable_is_of() -> None:
    """As 1.8.5 has it."""
    x = data()
    x.stop_gradient = False
    hidden = layers.fc(x, 2)
    pooled = layers.sequence_pool(hidden, "sum")
    gradients = fluid.gradients(layers.mean(pooled), [x, hidden, pooled])
    found = run(*gradients, x=tensor(X))
    assert [each.lod() for each in found] == [[[0, 2, 2, 5]], [[0, 2, 2, 5]], []]


def test_windows_are_convolved_within_their_sequence() -> None:
    out = layers.sequence_conv(data(), num_filters=3, filter_size=3, bias_attr=False)
    ahead = layers.row_conv(data("y"), future_context_size=1)
    found, rows = run(out, ahead, x=tensor(X), y=tensor(X))
    w, row_w = weights("sequence_conv_0.w_0"), weights("row_conv_0.w_0")
    assert w.shape == (12, 3)
    assert row_w.shape == (2, 4)
    zero = np.zeros(4, np.float32)
    windows = [
        [zero, X[0], X[1]],
        [X[0], X[1], zero],
        [zero, X[2], X[3]],
        [X[2], X[3], X[4]],
        [X[3], X[4], zero],
    ]
    expected = [np.concatenate(each) @ w for each in windows]
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-5, atol=1e-6)  # some sums are nearly 0
    after = np.stack([X[1], zero, X[3], X[4], zero])
    np.testing.assert_allclose(np.array(rows), X * row_w[0] + after * row_w[1], rtol=1e-5, atol=1e-6)
    assert found.lod() == rows.lod() == [[0, 2, 2, 5]]


def test_a_softmax_is_over_each_sequence() -> None:
    found = run(layers.sequence_softmax(data(shape=(1,))), x=tensor(X[:, :1]))
    shares = np.array(found)[:, 0]
    assert shares[:2].sum() == pytest.approx(1)
    assert shares[2:].sum() == pytest.approx(1)
    assert shares[0] / shares[1] == pytest.approx(np.exp(X[0, 0] - X[1, 0]), rel=1e-5)


def test_rows_are_put_into_other_sequences() -> None:
    x, y = data(), data("y", (1,), "int64")
    offsets = layers.data("offsets", [1], dtype="int64")
    resets = [layers.lod_reset(x, y), layers.lod_reset(x, offsets), layers.lod_reset(x, target_lod=[0, 4, 5])]
    found = run(*resets, x=tensor(X), y=tensor(IDS, [[1, 4]]), offsets=np.array([[0], [3], [5]]))
    assert [each.lod() for each in found] == [[[0, 1, 5]], [[0, 3, 5]], [[0, 4, 5]]]


def test_rows_that_are_put_into_others_are_in_no_sequences() -> None:
    halves = layers.reshape(data(), shape=[-1, 2])
    assert run(halves, x=tensor(X)).lod() == []


def test_windows_of_an_image_are_a_sequence() -> None:
    image = layers.data("image", [1, 2, 3])
    (found) = run(
        layers.im2sequence(image, filter_size=[2, 2]),
        image=np.arange(12, dtype=np.float32).reshape(2, 1, 2, 3),
    )
    assert found.lod() == [[0, 2, 4]]
    assert np.array(found)[:2].tolist() == [[0, 1, 3, 4], [1, 2, 4, 5]]


def test_what_has_no_sequences_is_refused_with_its_name() -> None:
    layers.sequence_pool(data("plain", lod_level=0), "sum")
    with pytest.raises(BadFeed, match="data 'plain' is made of sequences"):
        fluid.Executor().run(feed={"plain": X}, fetch_list=["sequence_pool_0.tmp_0"])
    for rows in (layers.create_parameter([3, 4], "float32"), layers.reshape(data(lod_level=0), [2, 6])):
        with pytest.raises(BadProgram, match=rf"'{rows.name}' in slot 'X' has none \(lod_level 0\)"):
            layers.sequence_pool(rows, "sum")
    with pytest.raises(ValueError, match="pool_type is one of average, sum"):
        layers.sequence_pool(data(), "middle")
    with pytest.raises(BadProgram, match="ref_level 1, and 'x' has 1 levels"):
        layers.sequence_expand(data(), data(), ref_level=1)


def test_what_is_fed_may_be_made_by_a_feeder() -> None:
    words = data("words", (1,), "int64")
    feeder = fluid.DataFeeder(feed_list=[words, "label"], place=None, program=_with_label())
    made = feeder.feed([([1, 2], 0), ([3], 1)])
    assert isinstance(made["words"], LoDTensor)
    assert made["words"].recursive_sequence_lengths() == [[2, 1]]
    assert np.array(made["label"]).tolist() == [[0], [1]]


def _with_label():
    layers.data("label", [1], dtype="int64")
    return fluid.default_main_program()
