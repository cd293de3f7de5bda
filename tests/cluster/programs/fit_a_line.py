"""Fit a line as people wrote it for v2: housing prices, feeding, text-mode files, inference from a file."""

from __future__ import print_function

import os

import paddle.v2 as paddle
import paddle.v2.dataset.uci_housing as uci_housing

with_gpu = os.getenv("WITH_GPU", "0") != "0"
is_local = os.getenv("PADDLE_CLUSTER_TRAIN") is None
trainer_id = os.getenv("PADDLE_INIT_TRAINER_ID", "0")


def main():
    paddle.init(use_gpu=with_gpu, trainer_count=1)

    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(13))
    y_predict = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.square_error_cost(input=y_predict, label=y)
    parameters = paddle.parameters.create(cost)
    optimizer = paddle.optimizer.Momentum(momentum=0)
    trainer = paddle.trainer.SGD(
        cost=cost, parameters=parameters, update_equation=optimizer, is_local=is_local
    )
    feeding = {"x": 0, "y": 1}
    saved = "params-%s.tar" % trainer_id
    with open("model-%s.proto" % trainer_id, "w") as f:
        f.write(str(trainer.get_topology_proto()))

    def event_handler(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 100 == 0:
            print("Pass %d, Batch %d, Cost %f" % (event.pass_id, event.batch_id, event.cost))
        if isinstance(event, paddle.event.EndPass):
            with open(saved, "w") as f:
                parameters.to_tar(f)
            result = trainer.test(reader=paddle.batch(uci_housing.test(), batch_size=2), feeding=feeding)
            print("Test cost %f" % result.cost)

    trainer.train(
        reader=paddle.batch(paddle.reader.shuffle(uci_housing.train(), buf_size=500), batch_size=2),
        feeding=feeding,
        event_handler=event_handler,
        num_passes=8,
    )
    with open("inference-%s.pkl" % trainer_id, "wb") as f:
        paddle.topology.Topology(y_predict).serialize_for_inference(f)

    test_data = []
    test_label = []
    for item in paddle.dataset.uci_housing.test()():
        test_data.append((item[0],))
        test_label.append(item[1])
        if len(test_data) == 5:
            break
    with open(saved, "r") as f:
        loaded = paddle.parameters.Parameters.from_tar(f)
    probs = paddle.infer(output_layer=y_predict, parameters=loaded, input=test_data)
    with open("inference-%s.pkl" % trainer_id, "rb") as f:
        inferer = paddle.inference.Inference(parameters=parameters, fileobj=f)
    assert (inferer.infer(input=test_data) == probs).all()
    for i in range(len(probs)):
        print("label=" + str(test_label[i][0]) + ", predict=" + str(probs[i][0]))


if __name__ == "__main__":
    main()
