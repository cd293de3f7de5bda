"""The job in the API of 2.x, word for word for PaddlePaddle 2.6 and for this project.

CTR_FEEDS: ``arrays``, batches for ``Executor.run``, costs fetched; or ``dataset``, ``train_from_dataset``.
"""

import os

import clicks
import numpy as np
from orders import Orders

import paddle
import paddle.distributed.fleet as fleet
from paddle import ParamAttr, static
from paddle.nn import initializer

IS_DATASET = os.environ["CTR_FEEDS"] == "dataset"


def table(ids):
    """Rows of the one table of all slots."""
    attr = ParamAttr(name="table", initializer=initializer.Uniform(-0.01, 0.01))
    size = [clicks.TABLE, clicks.WIDTH]
    if clicks.MODE == "geo":
        return static.nn.embedding(ids, size=size, is_sparse=True, param_attr=attr)
    return static.nn.sparse_embedding(ids, size=size, param_attr=attr)


def layer(name, x, values, activation=None):
    """A layer with given first values."""
    attr = ParamAttr(name=f"{name}_w", initializer=initializer.Assign(values))
    bias = ParamAttr(name=f"{name}_b")
    return static.nn.fc(x, values.shape[1], activation=activation, weight_attr=attr, bias_attr=bias)


def network():
    """What is fed, and the cost."""
    numbers = static.data("numbers", [None, clicks.NUMBERS], "float32")
    label = static.data("label", [None, 1], "float32")
    if IS_DATASET:
        ids = [static.data(f"slot_{i}", [None, 1], "int64") for i in range(clicks.SLOTS)]
        rows = [paddle.reshape(table(one), [-1, clicks.WIDTH]) for one in ids]
    else:
        ids = [static.data("ids", [None, clicks.SLOTS], "int64")]
        rows = [paddle.reshape(table(ids[0]), [-1, clicks.SLOTS * clicks.WIDTH])]
    x = paddle.concat([*rows, numbers], axis=1)
    *deep, last, wide = clicks.first_values()
    for number, values in enumerate(deep):
        x = layer(number, x, values, "relu")
    score = layer("last", x, last) + layer("wide", numbers, wide)
    costs = paddle.nn.functional.binary_cross_entropy_with_logits(score, label, reduction="none")
    return [*ids, numbers, label], paddle.mean(costs)


def feeds_of(variables, batch):
    """A batch as ``Executor.run`` takes it."""
    ids, numbers, labels = batch
    slots = np.split(ids, clicks.SLOTS, 1) if IS_DATASET else [ids]
    arrays = map(np.ascontiguousarray, [*slots, numbers, labels])
    return {variable.name: array for variable, array in zip(variables, arrays)}


def of_arrays(exe, variables, cost, rank):
    """What does a number of steps, and what gives the cost of one more."""
    program = static.default_main_program()
    feeds = [feeds_of(variables, batch) for batch in clicks.batches(rank)]

    def steps(count):
        for number in range(count):
            (found,) = exe.run(program, feed=feeds[number % len(feeds)], fetch_list=[cost])
        return float(np.mean(found))

    return steps, lambda: steps(1)


def of_datasets(exe, variables, rank):
    """The same, from memory. The original takes no arrays after that, so the cost is that of the layers."""
    program, scope = static.default_main_program(), static.global_scope()
    datasets = {count: loaded(variables, rank, count) for count in (1, clicks.BLOCK)}

    def steps(count):
        exe.train_from_dataset(program, datasets[count], thread=1, debug=False)

    def values(name):
        return np.array(scope.find_var(name).get_tensor())

    def cost():
        layers = [*range(len(clicks.LAYERS)), "last", "wide"]
        return clicks.cost_of([(values(f"{name}_w"), values(f"{name}_b")) for name in layers])

    return steps, cost


def loaded(variables, rank, count):
    """A dataset of so many batches, in memory."""
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=clicks.BATCH, thread_num=1, pipe_command="cat", input_type=0, use_var=variables)
    path = os.path.join(os.path.dirname(os.environ["CTR_ORDERS"]), f"part-{rank}-{count}")
    clicks.write(path, rank, count)
    dataset.set_filelist([path])
    dataset.load_into_memory()
    return dataset


def work(orders, variables, cost):
    """Be a worker until there are no more orders."""
    exe = static.Executor(paddle.CPUPlace())
    exe.run(static.default_startup_program())
    fleet.init_worker()
    rank = fleet.worker_index()
    steps, found = of_datasets(exe, variables, rank) if IS_DATASET else of_arrays(exe, variables, cost, rank)
    cost_of_first = steps(1)
    orders.tell(first=found() if IS_DATASET else cost_of_first, facts=clicks.facts(paddle=paddle.__version__))
    steps(clicks.BLOCK)
    orders.tell(ready=found())
    orders.obey(lambda: steps(clicks.BLOCK))
    fleet.stop_worker()


def main():
    """Be a server, or train as a worker."""
    paddle.enable_static()
    fleet.init(is_collective=False)
    orders = Orders("server" if fleet.is_server() else "worker")
    variables, cost = network()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = clicks.MODE != "sync"
    if clicks.MODE == "geo":
        strategy.a_sync_configs = {"k_steps": clicks.GEO_STEPS}
    fleet.distributed_optimizer(paddle.optimizer.SGD(clicks.RATE), strategy).minimize(cost)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
    else:
        work(orders, variables, cost)


if __name__ == "__main__":
    main()
