"""One process's fleet: what needs which call before it, and what it says of itself."""

import pytest

import paddle.distributed.fleet as fleet_module
import paddle.fluid as fluid
from paddle._fleet.errors import TooEarly
from paddle._fleet.fleet import Fleet
from paddle._fleet.place import Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.strategy import DistributedStrategy

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
    with pytest.raises(ValueError, match=r"there is no cluster"):
        alone.run_server()


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


def test_what_fleet_had_beside_is_said_by_name() -> None:
    with pytest.raises(NotImplementedError, match="HDFSClient is not in this release"):
        fleet_module.utils.fs.HDFSClient("/hadoop", {})
    with pytest.raises(ImportError, match=r"incubate.fleet.collective is not in this release"):
        import paddle.fluid.incubate.fleet.collective  # noqa: F401
