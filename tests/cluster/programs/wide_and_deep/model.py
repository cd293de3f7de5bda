"""Wide and deep: what the document's `from model import net` leaves undefined."""

import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

SLOTS, SIZE, WIDTH = 26, 1000, 8


def normal(fan_in):
    return paddle.ParamAttr(initializer=nn.initializer.Normal(std=1.0 / math.sqrt(fan_in)))


class WideDeepLayer(nn.Layer):
    def __init__(self):
        super(WideDeepLayer, self).__init__()
        self.wide = nn.Linear(13, 1, weight_attr=normal(13))
        self.embedding = nn.Embedding(
            SIZE,
            WIDTH,
            sparse=True,
            weight_attr=paddle.ParamAttr(name="SparseFeatFactors", initializer=nn.initializer.Uniform()),
        )
        sizes = [SLOTS * WIDTH + 13, 64, 32]
        self.layers = []
        for i in range(2):
            linear, act = nn.Linear(sizes[i], sizes[i + 1], weight_attr=normal(sizes[i])), nn.ReLU()
            self.add_sublayer("linear_%d" % i, linear)
            self.add_sublayer("act_%d" % i, act)
            self.layers += [linear, act]
        self.last = nn.Linear(32, 1, weight_attr=normal(32))

    def forward(self, sparse, dense):
        rows = [paddle.reshape(self.embedding(ids), shape=[-1, WIDTH]) for ids in sparse]
        deep = paddle.concat(x=rows + [dense], axis=1)
        for layer in self.layers:
            deep = layer(deep)
        return F.sigmoid(paddle.add(x=self.wide(dense), y=self.last(deep)))


class model:
    loss = None


def net():
    paddle.seed(5)
    dense = paddle.static.data(name="dense_input", shape=[None, 13], dtype="float32")
    sparse = [paddle.static.data(name="C%d" % i, shape=[None, 1], dtype="int64") for i in range(1, SLOTS + 1)]
    label = paddle.static.data(name="label", shape=[None, 1], dtype="int64")
    predict = WideDeepLayer()(sparse, dense)
    cost = F.log_loss(input=predict, label=paddle.cast(label, dtype="float32"))
    model.loss = paddle.mean(x=cost)
    return [dense] + sparse + [label], predict, model.loss
