"""What fluid had under contrib beside layers and trainers. Figures are those that 1.8.5 prints."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers
from paddle.fluid.contrib import memory_usage, summary
from paddle.fluid.contrib.layers import fused_embedding_seq_pool, partial_concat, partial_sum

_SHOWN = """\
+-----+------------+-----------+-----------+--------+-------+
| No. |       TYPE |     INPUT |    OUTPUT | PARAMs | FLOPs |
+-----+------------+-----------+-----------+--------+-------+
|   0 |     conv2d | (3, 8, 8) | (4, 8, 8) |    108 | 13824 |
|   1 | batch_norm | (4, 8, 8) | (4, 8, 8) |      8 |   512 |
|   2 |       relu | (4, 8, 8) | (4, 8, 8) |      0 |   256 |
|   3 |     pool2d | (4, 8, 8) | (4, 4, 4) |      0 |   256 |
|   4 |      prelu | (4, 4, 4) | (4, 4, 4) |      1 |    64 |
|   5 |        mul | (4, 4, 4) |      (5,) |    321 |   320 |
|   6 |    sigmoid |      (5,) |      (5,) |      0 |     5 |
+-----+------------+-----------+-----------+--------+-------+
Total PARAMs: 438(0.0004M)
Total FLOPs: 15237(0.00G)
"""


def network(batch: int = 1) -> fluid.Program:
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        seen = layers.conv2d(layers.data("x", [batch, 3, 8, 8], append_batch_size=False), 4, 3, padding=1)
        seen = layers.pool2d(layers.batch_norm(seen, act="relu"), 2, pool_stride=2)
        layers.fc(layers.prelu(seen, "all"), 5, act="sigmoid")
    return main


@pytest.mark.parametrize("batch", [1, -1])
def test_a_summary_shows_what_1_8_5_shows(batch: int, capsys: pytest.CaptureFixture[str]) -> None:
    summary(network(batch))
    assert capsys.readouterr().out.startswith(_SHOWN)


def test_a_convolution_of_groups_learns_what_its_kernels_have(capsys: pytest.CaptureFixture[str]) -> None:
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        layers.conv2d(layers.data("x", [4, 8, 8]), 4, 3, groups=4, bias_attr=False)
    importlib.import_module("paddle.fluid.contrib.model_stat").summary(main)
    assert "Total PARAMs: 36(" in capsys.readouterr().out


def test_memory_usage_tells_what_1_8_5_tells() -> None:
    least, most, unit = memory_usage(network(), 3)
    assert (round(least, 6), round(most, 6), unit) == (4.852148, 5.083203, "KB")


def test_decorated_optimizers_are_found_where_programs_have_them_from() -> None:
    decorator = importlib.import_module("paddle.fluid.contrib.mixed_precision.decorator")
    lists = importlib.import_module("paddle.fluid.contrib.mixed_precision.fp16_lists")
    made = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1), lists.AutoMixedPrecisionLists())
    assert isinstance(made, decorator.OptimizerWithMixedPrecision)


def computed(write: Any, feed: dict[str, Any]) -> np.ndarray:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        given = [fluid.data(name, [None, 3]) for name in feed if name != "ids"]
        found = write(*given)
        exe = fluid.Executor()
        exe.run(startup)
        return np.array(exe.run(main, feed=feed, fetch_list=[found])[0])


X, Y = np.arange(6.0, dtype="float32").reshape(2, 3), np.arange(6.0, 12.0, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize(("start", "length", "columns"), [(0, 2, [0, 1]), (1, -1, [1, 2]), (-2, 1, [1])])
def test_columns_are_put_together_and_added_up(start: int, length: int, columns: list[int]) -> None:
    feed, own = {"x": X, "y": Y}, (start, length)
    wanted = [each[:, columns] for each in (X, Y)]
    np.testing.assert_array_equal(
        computed(lambda x, y: partial_concat([x, y], *own), feed), np.concatenate(wanted, axis=1)
    )
    np.testing.assert_array_equal(computed(lambda x, y: partial_sum([x, y], *own), feed), sum(wanted))


def test_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="2 columns from 2 on are not among 3"):
        computed(lambda x: partial_sum([x], 2, 2), {"x": X})


def test_rows_of_sequences_are_added_up() -> None:
    def write() -> Any:
        words = fluid.data("ids", [None, 1], "int64", lod_level=1)
        table = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(np.vstack([X, Y])))
        found = fused_embedding_seq_pool(words, [4, 3], padding_idx=3, param_attr=table)
        (weights,) = fluid.default_main_program().all_parameters()
        assert weights.name == "fused_embedding_seq_pool_0.w_0"
        return found

    ids = fluid.create_lod_tensor(np.array([[0], [2], [3], [1]], np.int64), [[3, 1]], fluid.CPUPlace())
    np.testing.assert_array_equal(computed(write, {"ids": ids}), [X[0] + Y[0], X[1]])
