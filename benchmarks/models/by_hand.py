"""The contender that an expert would write: each model by hand in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.models.data import gram_batches, house_batches, regression_start, word2vec_start
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
        return training(Regression(regression_start(), batch, rate).step, house_batches(batch))
    rule = _RULES[settings["rule"]](rate, settings["l2"])
    model = Word2Vec(word2vec_start(settings["vocabulary"]), batch, rule)
    return training(model.step, gram_batches(settings["vocabulary"], batch))
