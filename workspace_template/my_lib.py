"""What train.py uses beside Paddle: finding this node's data, reading it, keeping a pass's model."""

import hashlib
import os


def shards(directory, node_id, nodes):
    """The files of ``directory`` that are node ``node_id``'s own, by the number behind the last dash modulo ``nodes``."""
    names = sorted(name for name in os.listdir(directory) if name.rpartition("-")[2].isdigit())
    return [os.path.join(directory, name) for name in names if int(name.rpartition("-")[2]) % nodes == node_id]


def gram_reader(paths):
    """A reader over files of one n-gram a line, word ids separated by commas."""

    def reader():
        for path in paths:
            with open(path) as lines:
                for line in lines:
                    yield tuple(map(int, line.split(",")))

    return reader


def save_pass(trainer, directory, pass_id):
    """Write the model of one pass as ``directory/pass-0000N/params.tar``; ``done`` is written last, when all is there."""
    folder = os.path.join(directory, "pass-%05d" % pass_id)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "params.tar"), "wb") as f:
        trainer.save_parameter_to_tar(f)
    with open(os.path.join(folder, "done"), "w") as f:
        f.write("1\n")


def fingerprint(parameters):
    """A short digest of all parameters: equal on all trainers after a synchronous job."""
    digest = hashlib.sha256()
    for name in sorted(parameters.keys()):
        digest.update(name.encode())
        digest.update(parameters.get(name).tobytes())
    return digest.hexdigest()[:16]
