"""What fluid keeps in files, and what it says of files that do not fit."""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadFile, MissingFile, NotInitialized

X = np.arange(26, dtype=np.float32).reshape(2, 13) / 10


def _network(size: int = 1) -> fluid.Variable:
    x = fluid.layers.data(name="x", shape=[13], dtype="float32")
    return fluid.layers.fc(x, size)


def _trained() -> tuple[fluid.Executor, fluid.Variable]:
    predicted = _network()
    y = fluid.layers.data(name="y", shape=[1], dtype="float32")
    loss = fluid.layers.mean(fluid.layers.square_error_cost(predicted, y))
    fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": X, "y": X[:, :1]}, fetch_list=[loss])
    return exe, predicted


def _names(folder: Path | str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def _values() -> dict[str, np.ndarray]:
    scope = fluid.global_scope()
    kept = fluid.io.get_program_persistable_vars(fluid.default_main_program())
    return {each.name: np.array(scope.find_var(each.name).get_tensor()) for each in kept}


def _check_same(before: dict[str, np.ndarray]) -> None:
    after = _values()
    assert sorted(after) == sorted(before)
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


@pytest.mark.parametrize("filename", [None, "all"])
def test_what_outlives_a_run_comes_back(tmp_path: Path, filename: str | None) -> None:
    exe, _ = _trained()
    before = _values()
    assert len(before) == 3  # the learning rate is among them
    fluid.io.save_persistables(exe, str(tmp_path), filename=filename)
    assert _names(tmp_path) == ([filename] if filename else sorted(before))
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": X, "y": X[:, :1]})
    fluid.io.load_persistables(exe, str(tmp_path), filename=filename)
    _check_same(before)


def test_a_predicate_and_a_list_choose(tmp_path: Path) -> None:
    exe, _ = _trained()
    fluid.io.save_params(exe, str(tmp_path / "params"))
    assert _names(tmp_path / "params") == ["fc_0.b_0", "fc_0.w_0"]
    fluid.io.save_vars(exe, str(tmp_path / "some"), predicate=lambda v: v.name.endswith("b_0"))
    assert _names(tmp_path / "some") == ["fc_0.b_0"]
    block = fluid.default_main_program().global_block()
    fluid.io.save_vars(exe, str(tmp_path / "one"), vars=[block.var("fc_0.w_0")], filename="w")
    fluid.io.load_vars(exe, str(tmp_path / "one"), vars=["fc_0.w_0"], filename="w")


@pytest.mark.parametrize("names", [{}, {"model_filename": "model", "params_filename": "params"}])
def test_a_model_computes_what_it_did(tmp_path: Path, names: dict[str, str]) -> None:
    exe, predicted = _trained()
    test = fluid.default_main_program().clone(for_test=True)
    (before,) = exe.run(test, feed={"x": X, "y": X[:, :1]}, fetch_list=[predicted])
    told = fluid.io.save_inference_model(str(tmp_path), ["x"], [predicted], exe, **names)
    assert told == ["save_infer_model/scale_0.tmp_0"]  # as 1.8.5 and 2.6.2 call what a model computes
    ours = {"model", "params"} if names else {"__model__", "fc_0.w_0", "fc_0.b_0"}
    assert set(_names(tmp_path)) == ours
    with fluid.scope_guard(fluid.executor.Scope()):
        program, feeds, targets = fluid.io.load_inference_model(str(tmp_path), exe, **names)
        (after,) = exe.run(program, feed={feeds[0]: X}, fetch_list=targets)
    assert feeds == ["x"]
    assert [op.type for op in program.global_block().ops] == [
        "feed",
        "mul",
        "elementwise_add",
        "scale",
        "fetch",
    ]
    np.testing.assert_array_equal(after, before)


def test_what_a_model_computes_keeps_its_names_when_it_is_saved_again(tmp_path: Path) -> None:
    exe, predicted = _trained()
    label = fluid.default_main_program().global_block().var("y")
    whole = fluid.layers.cast(label, "int64") + 1
    feed, given = {"x": X, "y": X[:, :1]}, [predicted, whole, whole > 1]
    for targets in (given, given[::-1]):
        told = fluid.io.save_inference_model(str(tmp_path), ["x", "y"], targets, exe)
        program, _, found = fluid.io.load_inference_model(str(tmp_path), exe)
        again = fluid.io.save_inference_model(str(tmp_path), ["x", "y"], found, exe, program)
        values = exe.run(program, feed=feed, fetch_list=found)
        assert again == told == [each.name for each in found]
        assert {each.dtype.name for each in values} == {"float32", "int64", "bool"}
    assert told[1:] == ["save_infer_model/scale_1.tmp_0", "save_infer_model/scale_2.tmp_0"]


def test_the_program_itself_is_not_changed_by_saving_it(tmp_path: Path) -> None:
    exe, predicted = _trained()
    before = str(fluid.default_main_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [predicted], exe)
    assert str(fluid.default_main_program()) == before


def test_what_is_not_for_deployment_is_the_whole_program_and_all_that_it_keeps(tmp_path: Path) -> None:
    exe, _ = _trained()
    before = _values()
    fluid.io.save_inference_model(str(tmp_path), [], [], exe, export_for_deployment=False)  # none are needed
    assert _names(tmp_path) == ["__model__.main_program", *sorted(before)]  # as 1.8.5 names them
    read = fluid.Program.parse_from_string((tmp_path / "__model__.main_program").read_bytes())
    exe.run(read, feed={"x": X, "y": X[:, :1]})
    assert any((_values()[name] != value).any() for name, value in before.items())
    fluid.io.load_persistables(exe, str(tmp_path))
    _check_same(before)


def test_a_feed_that_the_targets_do_not_need_is_named(tmp_path: Path) -> None:
    exe, predicted = _trained()
    for name in ("nowhere", "y"):  # the other one the loss needs
        with pytest.raises(ValueError, match=f"does not depend on '{name}': leave it out"):
            fluid.io.save_inference_model(str(tmp_path), [name], [predicted], exe)
    assert not _names(tmp_path)


def test_save_and_load_by_one_name(tmp_path: Path) -> None:
    exe, _ = _trained()
    before, path = _values(), str(tmp_path / "model")
    program = fluid.default_main_program()
    fluid.save(program, path)
    assert _names(tmp_path) == ["model.pdmodel", "model.pdopt", "model.pdparams"]
    with (tmp_path / "model.pdparams").open("rb") as file:  # as the original reads it
        assert sorted(pickle.load(file)) == ["fc_0.b_0", "fc_0.w_0"]
    exe.run(fluid.default_startup_program())
    fluid.load(program, path, exe)
    _check_same(before)
    state = fluid.io.load_program_state(path)
    assert sorted(state) == sorted(before)
    state["fc_0.b_0"] = state["fc_0.b_0"] + 1
    state["elsewhere"] = np.ones(1)
    with pytest.warns(UserWarning, match="'elsewhere'"):
        fluid.io.set_program_state(program, state)
    np.testing.assert_array_equal(_values()["fc_0.b_0"], before["fc_0.b_0"] + 1)
    with pytest.raises(BadFile, match=r"'fc_0.b_0' has the shape \[1\] in the program, and \[2\]"):
        fluid.io.set_program_state(program, {"fc_0.b_0": np.ones(2)})


def test_a_state_of_files_is_read_as_well(tmp_path: Path) -> None:
    exe, _ = _trained()
    before = _values()
    fluid.io.save_persistables(exe, str(tmp_path / "folder"))
    fluid.io.save_persistables(exe, str(tmp_path), filename="file")
    kept = fluid.io.get_program_persistable_vars(fluid.default_main_program())
    for state in (
        fluid.io.load_program_state(str(tmp_path / "folder")),
        fluid.io.load_program_state(str(tmp_path / "file"), kept),
    ):
        assert {name: value.tolist() for name, value in state.items()} == {
            name: value.tolist() for name, value in before.items()
        }
    fluid.load(fluid.default_main_program(), str(tmp_path / "folder"), exe)
    _check_same(before)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_a_state_is_read_in_every_protocol_that_is_written(tmp_path: Path, protocol: int) -> None:
    exe, _ = _trained()
    before, path = _values(), str(tmp_path / "model")
    fluid.save(fluid.default_main_program(), path, protocol=protocol)
    assert b"numpy._core" not in (tmp_path / "model.pdparams").read_bytes()  # older ones do not have it
    exe.run(fluid.default_startup_program())
    fluid.load(fluid.default_main_program(), path)
    _check_same(before)
    with pytest.raises(ValueError, match="is 2, 3 or 4, and not 5"):
        fluid.save(fluid.default_main_program(), path, protocol=5)


class _Trap:
    def __reduce__(self):  # type: ignore[no-untyped-def]
        return os.mkdir, ("was-run",)


def test_a_pickle_that_is_a_program_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _trained()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pdparams").write_bytes(pickle.dumps({"fc_0.w_0": _Trap()}, 2))
    with pytest.raises(BadFile, match=r"model\.pdparams is not read: .*posix\.mkdir|nt\.mkdir"):
        fluid.load(fluid.default_main_program(), str(tmp_path / "model"))
    assert _names(tmp_path) == ["model.pdparams"]


def test_files_that_do_not_fit_are_told_with_variable_and_shapes(tmp_path: Path) -> None:
    exe, _ = _trained()
    before = _values()
    fluid.io.save_persistables(exe, str(tmp_path / "each"))
    fluid.io.save_params(exe, str(tmp_path), filename="params")
    (tmp_path / "each" / "fc_0.b_0").write_bytes(b"junk" * 9)
    with pytest.raises(
        BadFile, match=r"fc_0\.b_0, where variable 'fc_0\.b_0' is expected: .* not with version 0"
    ):
        fluid.io.load_persistables(exe, str(tmp_path / "each"))
    with pytest.raises(BadFile, match=r"params holds 2 variables, and \d+ are to be read"):
        fluid.io.load_persistables(exe, str(tmp_path), filename="params")
    with pytest.raises(BadFile, match="holds more than the 1 variables"):
        fluid.io.load_vars(exe, str(tmp_path), vars=["fc_0.b_0"], filename="params")
    with pytest.raises(MissingFile, match=r"there is no .*nowhere"):
        fluid.io.load_params(exe, str(tmp_path / "nowhere"))
    _check_same(before)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        _network(size=2)
        with pytest.raises(BadFile, match=r"\[2\] in the program, and \[1\] in this file"):
            fluid.io.load_params(exe, str(tmp_path), filename="params")
        exe.run(fluid.default_startup_program())


def test_what_has_no_value_is_not_saved(tmp_path: Path) -> None:
    _network()
    with pytest.raises(NotInitialized, match=r"'fc_0\.w_0' has no value in this scope and cannot be saved"):
        fluid.io.save_params(fluid.Executor(), str(tmp_path))


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    exe, _ = _trained()
    block = fluid.default_main_program().global_block()
    block.create_var(name="../out", shape=[1], dtype="float32", persistable=True)
    fluid.global_scope().var("../out").get_tensor().set(np.ones(1, np.float32))
    with pytest.raises(BadFile, match="leads out of the folder"):
        fluid.io.save_persistables(exe, str(tmp_path / "in"))
    assert not (tmp_path / "out").exists()


def test_a_disk_that_refuses_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe, _ = _trained()
    fluid.io.save_params(exe, str(tmp_path), filename="params")
    before = (tmp_path / "params").read_bytes()
    exe.run(fluid.default_startup_program())

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fluid.io.save_params(exe, str(tmp_path), filename="params")
    assert _names(tmp_path) == ["params"]
    assert (tmp_path / "params").read_bytes() == before


def test_checkpoints_are_numbered_and_the_youngest_whole_one_counts(tmp_path: Path) -> None:
    exe, _ = _trained()
    program, root = fluid.default_main_program(), str(tmp_path / "checkpoints")
    assert fluid.io.get_latest_checkpoint_serial(root) == -1
    fluid.io.load_checkpoint(exe, root, main_program=program)  # there is none: nothing happens
    before = _values()
    numbers = {"epoch_id": 2, "step_id": 7}
    for _ in range(4):
        fluid.io.save_checkpoint(exe, root, 0, program, numbers, max_num_checkpoints=3)
    assert _names(root) == ["checkpoint_1", "checkpoint_2", "checkpoint_3"]
    assert (tmp_path / "checkpoints" / "checkpoint_3" / "trainer_0" / "_SUCCESS").exists()
    (tmp_path / "checkpoints" / "checkpoint_3" / "__model__" / "_SUCCESS").unlink()
    assert fluid.io.get_latest_checkpoint_serial(root) == 2
    assert fluid.io.load_trainer_args(root, 2, 0, ["epoch_id", "step_id"]) == ["2", "7"]
    exe.run(fluid.default_startup_program())
    fluid.io.load_checkpoint(exe, root, 2, program)
    _check_same(before)
    fluid.io.clean_checkpoint(root, delete_dir=True)
    assert not _names(tmp_path)


def test_the_first_checkpoint_is_number_0_and_is_found(tmp_path: Path) -> None:
    exe, _ = _trained()
    fluid.io.save_checkpoint(exe, str(tmp_path), 0, fluid.default_main_program())
    assert fluid.io.get_latest_checkpoint_serial(str(tmp_path)) == 0


def test_a_trainer_that_writes_behind_the_end_of_trainer_0_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trainer 0 removes all checkpoints when it has ended well, whatever another is at."""
    exe, _ = _trained()
    replace = Path.replace

    def end(path: Path, target: Path) -> Path:
        fluid.io.clean_checkpoint(str(tmp_path))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", end)
    fluid.io.save_checkpoint(exe, str(tmp_path), 1, fluid.default_main_program(), {"step_id": 7}, serial=3)
    assert not _names(tmp_path)
    with pytest.raises(FileNotFoundError):
        fluid.io.save_checkpoint(exe, str(tmp_path), 0, fluid.default_main_program(), {"step_id": 7})


def test_a_program_comes_back_from_its_bytes() -> None:
    _trained()
    program = fluid.default_main_program()
    again = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    assert str(again) == str(program)
    assert again.global_block().var("x").shape == (-1, 13)
    assert "var fc_0.w_0" in program.to_string(True, with_details=True)
    with warnings.catch_warnings(), pytest.raises(ValueError, match="these 3 bytes are not a program"):
        fluid.Program.parse_from_string(b"abc")
    with pytest.raises(ValueError, match="they have 0 blocks"):
        fluid.Program.parse_from_string(b"")


def test_operators_save_and_load(tmp_path: Path) -> None:
    program = fluid.Program()
    block = program.global_block()
    one = block.create_var(name="one", shape=[2], dtype="float32", persistable=True)
    other = block.create_var(name="other", shape=[2], dtype="float32", persistable=True)
    scope, exe = fluid.global_scope(), fluid.Executor()
    scope.var("one").get_tensor().set(np.array([1, 2], np.float32))
    block.append_op("save", inputs={"X": [one]}, attrs={"file_path": str(tmp_path / "a" / "one")})
    block.append_op("load", outputs={"Out": [other]}, attrs={"file_path": str(tmp_path / "a" / "one")})
    exe.run(program)
    np.testing.assert_array_equal(np.array(scope.find_var("other").get_tensor()), [1, 2])
    block.append_op("save_combine", inputs={"X": [one, other]}, attrs={"file_path": str(tmp_path / "both")})
    block.append_op(
        "load_combine", outputs={"Out": [other, one]}, attrs={"file_path": str(tmp_path / "both")}
    )
    exe.run(program)
    np.testing.assert_array_equal(np.array(scope.find_var("one").get_tensor()), [1, 2])


def test_a_programs_state_is_by_name_and_is_set_again() -> None:
    fluid.optimizer.Momentum(0.1, 0.9).minimize(
        fluid.layers.mean(fluid.layers.fc(fluid.data("x", [-1, 4]), 3))
    )
    program, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    parameters = {"fc_0.w_0", "fc_0.b_0"}
    others = {"learning_rate_0", *(f"{name}_velocity_0" for name in parameters)}
    assert set(program.state_dict()) == parameters | others
    assert (set(program.state_dict("param")), set(program.state_dict("opt"))) == (parameters, others)
    state = {name: np.array(value) for name, value in program.state_dict().items()}
    exe.run(program, feed={"x": np.ones((2, 4), np.float32)}, fetch_list=[])
    assert not np.array_equal(np.array(program.state_dict()["fc_0.w_0"]), state["fc_0.w_0"])
    with pytest.warns(UserWarning, match="nowhere"):
        program.set_state_dict({**state, "nowhere": np.zeros(2)})
    for name, value in program.state_dict().items():
        np.testing.assert_array_equal(np.array(value), state[name])
    elsewhere = fluid.Scope()
    program.set_state_dict(state, elsewhere)
    assert set(program.state_dict("param", elsewhere)) == parameters
    with pytest.raises(ValueError, match="mode is 'all', 'param' or 'opt', not 'most'"):
        program.state_dict("most")


def test_values_without_a_file_are_bytes_which_are_read_as_a_file_is(tmp_path: Path) -> None:
    exe, _ = _trained()
    expected = _values()
    held = fluid.io.save_persistables(exe, None)
    fluid.io.save_persistables(exe, str(tmp_path), filename="all")
    assert held == (tmp_path / "all").read_bytes()
    with fluid.scope_guard(fluid.Scope()):
        fluid.io.load_persistables(exe, None, filename=held)
        assert all(np.array_equal(value, expected[name]) for name, value in _values().items())
    with pytest.raises(BadFile, match="given as bytes"):
        fluid.io.load_persistables(exe, None, filename=held[:-4] if held else b"")
    with pytest.raises(ValueError, match="load_vars needs the name of a folder"):
        fluid.io.load_persistables(exe, None)


def test_a_model_is_read_from_bytes(tmp_path: Path) -> None:
    exe, predicted = _trained()
    folder = str(tmp_path / "model")
    fluid.io.save_inference_model(folder, ["x"], [predicted], exe, None, "program", "values")
    program, values = ((Path(folder) / name).read_bytes() for name in ("program", "values"))
    (expected,) = exe.run(
        fluid.default_main_program().clone(for_test=True),
        feed={"x": X, "y": X[:, :1]},
        fetch_list=[predicted],
    )
    with fluid.scope_guard(fluid.Scope()):
        read, feeds, targets = fluid.io.load_inference_model(None, exe, program, values)
        assert feeds == ["x"]
        np.testing.assert_array_equal(exe.run(read, feed={"x": X}, fetch_list=targets)[0], expected)
    with pytest.raises(BadFile, match="model_filename, as bytes"):
        fluid.io.load_inference_model(None, exe, program[:-9], values)
    with pytest.raises(ValueError, match="bytes, and they are NoneType and bytes"):
        fluid.io.load_inference_model(None, exe, None, values)
    with pytest.raises(ValueError, match="params_filename holds bytes"):
        fluid.io.load_inference_model(folder, exe, "program", values)
