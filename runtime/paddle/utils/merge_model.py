"""A network of v2 and its parameters in one file, as the original's C interface loads them.

It must never train. Guarantee: the file is the length of the ModelConfig, 8 bytes, the ModelConfig, and of
each parameter, in the order in which it lists them, the header and the values of a model's tar file.
"""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

from paddle.v2._errors import WrongCall
from paddle.v2.config_base import Layer
from paddle.v2.parameters import Parameters
from paddle.v2.topology import Topology

__all__ = ["merge_v2_model"]


Place = str | os.PathLike[str]


def merge_v2_model(net: Layer, param_file: Place, output_file: Place) -> None:
    """Write the network that leads to the layer ``net``, with the parameters of ``param_file``, a gzipped tar
    file of v2, to ``output_file``."""
    if not isinstance(net, Layer):
        raise WrongCall(f"net is the output layer of a network for inference, not {net!r}")
    config = Topology(net).proto()
    with gzip.open(param_file) as file:
        parameters = Parameters.from_tar(file)
    missing = [each.name for each in config.parameters if each.name not in parameters]
    if missing:
        raise WrongCall(f"{os.fspath(param_file)} lacks parameters of the network: {', '.join(missing)}")
    parameters._pool.check(config.parameters)
    network = config.SerializeToString()
    with Path(output_file).open("wb") as merged:
        merged.write(struct.pack("<q", len(network)) + network)
        for each in config.parameters:
            parameters.serialize(each.name, merged)
    print(f"Generate  {os.fspath(output_file)}  success!")
