"""How well a job ranks clicks on lines that it has not trained on, and the values that it leaves."""

import numpy as np
from reader import lines, parsed

import paddle.distributed.fleet as fleet


def measure(exe, program, feeds, predict):
    if not fleet.is_first_worker():
        return
    held = [parsed(line) for line in lines(1234, 1000)]
    feed = {each.name: np.array([row[i] for row in held]) for i, each in enumerate(feeds)}
    feed["dense_input"] = feed["dense_input"].astype("float32")
    (found,) = exe.run(program, feed=feed, fetch_list=[predict.name])
    label = feed["label"][:, 0]
    ranks = np.empty(len(label))
    ranks[np.argsort(found[:, 0])] = np.arange(1, len(label) + 1)
    positive = label.sum()
    auc = (ranks[label == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(label) - positive))
    print("AUC {:.4f}".format(auc))
    fleet.save_persistables(exe, "saved")
