"""word2vec as people wrote it for v2: imikolov's 5-grams, a sparse table, AdaGrad; local or on a cluster."""

from __future__ import print_function

import gzip
import math
import os

import paddle.v2 as paddle

embsize = 8
hiddensize = 32
N = 5
TRUTH = ["true", "True", "TRUE", "1", "yes", "Yes", "YES"]
cluster_train = os.getenv("PADDLE_CLUSTER_TRAIN", "False") in TRUTH
trainer_id = int(os.getenv("PADDLE_INIT_TRAINER_ID", "0"))
trainers = int(os.getenv("PADDLE_INIT_NUM_GRADIENT_SERVERS", "1"))


def wordemb(inlayer):
    return paddle.layer.embedding(
        input=inlayer,
        size=embsize,
        param_attr=paddle.attr.Param(
            name="_proj", initial_std=0.1, learning_rate=1, l2_rate=0, sparse_update=True
        ),
    )


def part_of(reader):
    def part():
        for number, sample in enumerate(reader()):
            if number % trainers == trainer_id:
                yield sample

    return part


def main():
    use_gpu = os.getenv("PADDLE_INIT_USE_GPU", "False")  # a text, as the original hands it on
    trainer_count = int(os.getenv("PADDLE_INIT_TRAINER_COUNT", "1"))
    if not cluster_train:
        paddle.init(use_gpu=use_gpu, trainer_count=trainer_count)
    else:
        paddle.init(
            use_gpu=use_gpu,
            trainer_count=trainer_count,
            port=int(os.getenv("PADDLE_INIT_PORT", "7164")),
            ports_num=int(os.getenv("PADDLE_INIT_PORTS_NUM", "1")),
            ports_num_for_sparse=int(os.getenv("PADDLE_INIT_PORTS_NUM_FOR_SPARSE", "1")),
            num_gradient_servers=trainers,
            trainer_id=trainer_id,
            pservers=os.getenv("PADDLE_INIT_PSERVERS", "127.0.0.1"),
        )
    word_dict = paddle.dataset.imikolov.build_dict(min_word_freq=20)
    dict_size = len(word_dict)
    words = [
        paddle.layer.data(name=name, type=paddle.data_type.integer_value(dict_size))
        for name in ("firstw", "secondw", "thirdw", "fourthw", "fifthw")
    ]
    contextemb = paddle.layer.concat(input=[wordemb(word) for word in words[:4]])
    hidden1 = paddle.layer.fc(
        input=contextemb,
        size=hiddensize,
        act=paddle.activation.Sigmoid(),
        layer_attr=paddle.attr.Extra(drop_rate=0.2),
        bias_attr=paddle.attr.Param(learning_rate=2),
        param_attr=paddle.attr.Param(initial_std=1.0 / math.sqrt(embsize * 8), learning_rate=1),
    )
    predictword = paddle.layer.fc(
        input=hidden1,
        size=dict_size,
        bias_attr=paddle.attr.Param(learning_rate=2),
        act=paddle.activation.Softmax(),
    )
    cost = paddle.layer.classification_cost(input=predictword, label=words[4])
    parameters = paddle.parameters.create(cost)
    adagrad = paddle.optimizer.AdaGrad(
        learning_rate=3e-2, regularization=paddle.optimizer.L2Regularization(8e-4)
    )
    trainer = paddle.trainer.SGD(cost, parameters, adagrad, is_local=not cluster_train)
    model = "batch-%d.tar.gz" % trainer_id

    def event_handler(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 100 == 0:
            with gzip.open(model, "w") as f:
                trainer.save_parameter_to_tar(f)
            result = trainer.test(paddle.batch(paddle.dataset.imikolov.test(word_dict, N), 32))
            print(
                "Pass %d, Batch %d, Cost %f, %s, Testing metrics %s"
                % (event.pass_id, event.batch_id, event.cost, event.metrics, result.metrics)
            )
            print("Test cost %f" % result.cost)

    trainer.train(
        paddle.batch(part_of(paddle.dataset.imikolov.train(word_dict, N)), 32),
        num_passes=6,
        event_handler=event_handler,
    )

    with gzip.open(model, "w") as f:
        trainer.save_parameter_to_tar(f)
    with gzip.open(model, "r") as f:
        loaded = paddle.parameters.Parameters.from_tar(f)
    for name in parameters.names():
        assert (loaded.get(name) == parameters.get(name)).all(), name
    gram = tuple(word_dict.get(word, word_dict["<unk>"]) for word in ("one", "two", "three", "four"))
    probabilities = paddle.infer(output_layer=predictword, parameters=loaded, input=[gram])
    words_by_id = dict((number, word) for word, number in word_dict.items())
    print("next word:", words_by_id[probabilities[0].argmax()])


if __name__ == "__main__":
    main()
