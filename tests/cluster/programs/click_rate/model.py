"""Click rates by a wide and a deep part, and five measures that are kept over batches."""

import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

NUMBERS, SLOTS, SIZE, WIDTH, HIDDEN = 13, 26, 1000, 8, [32, 16]


def spread(fan_in, kind=nn.initializer.Normal):
    return paddle.ParamAttr(initializer=kind(mean=0.0, std=1.0 / math.sqrt(fan_in)))


class WideDeep(nn.Layer):
    def __init__(self, rows_of):
        super(WideDeep, self).__init__()
        self.rows_of = rows_of
        self.line = nn.Linear(
            in_features=NUMBERS,
            out_features=1,
            weight_attr=spread(NUMBERS, nn.initializer.TruncatedNormal),
        )
        if rows_of is None:
            self.table = nn.Embedding(
                SIZE,
                WIDTH,
                sparse=True,
                weight_attr=paddle.ParamAttr(name="SparseFeatFactors", initializer=nn.initializer.Uniform()),
            )
        sizes = [SLOTS * WIDTH + NUMBERS] + HIDDEN + [1]
        self.deep = []
        for i in range(len(sizes) - 1):
            linear = nn.Linear(in_features=sizes[i], out_features=sizes[i + 1], weight_attr=spread(sizes[i]))
            self.add_sublayer("linear_%d" % i, linear)
            self.deep.append(linear)
            if i < len(HIDDEN):
                act = nn.ReLU()
                self.add_sublayer("act_%d" % i, act)
                self.deep.append(act)

    def forward(self, slots, numbers):
        rows = [(self.table if self.rows_of is None else self.rows_of)(slot) for slot in slots]
        vectors = [paddle.reshape(each, shape=[-1, WIDTH]) for each in rows]
        deep = paddle.concat(x=vectors + [numbers], axis=1)
        for layer in self.deep:
            deep = layer(deep)
        return F.sigmoid(paddle.add(x=self.line(numbers), y=deep))


def counter(name):
    return paddle.static.create_global_var(name=name, persistable=True, dtype="float32", shape=[1], value=0)


def batch_size(label):
    return paddle.sum(paddle.full(shape=[paddle.shape(label)[0], 1], fill_value=1.0))


class ClickRate:
    """``rows_of``: gives the rows of a slot's ids, a layer's table if None."""

    def __init__(self, rows_of=None):
        self.rows_of = rows_of
        self.measures = {}

    def net(self):
        numbers = paddle.static.data(name="dense_input", shape=[None, NUMBERS], dtype="float32")
        slots = [
            paddle.static.data(name="C" + str(i), shape=[None, 1], lod_level=1, dtype="int64")
            for i in range(1, SLOTS + 1)
        ]
        label = paddle.static.data(name="label", shape=[None, 1], dtype="int64")
        self.inputs = [numbers] + slots + [label]
        self.loader = paddle.io.DataLoader.from_generator(feed_list=self.inputs, capacity=64, iterable=False)
        chance = WideDeep(self.rows_of).forward(slots, numbers)
        both = paddle.concat(x=[1 - chance, chance], axis=1)
        told = paddle.cast(label, dtype="float32")
        with paddle.utils.unique_name.guard():
            self.measure_accuracy(both, label)
            self.measure_area(both, label)
            self.measure_errors(chance, told)
        self.cost = paddle.mean(x=F.log_loss(input=chance, label=told))

    def measure_accuracy(self, both, label):
        correct, total = counter("right_cnt"), counter("total_cnt")
        count = batch_size(label)
        right = count * paddle.static.accuracy(input=both, label=label)
        paddle.assign(correct + right, correct)
        paddle.assign(total + count, total)
        self.measures["acc"] = (
            correct / total,
            {"correct": (correct, "float32"), "total": (total, "float32")},
        )

    def measure_area(self, both, label):
        area, _, [_, _, positive, negative] = paddle.static.auc(
            input=both, label=label, num_thresholds=2**12, slide_steps=20
        )
        state = {"stat_pos": (positive, "int64"), "stat_neg": (negative, "int64")}
        self.measures["auc"] = (area, state)

    def measure_errors(self, chance, told):
        """All count samples by one variable, `total_cnt`, so it grows three times for each."""
        for name, kept, loss in (("mae", "abserr", F.l1_loss), ("mse", "sqrerr", F.mse_loss)):
            error, total = counter(kept), counter("total_cnt")
            count = batch_size(told)
            paddle.assign(error + loss(chance, told, reduction="sum"), error)
            paddle.assign(total + count, total)
            state = {kept: (error, "float32"), "total": (total, "float32")}
            self.measures[name] = (error / total, state)
        self.measures["rmse"] = (paddle.sqrt(self.measures["mse"][0]), self.measures["mse"][1])
