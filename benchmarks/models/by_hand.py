"""The contender that an expert would write: a model by hand in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.models.data import batches, start
from benchmarks.models.numpy_regression import Regression
from benchmarks.models.numpy_rules import SGD, AdaGrad
from benchmarks.models.numpy_word2vec import Word2Vec
from benchmarks.models.training import training
from benchmarks.worker import Work

_RULES = {"adagrad": AdaGrad, "sgd": SGD}


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    batch, rate = settings["batch"], settings["learning_rate"]
    if settings["model"] == "regression":
        return training(Regression(start(settings), batch, rate).step, batches(settings), settings)
    rule = _RULES[settings["rule"]](rate, settings["l2"])
    return training(Word2Vec(start(settings), batch, rule).step, batches(settings), settings)
