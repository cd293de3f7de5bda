"""Where configuration files of v1 said what is read: a program of v2 has readers."""

from paddle._absent import absent

__all__ = ["define_py_data_sources2"]

define_py_data_sources2 = absent(
    "paddle.trainer_config_helpers.define_py_data_sources2",
    "give a reader to trainer.train(paddle.batch(reader, 32)), a function that yields rows",
)
