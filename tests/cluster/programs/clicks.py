"""Click-through as people wrote it for v2: a wide part of sparse slots beside a deep one with a table."""

from __future__ import print_function

import os

import numpy as np

import paddle.v2 as paddle
from paddle.v2 import data_type as dtype
from paddle.v2 import layer

dnn_layer_dims = [16, 8, 4]
is_local = os.getenv("PADDLE_CLUSTER_TRAIN") is None
trainer_id = int(os.getenv("PADDLE_INIT_TRAINER_ID", "0"))
field_index = {"dnn_input": 0, "lr_input": 1, "user": 2, "click": 3}


class Clicks(object):
    """Whoever has an even id and sees a low column clicks."""

    def __init__(self, seed, count):
        self.seed, self.count = seed, count

    def read(self):
        random = np.random.RandomState(self.seed)
        for _ in range(self.count):
            columns = random.randint(0, 200, 4)
            user = int(random.randint(0, 40))
            weights = [(int(column), 0.5) for column in columns]
            yield columns.tolist(), weights, user, [float(user % 2 == 0 and columns.min() < 100)]


def build_dnn_submodel(dnn_merged_input, user):
    _input_layer = layer.concat(
        input=[
            layer.fc(input=dnn_merged_input, size=dnn_layer_dims[0]),
            layer.embedding(
                input=user, size=8, param_attr=paddle.attr.ParamAttr(name="users", sparse_update=True)
            ),
        ]
    )
    for i, dim in enumerate(dnn_layer_dims[1:]):
        _input_layer = layer.fc(
            input=_input_layer, size=dim, act=paddle.activation.Relu(), name="dnn-fc-%d" % i
        )
    return _input_layer


paddle.init(use_gpu=False, trainer_count=1)
dnn_merged_input = layer.data(name="dnn_input", type=dtype.sparse_binary_vector(200))
lr_merged_input = layer.data(name="lr_input", type=dtype.sparse_float_vector(200))
user = layer.data(name="user", type=dtype.integer_value(40))
click = layer.data(name="click", type=dtype.dense_vector(1))
dnn = build_dnn_submodel(dnn_merged_input, user)
lr = layer.fc(input=lr_merged_input, size=1, name="lr", act=paddle.activation.Relu())
output = layer.fc(input=layer.concat(input=[dnn, lr]), size=1, name="output", act=paddle.activation.Sigmoid())
cost = layer.multi_binary_label_cross_entropy_cost(input=output, label=click)
paddle.evaluator.sum(input=output, name="clicks expected")

params = paddle.parameters.create(cost)
optimizer = paddle.optimizer.Adam(learning_rate=2e-3) if is_local else paddle.optimizer.Momentum(0.9)
trainer = paddle.trainer.SGD(cost=cost, parameters=params, update_equation=optimizer, is_local=is_local)
dataset = Clicks(trainer_id, 600)


def event_handler(event):
    if isinstance(event, paddle.event.EndPass):
        result = trainer.test(paddle.batch(Clicks(99, 200).read, batch_size=100), feeding=field_index)
        print("Test cost %f, %s" % (result.cost, result.metrics))


trainer.train(
    reader=paddle.batch(paddle.reader.buffered(dataset.read, 100), batch_size=20),
    feeding=field_index,
    event_handler=event_handler,
    num_passes=8,
)
with open("clicks-%d.tar" % trainer_id, "wb") as f:
    trainer.save_parameter_to_tar(f)
