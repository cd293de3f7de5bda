"""word2vec: learns word vectors by predicting a word from the four before it, on a cluster or on one machine.

The launcher runs this file on every node with PADDLE_CLUSTER_TRAIN and PADDLE_INIT_* set. Run by hand without
them it trains on this machine alone, on all of the data: python train.py
"""

import argparse
import os
import pickle
import random
from pathlib import Path

import my_lib

import paddle.v2 as paddle

N = 5  # words in a gram: four of context, one to predict
EMBEDDING_SIZE = 32
HIDDEN_SIZE = 256
BATCH_SIZE = 32

cluster_train = os.getenv("PADDLE_CLUSTER_TRAIN", "False").lower() in ("true", "1", "yes")
node_id = int(os.getenv("OMPI_COMM_WORLD_RANK", "0")) if cluster_train else 0
nodes = int(os.getenv("PADDLE_INIT_NUM_GRADIENT_SERVERS", "1")) if cluster_train else 1


def word_vector(word):
    """The vector of one word; all four words share one table, of which a batch touches only some rows."""
    return paddle.layer.embedding(
        input=word,
        size=EMBEDDING_SIZE,
        param_attr=paddle.attr.Param(
            name="_proj", initial_std=0.1, learning_rate=1, l2_rate=0, sparse_update=True
        ),
    )


def network(dict_size):
    """The cost of predicting the fifth word of a gram."""
    names = ["firstw", "secondw", "thirdw", "fourthw", "fifthw"]
    words = [paddle.layer.data(name=name, type=paddle.data_type.integer_value(dict_size)) for name in names]
    context = paddle.layer.concat(input=[word_vector(word) for word in words[:-1]])
    hidden = paddle.layer.fc(
        input=context,
        size=HIDDEN_SIZE,
        act=paddle.activation.Sigmoid(),
        layer_attr=paddle.attr.Extra(drop_rate=0.2),
        bias_attr=paddle.attr.Param(learning_rate=2),
        param_attr=paddle.attr.Param(initial_std=1.0 / (EMBEDDING_SIZE * 8) ** 0.5, learning_rate=1),
    )
    predicted = paddle.layer.fc(
        input=hidden,
        size=dict_size,
        bias_attr=paddle.attr.Param(learning_rate=2),
        act=paddle.activation.Softmax(),
    )
    return paddle.layer.classification_cost(input=predicted, label=words[-1])


def main():
    """Train, test after every pass, keep the model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_passes", type=int, default=8)
    parser.add_argument("--save_dir", default="./output")
    options, _ = parser.parse_known_args()

    train_data = my_lib.gram_reader(my_lib.shards("train_data_dir", node_id, nodes))
    test_data = my_lib.gram_reader(my_lib.shards("test_data_dir", node_id, nodes))

    paddle.init(use_gpu=False)
    dict_size = len(pickle.loads(Path("word_dict.pickle").read_bytes()))
    cost = network(dict_size)
    parameters = paddle.parameters.create(cost)
    adagrad = paddle.optimizer.AdaGrad(
        learning_rate=5e-2, regularization=paddle.optimizer.L2Regularization(8e-4)
    )
    trainer = paddle.trainer.SGD(cost, parameters, adagrad, is_local=not cluster_train)

    def event_handler(event):
        if isinstance(
            event, paddle.event.BeginPass
        ):  # a pass's order is the same in whichever process it begins
            random.seed(event.pass_id * nodes + node_id)
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 100 == 0:
            print(f"Pass {event.pass_id}, Batch {event.batch_id}, Cost {event.cost:f}, {event.metrics}")
        if isinstance(event, paddle.event.EndPass):
            result = trainer.test(paddle.batch(test_data, BATCH_SIZE))
            print(f"Pass {event.pass_id}, Test cost {result.cost:f}, {result.metrics}")
            if node_id == 0:
                my_lib.save_pass(trainer, options.save_dir, event.pass_id)

    trainer.train(
        paddle.batch(paddle.reader.shuffle(train_data, buf_size=10000), BATCH_SIZE),
        num_passes=options.num_passes,
        event_handler=event_handler,
    )
    print(f"parameters {my_lib.fingerprint(parameters)}")


if __name__ == "__main__":
    main()
