"""DataFeedDesc and AsyncExecutor: files as fluid 1.1 to 1.5 trained on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadFile

TOLD = """
# what a line holds
name: "MultiSlotDataFeed"
batch_size: 2
multi_slot_desc {
    slots { name: "words" type: "uint64" is_dense: false is_used: true }
    slots {
        name: "shown"
        type: "float"
        is_dense: true
    }
    slots { name: "label" type: "float" is_dense: true is_used: true shape: 1 }
}
"""
_SLOT = '  slots {{\n    name: "{}"\n    type: "{}"\n    is_dense: {}\n{}  }}\n'
_USED = "    is_used: true\n"


def described(tmp_path: Path, text: str = TOLD) -> fluid.DataFeedDesc:
    path = tmp_path / "data.proto"
    path.write_text(text)
    return fluid.DataFeedDesc(str(path))


def test_a_description_is_changed_and_printed_as_in_1_8_5(tmp_path: Path) -> None:
    told = described(tmp_path)
    slots = [
        _SLOT.format("words", "uint64", "false", _USED),
        _SLOT.format("shown", "float", "true", ""),
        _SLOT.format("label", "float", "true", f"{_USED}    shape: 1\n"),
    ]
    whole = 'name: "MultiSlotDataFeed"\nbatch_size: {}\nmulti_slot_desc {{\n{}}}\npipe_command: "cat"\n'
    assert told.desc() == whole.format(2, "".join(slots))
    told.set_batch_size(128)
    told.set_dense_slots(["words"])
    told.set_use_slots(["shown"])
    slots[0] = _SLOT.format("words", "uint64", "true", _USED)
    slots[1] = _SLOT.format("shown", "float", "true", _USED)
    assert told.desc() == whole.format(128, "".join(slots))
    with pytest.raises(KeyError, match="there is no slot 'wd'; there are words, shown, label"):
        told.set_use_slots(["wd"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nme: "a"', "has no nme"),
        ("batch_size: two", "'two' is not a number"),
        ("multi_slot_desc { slots { nam: 1 } }", "a slot has no nam"),
        ("7: 8", "'7' is not the name of a field"),
    ],
)
def test_what_is_no_description_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        described(tmp_path, text)


def test_slots_are_named_in_feeds_that_have_them(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set_use_slots is for a MultiSlotDataFeed"):
        described(tmp_path, "batch_size: 1").set_use_slots([])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_async_executor_trains_on_what_a_program_uses(
    tmp_path: Path, threads: int, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [([1, 2], 3.0), ([0], 1.0), ([2, 2, 2], 6.0), ([1], 1.5)]
    files = [tmp_path / f"part-{number}" for number in range(2)]
    for path in files:
        lines = (f"{len(ids)} {' '.join(map(str, ids))} 1 0.5 1 {label}\n" for ids, label in rows)
        path.write_text("".join(lines))
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
        label = fluid.layers.data("label", [1])
        table = fluid.ParamAttr(name="table", initializer=fluid.initializer.Constant(0.0))
        said = fluid.layers.sequence_pool(fluid.layers.embedding(words, [3, 1], param_attr=table), "sum")
        loss = fluid.layers.mean(fluid.layers.square_error_cost(said, label))
        fluid.optimizer.SGD(0.1).minimize(loss)
        fluid.Executor().run(startup)
        told: Any = described(tmp_path)
        executor = fluid.AsyncExecutor(fluid.CPUPlace())
        for _ in range(40):
            executor.run(main, told, [str(path) for path in files], threads, [loss])
        executor.run(main, told, str(files[0]), threads, loss, debug=True)
        learned = np.array(fluid.global_scope().find_var("table").get_tensor())
    np.testing.assert_allclose(learned[:, 0], [1.0, 1.25, 2.0], atol=0.3)
    assert capfd.readouterr().out.count("batch: ") == 2
    with pytest.raises(NotImplementedError, match=r"fluid\.incubate\.fleet has servers and workers"):
        executor.run(main, told, str(files[0]), 1, [], mode="mpi")
