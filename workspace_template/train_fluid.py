"""Wide and deep, on the fluid API: predicts clicks from numbers and words, on a cluster or on one machine.

On the nodes of conf.py, from the project, with --job_program=train_fluid.py behind
    python paddle.py --job_dispatch_package=workspace_template
By hand: PADDLE_TRAINING_ROLE, PADDLE_PSERVER_IPS, PADDLE_TRAINERS... say what a process is; without them one
process trains alone: python train_fluid.py
"""

import argparse
import os

import clicks
import numpy as np

import paddle
import paddle.fluid as fluid

WIDTH, HIDDEN = 8, 64
FEED_ORDER = ["numbers", *(f"slot_{i}" for i in range(clicks.SLOTS)), "label"]


def inference_program():
    """The chance of a click: a line through the numbers, and a network over them and the vectors of words,
    added up."""
    numbers = fluid.layers.data(name="numbers", shape=[clicks.NUMBERS], dtype="float32")
    slots = [fluid.layers.data(name=name, shape=[1], dtype="int64") for name in FEED_ORDER[1:-1]]
    vectors = [
        fluid.layers.embedding(
            input=slot,
            size=[clicks.TABLE_SIZE, WIDTH],
            is_sparse=True,
            param_attr=fluid.ParamAttr(name="words"),
        )
        for slot in slots
    ]
    deep = fluid.layers.concat(input=[*vectors, numbers], axis=1)
    for _ in range(2):
        deep = fluid.layers.fc(input=deep, size=HIDDEN, act="relu")
    deep, wide = fluid.layers.fc(input=deep, size=1), fluid.layers.fc(input=numbers, size=1)
    return fluid.layers.sigmoid(fluid.layers.elementwise_add(wide, deep))


def train_program():
    """Its cost."""
    predicted = inference_program()
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    cost = fluid.layers.log_loss(input=predicted, label=fluid.layers.cast(label, "float32"))
    return [fluid.layers.mean(cost)]


def area_under_curve(folder):
    """How well samples are ranked that nobody has trained on, by the parameters in ``folder``."""
    held = [clicks.sample(line) for line in clicks.lines(1_000_003, 2000)]
    columns = dict(zip(FEED_ORDER, (np.array(column) for column in zip(*held, strict=True)), strict=True))
    label = columns.pop("label")[:, 0]
    columns["numbers"] = columns["numbers"].astype("float32")
    inferencer = fluid.Inferencer(infer_func=inference_program, param_path=folder, place=fluid.CPUPlace())
    (found,) = inferencer.infer(columns)
    return clicks.area_under_curve(found[:, 0], label)


def main():
    """Be a server, or train."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_passes", type=int, default=3)
    parser.add_argument("--samples", type=int, default=8000, help="of each trainer")
    parser.add_argument("--batch_size", type=int, default=32)
    arguments = parser.parse_args()
    number, costs = int(os.getenv("PADDLE_TRAINER_ID", "0")), []

    def event_handler(event):
        if isinstance(event, fluid.EndStepEvent):
            costs.append(float(np.mean(event.metrics[0])))
        elif isinstance(event, fluid.EndEpochEvent):
            print(f"pass {event.epoch}: cost at its end {np.mean(costs[-10:]):.4f}", flush=True)

    trainer = fluid.Trainer(
        train_func=train_program,
        optimizer_func=lambda: fluid.optimizer.SGD(learning_rate=0.1),
        place=fluid.CPUPlace(),
    )
    trainer.train(
        num_epochs=arguments.num_passes,
        event_handler=event_handler,
        reader=paddle.batch(clicks.reader(number, arguments.samples), arguments.batch_size),
        feed_order=FEED_ORDER,
    )
    if number == 0:
        trainer.save_params("output")
        print(f"area under the curve: {area_under_curve('output'):.4f} (0.5 by chance)", flush=True)


if __name__ == "__main__":
    main()
