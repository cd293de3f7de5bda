"""Optimizers: what moves parameters against their gradients."""

from paddle._program.optimizer import Optimizer, SGDOptimizer

SGD = SGDOptimizer

__all__ = ["SGD", "Optimizer", "SGDOptimizer"]
