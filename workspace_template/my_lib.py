"""What train.py uses beside Paddle: finding this node's data, reading it, keeping a pass's model."""

import hashlib
import sys
from pathlib import Path


def shards(directory, node_id, nodes):
    """The files of ``directory`` that are a node's own: number behind the last dash, modulo ``nodes``.

    A node that has none ends here: it would learn nothing, and notice only after a pass of the others.
    """
    numbered = [path for path in Path(directory).glob("*-*") if path.name.rpartition("-")[2].isdigit()]
    own = sorted(path for path in numbered if int(path.name.rpartition("-")[2]) % nodes == node_id)
    if not own:
        sys.exit(
            f"{directory} has no part for node {node_id} of {nodes}: SPLIT_COUNT={nodes} python prepare.py"
        )
    return own


def gram_reader(paths):
    """A reader over files of one n-gram a line, word ids separated by commas."""

    def reader():
        for path in paths:
            with path.open() as lines:
                for line in lines:
                    yield tuple(map(int, line.split(",")))

    return reader


def save_pass(trainer, directory, pass_id):
    """Write a pass's model as ``directory/pass-0000N/params.tar``; ``done`` comes last, when all is there.

    Under another name first: a process that is killed meanwhile leaves no half of a model, and the one that
    is started in its place, which is told once more that the pass has ended, writes it anew.
    """
    folder = Path(directory, f"pass-{pass_id:05d}")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "params.tar.new").open("wb") as f:
        trainer.save_parameter_to_tar(f)
    (folder / "params.tar.new").replace(folder / "params.tar")
    (folder / "done").write_text("1\n")


def fingerprint(parameters):
    """A short digest of all parameters: equal on all trainers after a synchronous job."""
    digest = hashlib.sha256()
    for name in sorted(parameters.keys()):
        digest.update(name.encode())
        digest.update(parameters.get(name).tobytes())
    return digest.hexdigest()[:16]
