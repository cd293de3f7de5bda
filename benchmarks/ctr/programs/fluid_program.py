"""The job in the API of 1.x, as PaddlePaddle 1.8.5 has it: fleet over the transpiler."""

import clicks
import numpy as np
from orders import Orders

import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import (
    StrategyFactory,
)


def layer(x, values, act=None):
    """A layer with given first values."""
    attr = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values))
    return fluid.layers.fc(x, values.shape[1], act=act, param_attr=attr)


def network():
    """What is fed, and the cost."""
    ids = fluid.data("ids", [None, clicks.SLOTS], "int64")
    numbers = fluid.data("numbers", [None, clicks.NUMBERS], "float32")
    label = fluid.data("label", [None, 1], "float32")
    attr = fluid.ParamAttr(name="table", initializer=fluid.initializer.Uniform(-0.01, 0.01))
    rows = fluid.embedding(ids, size=[clicks.TABLE, clicks.WIDTH], is_sparse=True, param_attr=attr)
    x = fluid.layers.concat([fluid.layers.reshape(rows, [-1, clicks.SLOTS * clicks.WIDTH]), numbers], axis=1)
    *deep, last, wide = clicks.first_values()
    for values in deep:
        x = layer(x, values, "relu")
    score = layer(x, last) + layer(numbers, wide)
    cost = fluid.layers.mean(fluid.layers.sigmoid_cross_entropy_with_logits(score, label))
    return ("ids", "numbers", "label"), cost


def strategy():
    """Of the mode."""
    if clicks.MODE == "geo":
        return StrategyFactory.create_geo_strategy(clicks.GEO_STEPS)
    return {"sync": StrategyFactory.create_sync_strategy, "async": StrategyFactory.create_async_strategy}[
        clicks.MODE
    ]()


def work(orders, names, cost):
    """Be a worker until there are no more orders. In GEO it has to meet the servers before it starts."""
    exe = fluid.Executor(fluid.CPUPlace())
    begin = [lambda: exe.run(fleet.startup_program), fleet.init_worker]
    for each in reversed(begin) if clicks.MODE == "geo" else begin:
        each()
    feeds = [dict(zip(names, batch)) for batch in clicks.batches(fleet.worker_index())]

    def step(number):
        return float(
            np.mean(exe.run(fleet.main_program, feed=feeds[number % len(feeds)], fetch_list=[cost])[0])
        )

    def steps():
        return [step(number) for number in range(clicks.BLOCK)][-1]

    orders.tell(first=step(0), facts=clicks.facts(paddle=paddle.__version__))
    steps()
    orders.tell(ready=step(0))
    orders.obey(steps)
    fleet.stop_worker()


def main():
    """Be a server, or train as a worker."""
    fleet.init(role_maker.PaddleCloudRoleMaker())
    orders = Orders("server" if fleet.is_server() else "worker")
    names, cost = network()
    fleet.distributed_optimizer(fluid.optimizer.SGD(clicks.RATE), strategy()).minimize(cost)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
    else:
        work(orders, names, cost)


if __name__ == "__main__":
    main()
