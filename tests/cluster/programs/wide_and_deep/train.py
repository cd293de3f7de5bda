"""The quick start of fleet, as it is printed; what its print leaves out stands between lines of dashes."""

import paddle
import os
import paddle.distributed.fleet as fleet
import paddle.distributed.fleet.base.role_maker as role_maker

# -----------------------------------------------------------------------------------------------------------
import numpy as np
from model import model
from reader import lines, parsed

MODE, RATE, BATCH, EPOCHS = (os.environ[name] for name in ("MODE", "RATE", "BATCH", "EPOCHS"))
# -----------------------------------------------------------------------------------------------------------

# 当前参数服务器模式只支持静态图模式， 因此训练前必须指定`paddle.enable_static()`
paddle.enable_static()
role = role_maker.PaddleCloudRoleMaker()
fleet.init(role)

# 模型定义参考examples/wide_and_deep中model.py
from model import net
from reader import data_reader

feeds, predict, avg_cost = net()

# -----------------------------------------------------------------------------------------------------------
test_program = paddle.static.default_main_program().clone(for_test=True)
reader = paddle.fluid.io.PyReader(feed_list=feeds, capacity=64, iterable=False)
# -----------------------------------------------------------------------------------------------------------

train_reader = paddle.batch(data_reader(), batch_size=int(BATCH))
reader.decorate_sample_list_generator(train_reader)

if MODE == "async":
    # 定义异步训练
    dist_strategy = fleet.DistributedStrategy()
    dist_strategy.a_sync = True
elif MODE == "sync":
    # 定义同步训练
    dist_strategy = fleet.DistributedStrategy()
    dist_strategy.a_sync = False
else:
    # 定义Geo异步训练, Geo异步目前只支持SGD优化算法
    dist_strategy = fleet.DistributedStrategy()
    dist_strategy.a_sync = True
    dist_strategy.a_sync_configs = {"k_steps": 10}

optimizer = paddle.optimizer.SGD(learning_rate=float(RATE))
optimizer = fleet.distributed_optimizer(optimizer, dist_strategy)
optimizer.minimize(model.loss)

if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())

    fleet.init_worker()

    for epoch_id in range(int(EPOCHS)):
        reader.start()
        try:
            while True:
                loss_val = exe.run(program=paddle.static.default_main_program(), fetch_list=[avg_cost.name])
                loss_val = np.mean(loss_val)
                print("TRAIN ---> pass: {} loss: {}\n".format(epoch_id, loss_val))
        except paddle.core.EOFException:
            reader.reset()

    # -------------------------------------------------------------------------------------------------------
    if fleet.is_first_worker():
        held = [parsed(line) for line in lines(1234, 1000)]
        feed = {each.name: np.array([row[i] for row in held]) for i, each in enumerate(feeds)}
        feed["dense_input"] = feed["dense_input"].astype("float32")
        (found,) = exe.run(test_program, feed=feed, fetch_list=[predict.name])
        label = feed["label"][:, 0]
        ranks = np.empty(len(label))
        ranks[np.argsort(found[:, 0])] = np.arange(1, len(label) + 1)
        positive = label.sum()
        auc = (ranks[label == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(label) - positive))
        print("AUC {:.4f}".format(auc))
        fleet.save_persistables(exe, "saved")
    # -------------------------------------------------------------------------------------------------------

    fleet.stop_worker()
