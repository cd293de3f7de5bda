"""Fleet as 1.x had it: names, strategies and programs."""

import pytest

import paddle.fluid as fluid
from paddle._fleet.errors import FleetError
from paddle._fleet.older import OlderFleet, told
from paddle._fleet.place import Role
from paddle._program import upstream_flags
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet as whole
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import (
    StrategyFactory,
    TrainerRuntimeConfig,
)
from paddle.fluid.incubate.fleet.parameter_server.pslib import fleet as pslib
from paddle.fluid.transpiler import DistributeTranspilerConfig


def begun() -> OlderFleet:
    role = role_maker.UserDefinedRoleMaker(0, Role.WORKER, 2, ["127.0.0.1:6170"])
    made = OlderFleet()
    made.init(role)
    return made


def config(**fields: object) -> DistributeTranspilerConfig:
    made = DistributeTranspilerConfig()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("strategy", "mode"),
    [
        (None, "sync"),
        (StrategyFactory.create_sync_strategy(), "sync"),
        (StrategyFactory.create_async_strategy(), "async"),
        (StrategyFactory.create_half_async_strategy(), "async"),
        (StrategyFactory.create_geo_strategy(20), "geo"),
        (config(sync_mode=True), "sync"),
        (config(sync_mode=False), "async"),
        (config(geo_sgd_mode=True, geo_sgd_need_push_nums=20), "geo"),
    ],
)
def test_a_strategy_says_the_mode(strategy: object, mode: str) -> None:
    assert told(strategy).name == mode
    assert told(strategy).k_steps == (20 if mode == "geo" else 1)


def test_the_modes_of_the_transpiler_and_of_strategies_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPU_NUM", "3")
    half = told(config(sync_mode=False, half_async=True))
    assert half == told(StrategyFactory.create_half_async_strategy())
    assert (half.name, half.max_merge_var_num) == ("half_async", 3)
    assert told(config(sync_mode=False)) == told(StrategyFactory.create_async_strategy())
    with pytest.warns(UserWarning, match="runtime_split_send_recv changes nothing"):
        told(config(runtime_split_send_recv=True))
    with pytest.raises(ValueError, match="CPU_NUM is 'two'"):
        monkeypatch.setenv("CPU_NUM", "two")
        StrategyFactory.create_half_async_strategy()


def test_the_transpilers_geo_takes_any_rule() -> None:
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        fluid.optimizer.Adam(0.1).minimize(fluid.layers.mean(fluid.layers.fc(input=x, size=1)))
        transpiler = fluid.DistributeTranspiler(config(geo_sgd_mode=True, geo_sgd_need_push_nums=9))
        transpiler.transpile(0, pservers="127.0.0.1:6170")
    assert main._carrier.cluster.mode == told(StrategyFactory.create_geo_strategy(9))


def test_a_strategy_begins_with_options_that_programs_set() -> None:
    strategy = StrategyFactory.create_geo_strategy(7)
    strategy.get_execute_strategy().num_threads = 2
    strategy.get_build_strategy().fuse_broadcast_op = True
    strategy.get_program_config().slice_var_up = False
    assert strategy.get_program_config().geo_sgd_need_push_nums == 7
    strategy.set_program_config({"geo_sgd_need_push_nums": 9})
    strategy.set_execute_strategy(fluid.ExecutionStrategy())
    assert (told(strategy).k_steps, strategy.get_execute_strategy().num_threads) == (9, 0)
    with pytest.raises(ValueError, match="doesn't have key: geo"):
        strategy.set_program_config({"geo": 9})
    with pytest.raises(TypeError, match="only accept input type: dict or BuildStrategy"):
        strategy.set_build_strategy(3)
    strategy.get_program_config().enable_dc_asgd = True
    with pytest.warns(UserWarning, match="enable_dc_asgd changes nothing here"):
        assert told(strategy).k_steps == 9


def test_what_a_strategy_says_in_vain_is_told_at_the_users_line() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", shape=[2]), 1))
        strategy = config(sync_mode=False, runtime_split_send_recv=True)
        optimizer = begun().distributed_optimizer(fluid.optimizer.SGD(0.1), strategy)
        with pytest.warns(UserWarning, match="runtime_split_send_recv changes nothing") as warned:
            optimizer.minimize(loss)
    assert {each.filename for each in warned} == {__file__}


def test_late_gradients_are_compensated_where_a_strategy_says_so() -> None:
    for make in (StrategyFactory.create_async_strategy, StrategyFactory.create_half_async_strategy):
        strategy = make()
        assert not told(strategy).compensates
        strategy.set_program_config({"enable_dc_asgd": True})
        assert told(strategy).compensates
    strategy = StrategyFactory.create_sync_strategy()
    strategy.set_program_config({"enable_dc_asgd": True})
    with pytest.raises(ValueError, match="in step none does"):
        told(strategy)


def test_gradients_of_several_steps_are_merged_where_somebody_said_so(monkeypatch) -> None:
    strategy = StrategyFactory.create_half_async_strategy()
    strategy.set_trainer_runtime_config({"max_merge_var_num": 4})
    assert (told(strategy).name, told(strategy).max_merge_var_num) == ("half_async", 4)
    strategy.set_trainer_runtime_config({"communicator_max_merge_var_num": 6})
    assert told(strategy).max_merge_var_num == 6
    config = TrainerRuntimeConfig()
    config.max_merge_var_num = 7
    strategy.set_trainer_runtime_config(config)
    assert told(strategy).max_merge_var_num == 7
    config.runtime_configs["communicator_max_merge_var_num"] = "8"
    assert told(strategy).max_merge_var_num == 8
    monkeypatch.setenv("FLAGS_communicator_max_merge_var_num", "3")
    assert told(StrategyFactory.create_async_strategy()).max_merge_var_num == 3
    fluid.set_flags({"FLAGS_communicator_max_merge_var_num": 5})
    try:
        assert told(StrategyFactory.create_async_strategy()).max_merge_var_num == 5
    finally:
        upstream_flags._set.clear()
    with pytest.raises(ValueError, match="TrainerRuntimeConfig has no 'merge'"):
        strategy.set_trainer_runtime_config({"merge": 4})


def test_pslib_takes_an_executor_in_the_place_of_a_role_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_PSERVERS_IP_PORT_LIST", raising=False)
    made = type(pslib)()
    made.init(fluid.Executor(fluid.CPUPlace()))
    assert made.is_worker() and made.worker_num() == 1
    with pytest.raises(FleetError, match="subclass of RoleMakerBase"):
        made.init("a worker")


def test_what_is_no_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="StrategyFactory"):
        told({"k_steps": 3})
    with pytest.raises(ValueError, match="update_frequency"):
        StrategyFactory.create_geo_strategy(0)


def test_its_programs_are_those_that_were_minimized() -> None:
    made, main, startup = begun(), fluid.Program(), fluid.Program()
    with pytest.raises(ValueError, match=r"fleet.main_program needs"):
        _ = made.main_program
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        loss = fluid.layers.mean(fluid.layers.data(name="x", shape=[2], dtype="float32"))
        x = fluid.layers.fc(input=fluid.layers.data(name="y", shape=[2], dtype="float32"), size=1)
        loss = fluid.layers.mean(x)
        optimizer = made.distributed_optimizer(fluid.optimizer.SGD(learning_rate=0.1))
        optimizer.minimize([loss], None, [startup])
    assert made.main_program is main
    assert made.startup_program is startup
    assert made.split_files(["a", "b", "c"]) == ["a", "b"]


def test_what_1_x_had_and_this_has_not_is_said_by_name() -> None:
    assert isinstance(whole, OlderFleet) and isinstance(pslib, OlderFleet)
    with pytest.raises(AttributeError, match="MPISymetricRoleMaker is not in this release"):
        _ = role_maker.MPISymetricRoleMaker
    for name in ("save_cache_model", "save_model", "clear_model", "load_pslib_whitelist", "confirm"):
        with pytest.raises(AttributeError, match=rf"pslib.fleet.{name} is not in this release: "):
            getattr(pslib, name)
    with pytest.raises(AttributeError, match=r"fleet\.save_check_point is not in this release: save_persist"):
        _ = whole.save_check_point
    with pytest.raises(AttributeError, match=r"fleet\.clear_model does not exist"):
        _ = whole.clear_model


def test_numbers_of_threads_have_the_names_of_both_releases(monkeypatch) -> None:
    monkeypatch.setenv("CPU_NUM", "3")
    strategy = StrategyFactory.create_async_strategy()
    config = strategy.get_trainer_runtime_config()
    assert config.runtime_configs["communicator_send_queue_size"] == "3"
    strategy.set_trainer_runtime_config({"send_queue_size": 20, "communicator_thread_pool_size": 2})
    flags = config.get_communicator_flags()
    assert (flags["communicator_send_queue_size"], flags["communicator_thread_pool_size"]) == ("20", "2")
    assert "communicator_send_queue_size: 20" in repr(config)
    geo = StrategyFactory.create_geo_strategy(5).get_trainer_runtime_config().get_communicator_flags()
    assert sorted(geo) == ["communicator_send_wait_times", "communicator_thread_pool_size"]


def test_nothing_is_dumped_and_who_asks_for_it_is_told() -> None:
    strategy = StrategyFactory.create_async_strategy()
    strategy.set_debug_opt({})
    assert strategy.get_debug_opt() == {}
    with pytest.raises(NotImplementedError, match="nothing is dumped"):
        strategy.set_debug_opt({"dump_slot": True})
