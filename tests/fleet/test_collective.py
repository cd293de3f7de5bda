"""Fleet of 1.x without parameter servers: one process trains as without fleet."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._absent import NotInThisRelease
from paddle._launch.errors import NotInThisRelease as NotPlaced
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.collective import DistributedStrategy, TrainStatus, fleet

ROWS = np.arange(12, dtype="float32").reshape(4, 3) / 12


def trained(optimizer_of: Any, steps: int = 3) -> list[float]:
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(scope):
        x = fluid.layers.data("x", [3])
        hidden = fluid.layers.fc(x, 4, act="relu", param_attr=fluid.initializer.Constant(0.3))
        loss = fluid.layers.mean(fluid.layers.fc(hidden, 1, param_attr=fluid.initializer.Constant(0.2)))
        program = optimizer_of(hidden)(loss) or main
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        return [float(exe.run(program, {"x": ROWS}, [loss])[0].item()) for _ in range(steps)]


def by_fleet(**fields: Any) -> Any:
    def of(hidden: Any) -> Any:
        strategy = DistributedStrategy()
        for name, value in fields.items():
            setattr(strategy, name, value)
        if strategy.forward_recompute:
            strategy.recompute_checkpoints = [hidden]

        def minimize(loss: Any) -> Any:
            fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
            fleet.distributed_optimizer(fluid.optimizer.Adam(0.1), strategy).minimize(loss)
            return fleet.main_program

        return minimize

    return of


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"nccl_comm_num": 2, "fuse_all_reduce_ops": True},
        {"forward_recompute": True},
        {"use_local_sgd": True},
    ],
)
def test_one_worker_trains_as_without_fleet(fields: dict[str, Any]) -> None:
    alone = trained(lambda _: lambda loss: fluid.optimizer.Adam(0.1).minimize(loss) and None)
    assert trained(by_fleet(**fields)) == alone


def test_who_is_alone_has_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.init()
    assert (fleet.worker_num(), fleet.worker_index(), fleet.worker_endpoints()) == (1, 0, ["127.0.0.1:6170"])
    assert fleet.is_worker() and not fleet.is_server() and fleet.split_files(["a", "b"]) == ["a", "b"]
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "10.0.0.1:6171")
    fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
    assert fleet.worker_endpoints(to_string=True) == "10.0.0.1:6171"
    fleet.init(role_maker.UserDefinedCollectiveRoleMaker(0, ["10.0.0.2:6172"]))
    assert fleet.worker_endpoints() == ["10.0.0.2:6172"]


def test_several_are_refused() -> None:
    several = role_maker.UserDefinedCollectiveRoleMaker(0, ["10.0.0.1:1", "10.0.0.2:1"])
    with pytest.raises(NotPlaced, match="collective training of 2 trainers"):
        fleet.init(several)
    served = role_maker.UserDefinedRoleMaker(0, role_maker.Role.WORKER, 1, ["127.0.0.1:6170"])
    with pytest.raises(NotInThisRelease, match="its job is of one process, and role: 1"):
        fleet.init(served)
    fleet.init()
    with pytest.raises(ValueError, match="strategy is a DistributedStrategy"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), "nccl2")


def test_a_job_goes_on_from_its_youngest_checkpoint(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [3]), 1, param_attr="w"))
        fleet.init()
        fleet.distributed_optimizer(fluid.optimizer.Momentum(0.1, 0.9)).minimize(loss)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        assert fleet.load_check_point(exe, path) is None
        for epoch in range(3):
            exe.run(fleet.main_program, {"x": ROWS})
            fleet.save_check_point(exe, path, TrainStatus(epoch), remain_all_checkpoint=epoch != 1)
        kept = exe.run(fleet._origin_program, {"x": ROWS}, ["w"])
        status = fleet.load_check_point(exe, path, 0)
        assert status == TrainStatus(2) and status is not None and status.next() == 3
        assert np.array_equal(exe.run(fleet._origin_program, {"x": ROWS}, ["w"]), kept)
    assert sorted(each.name[-2:] for each in (tmp_path / "kept").iterdir()) == [".1", ".2"]
