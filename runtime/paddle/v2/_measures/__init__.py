"""Measures: what evaluators say of a network, batch by batch, so that it adds up to what they say of a pass.

``measure`` says what a measure is; each other module has one family. ``meters`` finds that of an evaluator.
"""
