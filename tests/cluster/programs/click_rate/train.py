"""Trains on files of its own, tests on others through the servers' values, and measures over all workers."""

import os
import sys

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
from model import ClickRate
from paddle.distributed.fleet.utils.ps_util import DistributedInfer
from reader import Files

paddle.enable_static()
BATCH = 20
FILES = [os.path.join("data", name) for name in sorted(os.listdir("data"))]


def train(exe, model, passes=3):
    samples = Files(fleet.util.get_file_shard(FILES[:2]))
    loader = model.loader.set_sample_generator(
        samples, batch_size=BATCH, drop_last=True, places=paddle.CPUPlace()
    )
    for number in range(passes):
        loader.start()
        try:
            while True:
                cost = exe.run(program=paddle.static.default_main_program(), fetch_list=[model.cost.name])
                print("TRAIN ---> pass: {} loss: {}".format(number, np.mean(cost)))
        except paddle.common_ops_import.core.EOFException:
            loader.reset()


def clear(model, place):
    for _, state in model.measures.values():
        for variable, dtype in state.values():
            found = paddle.static.global_scope().find_var(variable.name)
            if found is None:
                continue
            tensor = found.get_tensor()
            tensor.set(np.zeros(tensor._get_dims()).astype(dtype), place)


def held_program(model):
    """What computes the measures of a model written anew, with the parameters of the one that was trained."""
    origin, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main_program=origin, startup_program=startup):
        with paddle.utils.unique_name.guard():
            model.net()
    return DistributedInfer(main_program=origin, startup_program=startup)


def test(exe, model, infer):
    samples = Files(fleet.util.get_file_shard(FILES[2:]))
    loader = model.loader.set_sample_generator(
        samples, batch_size=BATCH, drop_last=True, places=paddle.CPUPlace()
    )
    names = sorted(model.measures)
    wanted = [model.cost.name] + [model.measures[name][0].name for name in names]
    with paddle.static.program_guard(main_program=infer.get_dist_infer_program()):
        loader.start()
        costs = []
        try:
            while True:
                found = exe.run(program=paddle.static.default_main_program(), fetch_list=wanted)
                costs.append(np.mean(found[0]))
        except paddle.common_ops_import.core.EOFException:
            loader.reset()
    own = ["{}: {:.6f}".format(name, np.mean(value)) for name, value in zip(names, found[1:])]
    print("TEST ---> loss: {:.6f} {}".format(np.mean(costs), " ".join(own)))
    return np.mean(costs)


def measure_all(model, cost):
    """Over all workers."""

    def state(name, *kept):
        return [model.measures[name][1][each][0] for each in kept]

    found = {
        "loss": np.mean(fleet.metrics.sum(np.array([cost]))) / fleet.worker_num(),
        "acc": fleet.metrics.acc(*state("acc", "correct", "total")),
        "auc": fleet.metrics.auc(*state("auc", "stat_pos", "stat_neg")),
        "mae": fleet.metrics.mae(*state("mae", "abserr", "total")),
        "mse": fleet.metrics.mse(*state("mse", "sqrerr", "total")),
        "rmse": fleet.metrics.rmse(*state("rmse", "sqrerr", "total")),
    }
    print("Global ---> " + " ".join("{}: {:.6f}".format(name, value) for name, value in found.items()))


def main():
    fleet.init(is_collective=False)
    model = ClickRate()
    model.net()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(learning_rate=0.1), strategy)
    optimizer.minimize(model.cost)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
    if fleet.is_worker():
        place = paddle.CPUPlace()
        exe = paddle.static.Executor(place)
        exe.run(paddle.static.default_startup_program())
        fleet.init_worker()
        train(exe, model)
        fleet.barrier_worker()
        clear(model, place)
        measure_all(model, test(exe, model, held_program(model)))
        if fleet.is_first_worker():
            fleet.save_persistables(exe, "saved", main_program=paddle.static.default_main_program())
        fleet.stop_worker()


def infer():
    """Another job: what was saved, tested by servers that load it."""
    model = ClickRate()
    model.net()
    exe = paddle.static.Executor(paddle.CPUPlace())
    distributed = DistributedInfer()
    distributed.init_distributed_infer_env(exe, model.cost, dirname="saved")
    if fleet.is_worker():
        clear(model, paddle.CPUPlace())
        measure_all(model, test(exe, model, distributed))
        fleet.stop_worker()


if __name__ == "__main__":
    infer() if "infer" in sys.argv else main()
