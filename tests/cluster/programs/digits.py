"""Handwritten digits as people wrote them for v2: softmax regression beside a multilayer perceptron."""

from __future__ import print_function

import os

import numpy as np

import paddle.v2 as paddle

is_local = os.getenv("PADDLE_CLUSTER_TRAIN") is None
trainer_id = os.getenv("PADDLE_INIT_TRAINER_ID", "0")


def softmax_regression(img):
    return paddle.layer.fc(input=img, size=10, act=paddle.activation.Softmax())


def multilayer_perceptron(img):
    hidden1 = paddle.layer.fc(input=img, size=32, act=paddle.activation.Relu())
    hidden2 = paddle.layer.fc(input=hidden1, size=16, act=paddle.activation.Relu())
    return paddle.layer.fc(input=hidden2, size=10, act=paddle.activation.Softmax())


def main():
    paddle.init(use_gpu=False, trainer_count=1)
    images = paddle.layer.data(name="pixel", type=paddle.data_type.dense_vector(784), height=28, width=28)
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(10))
    predict = multilayer_perceptron(images)
    simple = softmax_regression(images)
    costs = [
        paddle.layer.classification_cost(input=predict, label=label),
        paddle.layer.classification_cost(input=simple, label=label, name="simple cost"),
    ]
    parameters = paddle.parameters.create(costs)
    optimizer = paddle.optimizer.Momentum(
        learning_rate=0.1 / 64.0,
        momentum=0.9,
        regularization=paddle.optimizer.L2Regularization(rate=0.0005 * 64),
        learning_rate_decay_a=0.9,
        learning_rate_decay_b=1000,
        learning_rate_schedule="discexp",
        gradient_clipping_threshold=25,
    )
    trainer = paddle.trainer.SGD(
        cost=costs,
        parameters=parameters,
        update_equation=optimizer,
        extra_layers=paddle.layer.max_id(input=predict),
        is_local=is_local,
    )
    lists = []

    def event_handler(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 5 == 0:
            print(
                "Pass %d, Batch %d, Cost %f, %s" % (event.pass_id, event.batch_id, event.cost, event.metrics)
            )
        if isinstance(event, paddle.event.EndPass):
            with open("params_pass_%d-%s.tar" % (event.pass_id, trainer_id), "w") as f:
                trainer.save_parameter_to_tar(f)
            result = trainer.test(reader=paddle.batch(paddle.dataset.mnist.test(), batch_size=128))
            print("Test cost %f, %s" % (result.cost, result.metrics))
            lists.append((event.pass_id, result.cost, result.metrics["classification_error_evaluator"]))
            assert "classification_error_evaluator_1" in result.metrics

    trainer.train(
        reader=paddle.batch(
            paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=8192), batch_size=32
        ),
        event_handler=event_handler,
        num_passes=4,
    )
    best = sorted(lists, key=lambda each: float(each[1]))[0]
    print("Best pass is %s, testing Avgcost is %s" % (best[0], best[1]))
    print("The classification accuracy is %.2f%%" % (100 - float(best[2]) * 100))

    test_data = [(pixels,) for pixels, _ in paddle.reader.firstn(paddle.dataset.mnist.test(), 3)()]
    probs = paddle.infer(output_layer=predict, parameters=parameters, input=test_data)
    lab = np.argsort(-probs)
    prob, ids = paddle.infer(
        output_layer=paddle.layer.max_id(input=predict),
        parameters=parameters,
        input=test_data,
        field=["prob", "id"],
    )
    assert (lab[:, 0] == ids).all() and (prob[:, 0] == probs.max(axis=1)).all()
    print("Label of the first image is: %d" % lab[0][0])


if __name__ == "__main__":
    main()
