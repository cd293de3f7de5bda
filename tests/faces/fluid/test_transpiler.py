"""DistributeTranspiler: the programs that it shows, and what they do when they are run."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._absent import NotInThisRelease
from paddle._program.errors import BadArgument, BadProgram
from paddle.fluid import transpiler, unique_name
from paddle.fluid.executor import Executor, Scope
from paddle.fluid.framework import Program, program_guard
from paddle.fluid.layers import data, embedding, fc, mean, square_error_cost
from paddle.fluid.optimizer import SGD, Adam, Momentum
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

TWO = "10.0.0.1:6174,10.0.0.2:6174"


def network(width: int = 1) -> tuple[Program, Program, Any]:
    main, startup = Program(), Program()
    startup.random_seed = 7
    with unique_name.guard(), program_guard(main, startup):
        x, y = data(name="x", shape=[4], dtype="float32"), data(name="y", shape=[1], dtype="float32")
        hidden = fc(input=x, size=width) if width > 1 else x
        loss = mean(square_error_cost(input=fc(input=hidden, size=1), label=y))
        SGD(learning_rate=0.1).minimize(loss)
    return main, startup, loss


def transpiled(pservers: str = TWO, width: int = 1, **changes: Any) -> tuple[Any, Program, Program, Any]:
    main, startup, loss = network(width)
    config = transpiler.DistributeTranspilerConfig()
    for name in [name for name in changes if hasattr(config, name) and name != "sync_mode"]:
        setattr(config, name, changes.pop(name))
    made = transpiler.DistributeTranspiler(config)
    told = {"trainer_id": 0, "trainers": 2, **changes}
    made.transpile(program=main, startup_program=startup, pservers=pservers, **told)
    return made, made.get_trainer_program(), startup, loss


def types(program: Program, block: int = 0) -> list[str]:
    return [op.type for op in program.block(block).ops]


def test_a_trainer_sends_gradients_and_receives_parameters() -> None:
    _, trainer, _, _ = transpiled()
    assert types(trainer)[-4:] == ["send_barrier", "recv", "recv", "fetch_barrier"]
    assert "sgd" not in types(trainer)
    send = next(op for op in trainer.global_block().ops if op.type == "send")
    assert send.attr("op_role_var") in (["fc_0.w_0", "fc_0.w_0@GRAD"], ["fc_0.b_0", "fc_0.b_0@GRAD"])
    assert set(send.attr("epmap")) <= set(TWO.split(","))


def test_what_only_infers_from_a_dataset_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made, *_ = transpiled()
    ran: list[Program] = []
    monkeypatch.setattr(Executor, "train_from_dataset", lambda self, program, dataset: ran.append(program))
    Executor().infer_from_dataset(made.get_trainer_program(), object())
    assert ran[0]._is_test


def test_asynchronous_trainers_wait_for_no_barrier() -> None:
    _, trainer, _, _ = transpiled(sync_mode=False)
    assert not {"send_barrier", "fetch_barrier"} & set(types(trainer))
    assert types(trainer)[-2:] == ["recv", "recv"]


def test_rows_are_sent_as_rows_and_received_when_a_batch_asks_for_them() -> None:
    main, startup = Program(), Program()
    with unique_name.guard(), program_guard(main, startup):
        ids = data(name="ids", shape=[1], dtype="int64")
        rows = embedding(ids, [1000, 64], is_sparse=True, is_distributed=True, param_attr="table")
        Adam(learning_rate=0.1).minimize(mean(fc(input=rows, size=1, bias_attr=False)))
    made = transpiler.DistributeTranspiler()
    made.transpile(0, program=main, startup_program=startup, pservers=TWO, trainers=2)
    assert types(main)[types(main).index("lookup_table_grad") + 1 :] == [
        *("split_selected_rows", "send", "send_barrier", "recv", "fetch_barrier")
    ]
    assert made.has_distributed_lookup_table and made.table_name == "table"
    assert not transpiled()[0].has_distributed_lookup_table


def test_a_server_declares_what_its_rule_remembers_and_one_without_parameters_does_nothing() -> None:
    main, startup = Program(), Program()
    with unique_name.guard(), program_guard(main, startup):
        x = data(name="x", shape=[1000], dtype="float32")
        Momentum(learning_rate=0.1, momentum=0.9).minimize(mean(fc(input=x, size=1000, bias_attr=False)))
    halves, whole = transpiler.DistributeTranspiler(), transpiler.DistributeTranspiler()
    twin = main.clone()
    halves.transpile(0, program=main, startup_program=startup, pservers=TWO, trainers=2)
    _, start = halves.get_pserver_programs("10.0.0.2:6174")
    assert start.global_block().var("fc_0.w_0_velocity_0").shape == (500, 1000)
    whole.transpile(0, program=twin, startup_program=startup, pservers=TWO, trainers=2, slice_var_up=False)
    idle = whole.get_pserver_program("10.0.0.2:6174")
    assert (types(idle), types(idle, 1)) == (["listen_and_serv"], [])


def test_a_server_listens_and_updates_what_it_is_shown_with() -> None:
    made, _, _, _ = transpiled()
    seen = []
    for endpoint in TWO.split(","):
        program = made.get_pserver_program(endpoint)
        (listens,) = program.global_block().ops
        assert (listens.type, listens.attr("Fanin"), listens.attr("endpoint")) == (
            "listen_and_serv",
            2,
            endpoint,
        )
        blocks = [types(program, index) for index in range(1, program.num_blocks)]
        assert all(each == ["sum", "scale", "sgd"] for each in blocks)
        seen += [op.input("Param")[0] for block in program.blocks[1:] for op in block.ops if op.type == "sgd"]
    assert sorted(seen) == ["fc_0.b_0", "fc_0.w_0"]


def test_large_parameters_are_cut_into_rows_for_all_servers() -> None:
    made, trainer, _, _ = transpiled(width=6, min_block_size=4)
    shown = made.param_grad_ep_mapping
    names = [name for each in shown.values() for name in each["params"]]
    assert {"fc_0.w_0.block0", "fc_0.w_0.block1"} <= set(names)
    assert "split_byref" in types(trainer)
    whole, _, _, _ = transpiled(width=6, min_block_size=4, slice_var_up=False)
    assert not any(
        ".block" in name for each in whole.param_grad_ep_mapping.values() for name in each["params"]
    )


@pytest.mark.parametrize("method", [transpiler.RoundRobin, transpiler.HashName])
def test_split_methods_place_every_block_once(method: type) -> None:
    made, _, _, _ = transpiled(width=6, split_method=method)
    names = [name for each in made.param_grad_ep_mapping.values() for name in each["params"]]
    assert sorted(names) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]


def test_blocks_are_of_whole_rows_and_no_smaller_than_told() -> None:
    class Shaped:
        name, shape = "w", (10, 3)

    assert transpiler.slice_variable([Shaped()], 4, 8) == ["w:0:12", "w:1:12", "w:2:6"]
    assert transpiler.slice_variable([Shaped()], 4, 100) == ["w:0:30"]


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"mode": "nccl2"}, NotInThisRelease, "mode='nccl2' is not in this release"),
        ({"enable_dc_asgd": True}, BadArgument, "gradients that come late, and in step none does"),
        ({"trainer_id": 2}, BadArgument, "trainer_id is 2, and a job of 2 trainers"),
        ({"pservers": ""}, BadArgument, "names no parameter server"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        transpiled(**changes)


@pytest.mark.parametrize("number", [1, -1])
def test_a_server_may_have_a_number_that_no_trainer_has(number: int) -> None:
    """As where a program numbers its servers, too, and gives each process the number that it has."""
    main, startup, loss = network()
    made = transpiler.DistributeTranspiler()
    made.transpile(number, program=main, startup_program=startup, pservers=TWO, trainers=1)
    second = TWO.split(",")[1]
    assert "listen_and_serv" in types(made.get_pserver_program(second))
    assert made.get_startup_program(second).global_block().ops
    exe = Executor()
    exe.run(startup)
    with pytest.raises(BadArgument, match=f"trainer_id is {number}, and a job of 1 trainers"):
        exe.run(main, feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])


def looking(pservers: str, trainer_id: int = 0) -> tuple[Any, Program, Program, Any]:
    """A program without an optimizer, transpiled for two trainers."""
    main, startup = Program(), Program()
    with unique_name.guard(), program_guard(main, startup):
        loss = mean(fc(input=data(name="x", shape=[4], dtype="float32"), size=1))
    made = transpiler.DistributeTranspiler()
    with pytest.warns(UserWarning, match=r"call optimizer.minimize\(loss\) before transpile"):
        made.transpile(trainer_id, program=main, startup_program=startup, pservers=pservers, trainers=2)
    return made, main, startup, loss


def test_a_program_without_an_optimizer_is_computed_and_its_servers_end_with_its_trainers() -> None:
    endpoints = Endpoints(2, 2)
    for trainer_id in range(2):
        made, main, startup, loss = looking(",".join(endpoints.names), trainer_id)
        assert types(main)[-2:] == ["send_barrier", "fetch_barrier"]
        assert types(made.get_pserver_program(endpoints.names[0])) == ["listen_and_serv"]
        executor, scope = Executor(), Scope()
        executor.run(startup, scope=scope)
        (found,) = executor.run(main, feed={"x": np.ones((2, 4), np.float32)}, fetch_list=[loss], scope=scope)
        weights = np.array(scope.find_var("fc_0.w_0").get_tensor())
        np.testing.assert_allclose(found, weights.sum(), rtol=1e-5)
        executor.close()
    assert endpoints.outcomes() == [True, True]


def test_who_minimizes_what_was_transpiled_is_told_the_order() -> None:
    _, main, startup, loss = looking(TWO)
    with unique_name.guard(), program_guard(main, startup):
        SGD(learning_rate=0.1).minimize(loss)
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    with pytest.raises(BadProgram, match=r"transpile was called before optimizer.minimize"):
        executor.run(main, feed={"x": np.ones((2, 4), np.float32)}, scope=scope)


def test_a_server_that_the_job_does_not_have_is_refused() -> None:
    made, _, _, _ = transpiled()
    with pytest.raises(BadArgument, match=r"'a:1' is none of the parameter servers of this job: 10.0.0.1"):
        made.get_pserver_program("a:1")


def _batches(trainer_id: int, trainers: int) -> list[dict[str, np.ndarray]]:
    random, share = np.random.default_rng(3), 8 // trainers
    whole = [random.standard_normal((8, 4)).astype(np.float32) for _ in range(5)]
    own = [each[trainer_id * share : (trainer_id + 1) * share] for each in whole]
    return [{"x": x, "y": x.sum(axis=1, keepdims=True)} for x in own]


def _train(main: Program, startup: Program, loss: Any, batches: Any) -> tuple[list[float], np.ndarray]:
    executor, scope = Executor(), Scope()
    executor.run(startup, scope=scope)
    losses = [executor.run(main, feed=each, fetch_list=[loss], scope=scope)[0].item() for each in batches]
    values = np.array(scope.find_var("fc_0.w_0").get_tensor())
    executor.close()
    return losses, values


@pytest.mark.parametrize(("servers", "trainers"), [(1, 1), (2, 2)])
def test_in_step_trainers_equal_one_that_has_all_batches(servers: int, trainers: int) -> None:
    losses, values = _train(*network(), _batches(0, 1))
    endpoints = Endpoints(servers, trainers)
    results: list[Future[Any]] = [Future() for _ in range(trainers)]
    jobs = [transpiled(",".join(endpoints.names), trainer_id=id, trainers=trainers) for id in range(trainers)]

    def train(id: int) -> None:
        try:
            _, main, startup, loss = jobs[id]
            results[id].set_result(_train(main, startup, loss, _batches(id, trainers)))
        except BaseException as error:
            results[id].set_exception(error)

    for id in range(trainers):
        threading.Thread(target=train, args=(id,), daemon=True).start()
    found = [result.result(TIMEOUT_S) for result in results]
    np.testing.assert_allclose(np.mean([each for each, _ in found], axis=0), losses, rtol=1e-6)
    for _, each in found:
        np.testing.assert_allclose(each, values, rtol=1e-6, atol=1e-7)
    assert endpoints.outcomes() == [True] * servers


def test_where_late_gradients_are_corrected_one_trainer_learns_what_one_process_does() -> None:
    losses, values = _train(*network(), _batches(0, 1))
    endpoints = Endpoints(2, 1)
    names, late = ",".join(endpoints.names), {"sync_mode": False, "enable_dc_asgd": True}
    _, main, startup, loss = transpiled(names, trainers=1, **late)
    assert main._carrier.cluster.mode.compensates
    found, trained = _train(main, startup, loss, _batches(0, 1))
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    np.testing.assert_allclose(trained, values, rtol=1e-5, atol=1e-7)
    assert endpoints.outcomes() == [True, True]


def _two_optimizers() -> tuple[Program, Program, Any]:
    main, startup = Program(), Program()
    startup.random_seed = 7
    with unique_name.guard(), program_guard(main, startup):
        x, y = data(name="x", shape=[4], dtype="float32"), data(name="y", shape=[1], dtype="float32")
        hidden = fc(input=x, size=3)
        loss = mean(square_error_cost(input=fc(input=hidden, size=1), label=y))
        SGD(learning_rate=0.1).minimize(loss, parameter_list=["fc_0.w_0", "fc_0.b_0"])
        Momentum(learning_rate=0.05, momentum=0.9).minimize(loss, parameter_list=["fc_1.w_0", "fc_1.b_0"])
    return main, startup, loss


def test_two_optimizers_of_one_program_have_two_groups_of_one_endpoint() -> None:
    losses, values = _train(*_two_optimizers(), _batches(0, 1))
    endpoints = Endpoints(2)
    main, startup, loss = _two_optimizers()
    made = transpiler.DistributeTranspiler()
    pservers = ",".join(endpoints.names)
    made.transpile(0, program=main, startup_program=startup, pservers=pservers, trainers=1)
    found, trained = _train(made.get_trainer_program(), startup, loss, _batches(0, 1))
    np.testing.assert_allclose(found, losses, rtol=1e-6)
    np.testing.assert_allclose(trained, values, rtol=1e-6)
    assert endpoints.outcomes() == [True, True]


def test_scripts_of_jobs_find_what_they_take_from_the_transpiler(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main = network()[0]
    transpiler.details.program_to_code(main)
    printed = capsys.readouterr().out
    assert "{Out=['fc_0.tmp_0']} = mul(inputs=" in printed
    with (tmp_path / "program").open("w") as file:
        transpiler.details.program_to_code(main, file, skip_op_callstack=True)
    assert (tmp_path / "program").read_text() == printed
    with pytest.raises(AttributeError, match="UnionFind is not in this release"):
        _ = transpiler.details.UnionFind


def test_a_program_of_0_11_gives_updates_and_pairs_and_its_number_is_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    main, startup = Program(), Program()
    with unique_name.guard(), program_guard(main, startup):
        loss = mean(fc(input=data(name="x", shape=[4], dtype="float32"), size=1))
        updates, pairs = SGD(learning_rate=0.1).minimize(loss)
        made = transpiler.DistributeTranspiler()
        made.transpile(updates, pairs, pservers=TWO, trainers=2)
    assert types(made.get_pserver_program("10.0.0.1:6174")) == ["listen_and_serv"]
    with pytest.raises(BadArgument, match="set PADDLE_TRAINER_ID, from 0 to 1"):
        made.get_trainer_program()
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    with pytest.raises(BadArgument, match="begins with a trainer's number"):
        made.transpile([], pairs, pservers=TWO)
    main = Program()
    with unique_name.guard(), program_guard(main, startup):
        loss = mean(fc(input=data(name="x", shape=[4], dtype="float32"), size=1))
        made.transpile(*SGD(learning_rate=0.1).minimize(loss), pservers=TWO, trainers=2)
    assert made.get_trainer_program() is main and made.trainer_id == 1


def test_a_program_of_0_12_gives_updates_and_pairs_before_its_number() -> None:
    for given, named in (((), {"trainer_id": 1}), ((1,), {}), ((1, None, TWO, 2), {})):
        main = Program()
        with unique_name.guard(), program_guard(main, Program()):
            loss = mean(fc(input=data(name="x", shape=[4], dtype="float32"), size=1))
            updates, pairs = SGD(learning_rate=0.1).minimize(loss)
        made = transpiler.DistributeTranspiler()
        if len(given) < 4:
            named = {**named, "trainers": 2, "pservers": TWO}
        made.transpile(updates, pairs, *given, **named)
        assert made.get_trainer_program() is main
        assert (made.trainer_id, made.trainer_num, ",".join(made.pserver_endpoints)) == (1, 2, TWO)


def test_of_what_servers_load_where_none_is_a_process_of_the_program_trainer_0_is_warned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paddle._program.calls.loaded_by_servers", lambda: "train.py:7")
    transpiled()
    monkeypatch.setenv("PADDLE_SHARED_PORTS", f"{TWO.rpartition(':')[2]},1,1")
    one = TWO.rpartition(",")[2]
    transpiled(one, trainer_id=1)
    with pytest.warns(UserWarning, match=r"train.py:7: what its servers load .* have trainer 0 load it, too"):
        transpiled(one)


def test_servers_are_waited_for_and_named_when_they_do_not_come() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and does not listen
        known, missing = (f"127.0.0.1:{each.getsockname()[1]}" for each in (there, silent))
        transpiler.details.wait_server_ready([known], patience_s=0.0)
        with pytest.raises(RuntimeError, match=f"nobody listens at {missing} after"):
            transpiler.details.wait_server_ready([known, missing], patience_s=0.0)
