"""Data in sizes that a program does not know: open ones, several at once, and others than are declared."""

from __future__ import annotations

import numpy as np
import pytest

from paddle import fluid
from paddle._program.errors import BadFeed, BadProgram

layers = fluid.layers
WORDS = 11


@pytest.fixture(autouse=True)
def _afresh():
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        yield


def declared(name: str, *, as_is: bool) -> fluid.framework.Variable:
    """Texts of 8 words, or of as many as a feed brings."""
    if as_is:
        return layers.data(name, [-1, 8, 1], append_batch_size=False, dtype="int64")
    return fluid.data(name, [None, None, 1], dtype="int64")


def tagger(*, as_is: bool) -> list[fluid.framework.Variable]:
    """What says of each word which comes next."""
    words, following = declared("words", as_is=as_is), declared("next", as_is=as_is)
    seen = layers.embedding(words, [WORDS, 6], param_attr="seen")
    hidden = layers.fc(seen, 8, num_flatten_dims=2, act="tanh")
    scores = layers.fc(hidden, WORDS, num_flatten_dims=2)
    cost = layers.softmax_with_cross_entropy(scores, following)
    best, which = layers.topk(layers.softmax(scores), 3)
    other = layers.cross_entropy(layers.softmax(scores), following)
    fluid.optimizer.Adam(0.05).minimize(layers.mean(cost))
    return [cost, best, which, other]


def texts(length: int) -> dict[str, np.ndarray]:
    words = np.arange(3 * length).reshape(3, length, 1) * 7 % WORDS
    return {"words": words, "next": (words + 7) % WORDS}


def trained(*, as_is: bool, lengths: tuple[int, ...]) -> list[list[np.ndarray]]:
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 3
    exe = fluid.Executor()
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        wanted = tagger(as_is=as_is)
        exe.run(startup)
        return [exe.run(main, feed=texts(length), fetch_list=wanted) for length in lengths]


def test_texts_longer_or_shorter_than_declared_train_as_if_nothing_were_declared() -> None:
    lengths = (8, 5, 9, 5, 8, 3)
    found, opened = trained(as_is=True, lengths=lengths), trained(as_is=False, lengths=lengths)
    for length, mine, other in zip(lengths, found, opened, strict=True):
        assert [each.shape for each in mine] == [(3, length, n) for n in (1, 3, 3, 1)]
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(mine[0], mine[3], rtol=1e-4)
    assert found[-1][0].mean() < found[0][0].mean()


def test_what_is_declared_of_open_sizes_is_open() -> None:
    cost, best, *_ = tagger(as_is=False)
    assert cost.shape == (-1, -1, 1) and best.shape == (-1, -1, 3)


def test_operators_that_ask_for_a_size_know_it_when_a_run_does() -> None:
    x = layers.data("x", [-1, 4, -1], append_batch_size=False)
    halves = layers.split(x, 2, dim=2)
    normal = layers.group_norm(x, 2, param_attr=False, bias_attr=False)
    scaled = layers.create_parameter([3], "float32", attr="scaled")
    loss = layers.mean(layers.square(halves[0] * 2.0)) + layers.mean(normal) + layers.mean(scaled)
    fluid.optimizer.SGD(1.0).minimize(loss)
    assert halves[0].shape == (-1, 4, -1) and normal.shape == (-1, 4, -1)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for width in (6, 2, 6):
        given = np.random.default_rng(width).normal(size=(5, 4, width)).astype(np.float32)
        first, second, whole = exe.run(feed={"x": given}, fetch_list=[*halves, normal])
        np.testing.assert_array_equal(np.concatenate([first, second], 2), given)
        np.testing.assert_allclose(whole.reshape(10, -1).mean(1), 0, atol=1e-5)


def test_data_whose_feed_is_checked_keep_their_sizes() -> None:
    x = fluid.data("x", [None, 8], "float32")
    total = layers.reduce_sum(x)
    layers.assign(x * 2.0, x)
    for asked in (total, layers.reduce_sum(x)):  # whether or not it is written, too
        with pytest.raises(BadFeed, match=r"'?x\b.*\[2, 5\] does not fit"):
            fluid.Executor().run(feed={"x": np.ones((2, 5), np.float32)}, fetch_list=[asked])


def test_a_cache_of_a_decoder_is_what_a_program_writes_into_it_and_need_not_be_fed() -> None:
    main = fluid.default_main_program()
    x, cache = fluid.data("x", [None, 3]), fluid.data("cache", [None, 0])
    step, most = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)

    def one_more(step, cache):  # as the Transformer of the 1.8 models keeps what its decoder looks at
        chosen = layers.gather(cache, layers.fill_constant([2], "int32", 1))
        main.current_block_idx = 0
        layers.assign(x, cache)
        main.current_block_idx = 1
        return layers.increment(step, in_place=False), chosen

    _, found = layers.while_loop(lambda step, _: layers.less_than(step, most), one_more, [step, cache])
    fed = np.arange(6, dtype="float32").reshape(2, 3)
    (given,) = fluid.Executor().run(main, feed={"x": fed}, fetch_list=[found])
    np.testing.assert_array_equal(given, [fed[1], fed[1]])


def test_what_no_operator_can_take_is_refused_as_data_that_do_not_fit() -> None:
    x = layers.data("x", [8], dtype="float32")
    made = layers.fc(x, 3)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.raises(BadFeed, match=r"\[2, 5\] does not fit") as caught:
        exe.run(feed={"x": np.ones((2, 5), np.float32)}, fetch_list=[made])
    assert "X has 5 columns and Y has 8 rows" in caught.value.__notes__[0]
    (found,) = exe.run(feed={"x": np.ones((2, 8), np.float32)}, fetch_list=[made])
    assert found.shape == (2, 3)


def test_what_fits_in_no_size_is_refused_when_it_is_written() -> None:
    x = layers.data("x", [-1, 4, -1], append_batch_size=False)
    with pytest.raises(BadProgram, match="3 groups"):
        layers.group_norm(x, 3)


def test_a_feeder_takes_rows_as_they_come() -> None:
    x = layers.data("x", [4], dtype="float32")
    feeder = fluid.DataFeeder([x], fluid.CPUPlace())
    assert np.array(feeder.feed([([1, 2, 3],), ([4, 5, 6],)])["x"]).shape == (2, 3)


def test_statistics_move_once_in_a_step_that_is_computed_in_two_pieces() -> None:
    """A function of Python parts the step; what comes before is computed again for the gradients."""
    x = layers.data("x", [2])
    normal = layers.batch_norm(layers.fc(x, 2, param_attr="w"), moving_mean_name="mean", momentum=0.5)
    block = fluid.default_main_program().current_block()
    shown = block.create_var("shown", shape=(-1, 2), dtype="float32")
    layers.py_func(lambda given: np.array(given), normal, shown)
    fluid.optimizer.SGD(0.0).minimize(layers.mean(normal) + layers.mean(shown))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = []
    for _ in range(2):
        exe.run(feed={"x": np.ones((4, 2), np.float32)})
        found.append(fluid.global_scope().find_var("mean").get_tensor().array().copy())
    weights = fluid.global_scope().find_var("w").get_tensor().array()
    np.testing.assert_allclose(found[0], weights.sum(0) * 0.5, rtol=1e-5)
    np.testing.assert_allclose(found[1], weights.sum(0) * 0.75, rtol=1e-5)


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
def test_images_have_margins_of_their_own_pixels(mode: str) -> None:
    x = layers.data("x", [-1, 2, 5, 4], append_batch_size=False, stop_gradient=False)
    wide = layers.pad2d(x, [1, 2, 0, 3], mode=mode)
    part = layers.crop(wide, shape=[-1, 2, 6, 5], offsets=[0, 0, 1, 2])
    (slope,) = fluid.gradients(layers.reduce_sum(part), x)
    values = np.arange(80, dtype=np.float32).reshape(2, 2, 5, 4)
    found, cut, slopes = fluid.Executor().run(feed={"x": values}, fetch_list=[wide, part, slope])
    around = ((0, 0), (0, 0), (1, 2), (0, 3))
    np.testing.assert_array_equal(found, np.pad(values, around, mode))
    np.testing.assert_array_equal(cut, found[:, :, 1:7, 2:7])
    places = np.pad(np.arange(80).reshape(values.shape), around, mode)[:, :, 1:7, 2:7]
    if mode != "constant":
        counts = np.bincount(places.reshape(-1), minlength=80)
        np.testing.assert_array_equal(slopes.reshape(-1), counts)


def test_margins_are_of_the_whole_image_also_where_more_of_it_is_cut_off() -> None:
    x = layers.data("x", [1, 1, 1, 5], append_batch_size=False)
    cut = [layers.pad2d(x, [0, 0, *sides], mode="reflect") for sides in ([-3, 2], [2, -3])]
    found = fluid.Executor().run(feed={"x": np.arange(5.0, dtype="f").reshape(1, 1, 1, 5)}, fetch_list=cut)
    assert [each.ravel().tolist() for each in found] == [[3, 4, 3, 2], [2, 1, 0, 1]]  # of Paddle 2.6.2


def test_a_smaller_image_is_filled_up_to_the_size_of_another() -> None:
    x, y = layers.data("x", [2, 3]), layers.data("y", [2, 2])
    filled = layers.pad_constant_like(x, y, 7.0)
    feed = {"x": np.zeros((2, 2, 3), np.float32), "y": np.ones((2, 2, 2), np.float32)}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[filled])
    np.testing.assert_array_equal(found, np.pad(feed["y"], ((0, 0), (0, 0), (0, 1)), constant_values=7.0))
