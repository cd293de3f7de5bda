"""A line, fitted by trainers that write checkpoints after every second step, to the folder of the first
argument. Prints each step, and the line when it ends; with a second argument hangs after step 3."""

import sys

import numpy as np

import paddle.fluid as fluid

EPOCHS, STEPS, ROWS, RATE = 2, 6, 4, 0.05


def batch_of(trainer: int, step: int) -> np.ndarray:
    """Of one trainer: features, and what they give."""
    x = np.random.default_rng(100 * trainer + step).normal(size=(ROWS, 3)).astype(np.float32)
    return np.column_stack([x, x @ [1.0, -2.0, 0.5]]).astype(np.float32)


def loss() -> fluid.Variable:
    x, y = fluid.layers.data("x", [3]), fluid.layers.data("y", [1])
    zero = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(0.0))
    guess = fluid.layers.fc(x, 1, param_attr=zero, bias_attr=False)
    return fluid.layers.mean(fluid.layers.square_error_cost(guess, y))


def main(folder: str, hangs: bool) -> None:
    trainer = fluid.Trainer(
        train_func=loss,
        optimizer_func=lambda: fluid.optimizer.SGD(RATE),
        checkpoint_config=fluid.CheckpointConfig(folder, step_interval=2),
    )

    def reader():
        for step in range(STEPS):
            yield [(row[:3], row[3:]) for row in batch_of(trainer.trainer_id, step)]

    def tell(event: object) -> None:
        if isinstance(event, fluid.EndStepEvent):
            print(f"step {event.epoch} {event.step}", flush=True)
            if hangs and event.step == 3:
                sys.stdin.read()

    trainer.train(EPOCHS, tell, reader, ["x", "y"])
    print("line", *np.array(trainer.scope.find_var("w").get_tensor()).ravel().tolist(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
