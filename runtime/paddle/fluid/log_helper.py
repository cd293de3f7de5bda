"""Loggers as fluid made them: each writes by itself, to the standard error stream."""

from __future__ import annotations

import logging

__all__ = ["get_logger"]


def get_logger(name: str, level: int, fmt: str | None = None) -> logging.Logger:
    """The logger of that name, which passes nothing on; it has one handler, however often it is asked for."""
    logger = logging.getLogger(name)
    logger.setLevel(level)
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler())
    if fmt:
        logger.handlers[0].setFormatter(logging.Formatter(fmt=fmt))
    logger.propagate = False
    return logger
