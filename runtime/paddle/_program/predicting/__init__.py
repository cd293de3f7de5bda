"""Saved models that are computed, as they are deployed: ``paddle.inference``, and fluid's predictors."""
