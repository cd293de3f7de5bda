"""One process's fleet: what needs which call before it, and what it says of itself."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle.distributed.fleet as fleet_module
import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._fleet.errors import BadStrategy, TooEarly
from paddle._fleet.fleet import Fleet
from paddle._fleet.place import Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy
from paddle._program.description.written import fresh
from tests.pserver.service.endpoints import Endpoints

SERVERS = ["127.0.0.1:6170", "127.0.0.1:6171"]
WORKERS = ["127.0.0.1:7170", "127.0.0.2:7170", "127.0.0.2:7171"]


def begun(role: int = Role.WORKER, current_id: int = 0) -> Fleet:
    maker = UserDefinedRoleMaker(
        role=role, current_id=current_id, worker_endpoints=WORKERS, server_endpoints=SERVERS
    )
    return Fleet().init(maker)


def minimized(fleet: Fleet, strategy: object = None) -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1))
        fleet.distributed_optimizer(fluid.optimizer.SGD(learning_rate=0.1), strategy).minimize(loss)


def test_it_says_who_this_is_and_who_the_others_are() -> None:
    worker = begun(current_id=2)
    assert (worker.worker_index(), worker.worker_num(), worker.server_num()) == (2, 3, 2)
    assert (worker.is_worker(), worker.is_server(), worker.is_first_worker()) == (True, False, False)
    assert worker.server_endpoints(to_string=True) == ",".join(SERVERS)
    assert worker.worker_endpoints() == WORKERS
    assert (worker.local_rank(), worker.node_num()) == (1, 2)
    assert begun(Role.SERVER, 1).server_index() == 1


@pytest.mark.parametrize("is_collective", [False, True])
def test_one_process_is_refused_a_strategy_that_it_would_not_heed(is_collective: bool) -> None:
    told = DistributedStrategy()
    told.gradient_merge = True
    with pytest.raises(NotInThisRelease, match=r"DistributedStrategy\.gradient_merge = True"):
        minimized(Fleet().init(is_collective=is_collective), told)
    minimized(Fleet().init(is_collective=is_collective), DistributedStrategy())


def test_nothing_comes_before_init() -> None:
    for call in ("worker_index", "is_server", "init_worker", "run_server", "barrier_worker"):
        with pytest.raises(TooEarly, match=r"fleet.init\(\) comes before all else"):
            getattr(Fleet(), call)()
    with pytest.raises(ValueError, match="is_collective is True or False"):
        Fleet().init(is_collective="F")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="should be subclass of RoleMakerBase"):
        Fleet().init("F")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["init_worker", "init_server", "stop_worker", "run_server"])
def test_servers_and_workers_need_an_optimizer_that_has_minimized(call: str) -> None:
    role = Role.SERVER if "server" in call else Role.WORKER
    with pytest.raises(ValueError, match=r"Fleet can not find suitable runtime handler .*minimize"):
        getattr(begun(role), call)()
    silent = begun(role)
    minimized(silent)
    with pytest.raises(ValueError, match=r"suitable runtime handler .*strategy.a_sync = True"):
        getattr(silent, call)()


def test_without_a_cluster_what_is_for_one_does_nothing() -> None:
    alone = Fleet().init(is_collective=True)
    strategy = DistributedStrategy()
    strategy.a_sync = True
    minimized(alone, strategy)
    assert alone.is_first_worker() and alone.worker_num() == 1
    alone.init_worker()
    alone.barrier_worker()
    alone.stop_worker()
    with pytest.warns(UserWarning, match="serves nobody"):  # as the original's goes on
        alone.run_server()


@pytest.mark.parametrize("call", ["barrier", "all_reduce", "all_gather"])
def test_workers_that_do_not_meet_are_told_so_once(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_WITH_GLOO", raising=False)
    worker = begun()
    given = () if call == "barrier" else (3,)
    with pytest.warns(UserWarning, match=rf"{call} .*gloo is not initialized.* PADDLE_WITH_GLOO=1"):
        getattr(worker.util, call)(*given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        worker.barrier_worker()
        worker.role_maker._barrier("worker")


def test_a_shuffle_among_workers_that_do_not_meet_says_so() -> None:
    with pytest.warns(UserWarning, match="global_shuffle leaves samples with the worker"):
        assert begun().util.all_to_all([b"", b"", b""]) is None


def test_the_programs_of_a_job_have_one_mode() -> None:
    worker, in_step, geo = begun(), DistributedStrategy(), DistributedStrategy()
    in_step.a_sync = False
    geo.a_sync_configs = {"k_steps": 4}
    minimized(worker, in_step)
    minimized(worker, in_step)
    with pytest.raises(BadStrategy, match="trained in the mode sync, and this one was to be in geo"):
        minimized(worker, geo)


def test_what_paddlerec_notes_at_a_program_is_kept_but_for_what_is_not_dumped() -> None:
    worker, strategy = begun(), DistributedStrategy()
    strategy.a_sync = True
    minimized(worker, strategy)
    noted = worker._programs[0][0]._fleet_opt
    noted["stat_var_names"] = ["_generated_var_2"]
    noted["dump_fields"] = []
    noted["dump_fields"] = ["a"]
    with pytest.raises(NotImplementedError, match="'dump_converter' = 'gzip' is not in this release"):
        noted["dump_converter"] = "gzip"


def test_what_a_server_begins_from_is_a_servers_and_named_as_upstream_names_it(tmp_path: Path) -> None:
    in_step = DistributedStrategy()
    in_step.a_sync = False
    server, worker = begun(Role.SERVER), begun()
    for each in (server, worker):
        minimized(each, in_step)
    with pytest.raises(ValueError, match="there is no such folder"):
        server.init_server(dirname=str(tmp_path / "nowhere"))
    with pytest.raises(TypeError, match="model_dir"):
        server.init_server(model_dir=str(tmp_path))  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="nothing would be loaded"):
        worker.init_server(str(tmp_path))
    worker.init_server()
    with pytest.warns(UserWarning, match="there is no cluster, so nothing is loaded"):
        Fleet().init().init_server(str(tmp_path))


def test_a_second_init_says_goodbye_in_the_job_before() -> None:
    endpoints, strategy = Endpoints(1), DistributedStrategy()
    strategy.a_sync = True
    maker = UserDefinedRoleMaker(worker_num=1, server_endpoints=endpoints.names)
    fleet, main, startup = Fleet().init(maker), fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1))
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
    with fluid.scope_guard(fluid.Scope()):
        fluid.Executor().run(startup)
        fleet.init_worker()
    fleet.init(is_collective=True)
    assert endpoints.outcomes() == [True]


def test_what_is_saved_is_a_workers_and_by_an_executor(tmp_path: Path) -> None:
    in_step = DistributedStrategy()
    in_step.a_sync = False
    server = begun(Role.SERVER)
    minimized(server, in_step)
    with pytest.raises(ValueError, match=r"save_persistables\(\) is for workers"):
        server.save_persistables(fluid.Executor(), str(tmp_path))
    with pytest.raises(TypeError, match="executor must be as Executor type"):
        begun().save_inference_model(fluid.CompiledProgram(fluid.Program()), str(tmp_path), [], [])


def test_a_worker_is_no_server() -> None:
    with pytest.raises(ValueError, match=r"this process is a worker"):
        begun().run_server()


def test_the_modules_functions_are_those_of_one_fleet() -> None:
    assert fleet_module.fleet is fleet_module.base.fleet_base.fleet
    assert fleet_module.init == fleet_module.fleet.init
    assert fleet_module.DistributedStrategy is DistributedStrategy
    with pytest.raises(AttributeError, match="distributed_model is not in this release"):
        _ = fleet_module.distributed_model


def test_inference_in_a_job_computes_all_but_gradients_and_updates() -> None:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1))
        forward = [op.type for op in main.global_block().ops]
        fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    infer = fleet_module.utils.DistributedInfer(main_program=main, startup_program=startup)
    assert [op.type for op in infer.get_dist_infer_program().global_block().ops] == forward
    assert len(main.global_block().ops) > len(forward)


def test_a_name_that_a_fleet_lacks_is_said_of_the_object_too() -> None:
    for name, why in (
        ("distributed_model", "programs are static"),
        ("save_cache_table", "save_persistables saves all"),
    ):
        for asked in (fleet_module.fleet, Fleet(), fleet_module):
            with pytest.raises(
                AttributeError, match=rf"^paddle.distributed.fleet.{name} is not in this release.*{why}"
            ):
                getattr(asked, name)
    with pytest.raises(AttributeError, match=r"^paddle\.distributed\.fleet\.init_wroker does not exist"):
        _ = fleet_module.fleet.init_wroker
    assert not hasattr(Fleet(), "distributed_model")


def test_what_fleet_had_beside_is_said_by_name() -> None:
    client = fleet_module.utils.fs.HDFSClient("/hadoop", {}, sleep_inter=1000)
    with pytest.raises(NotImplementedError, match=r"HDFSClient\.ls_dir is not in this release"):
        client.ls_dir("/model")


def test_words_of_the_calls_of_2_6_are_taken_or_refused_by_name() -> None:
    worker = Fleet().init(log_level="DEBUG")
    worker.init_worker([fluid.global_scope()])
    with pytest.raises(NotImplementedError, match="programs with scopes of their own"):
        worker.init_worker([fluid.global_scope(), fluid.Scope()])
    assert (worker.world_size(), worker.rank_in_node(), worker.is_coordinator()) == (1, 0, False)
    assert worker.all_reduce(np.ones(2)).tolist() == [1.0, 1.0]


def test_what_another_scope_trains_is_not_saved_as_it_began(tmp_path: Path) -> None:
    endpoints, strategy, scope = Endpoints(1), DistributedStrategy(), fluid.Scope()
    strategy.a_sync = True
    fleet = Fleet().init(UserDefinedRoleMaker(worker_num=1, server_endpoints=endpoints.names))
    with fresh():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(input=x, size=1, param_attr="w"))
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
        exe, main = fluid.Executor(), fluid.default_main_program()
        exe.run(fluid.default_startup_program(), scope=scope)
        exe.run(main, feed={"x": np.ones((1, 2), np.float32)}, scope=scope)
        exe.run(fluid.default_startup_program())
        with pytest.raises(TooEarly, match=r"which another scope trains: save within .*scope_guard"):
            fleet.save_persistables(exe, str(tmp_path), main)
        with fluid.scope_guard(scope):
            fleet.save_persistables(exe, str(tmp_path), main)
            fleet.stop_worker()
        assert endpoints.outcomes() == [True]
        saved = fluid.io.load_program_state(str(tmp_path), var_list=[main.global_block().var("w")])["w"]
        np.testing.assert_array_equal(saved, np.array(scope.find_var("w").get_tensor()))
