"""The engine: what one training step computes, on numpy and numba alone.

It must never know where parameters live (that is ``_pserver``) or how processes are started
(``_launch``): it hands gradients to an :class:`~paddle._engine.exchange.Exchange` and goes on with the
parameters that it gets back.
"""
