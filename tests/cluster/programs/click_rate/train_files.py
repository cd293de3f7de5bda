"""Trains from files that threads read and compute by themselves, on tables whose rows come with their ids."""

import os

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
from model import WIDTH, ClickRate

paddle.enable_static()


def rows_of(ids):
    return paddle.static.nn.sparse_embedding(
        input=ids,
        size=[64, WIDTH],  # ids are beyond it: a row is made when its id is first seen
        param_attr=paddle.ParamAttr(
            name="SparseFeatFactors", initializer=paddle.nn.initializer.Uniform(-0.5, 0.5)
        ),
    )


fleet.init(is_collective=False)
model = ClickRate(rows_of)
model.net()
strategy = fleet.DistributedStrategy()
strategy.a_sync = True
optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(learning_rate=0.1), strategy)
optimizer.minimize(model.cost)

if fleet.is_server():
    fleet.init_server()
    fleet.run_server()

if fleet.is_worker():
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    dataset = paddle.distributed.QueueDataset()
    dataset.init(use_var=model.inputs, pipe_command="python reader.py", batch_size=20, thread_num=2)
    files = [os.path.join("data", name) for name in sorted(os.listdir("data"))]
    for number in range(3):
        dataset.set_filelist(fleet.util.get_file_shard(files))
        state = [
            paddle.static.global_scope().find_var(each.name).get_tensor()
            for each in (model.measures["auc"][1]["stat_pos"][0], model.measures["auc"][1]["stat_neg"][0])
        ]
        for counts in state:
            counts.set(np.zeros(counts._get_dims()).astype("int64"), paddle.CPUPlace())
        exe.train_from_dataset(
            paddle.static.default_main_program(),
            dataset,
            paddle.static.global_scope(),
            debug=True,
            fetch_list=[model.cost],
            fetch_info=["loss"],
            print_period=10,
        )
        positive, negative = [np.array(each) for each in state]
        print(
            "pass {}: {} samples, area {:.4f}".format(
                number, int(positive.sum() + negative.sum()), fleet.metrics.auc(positive, negative)
            )
        )
    fleet.stop_worker()
