"""The parameter server: where parameters live, in one process or on many.

It must never know what a program or an operator is: parameters, gradients, rules and clocks are its whole
world.
"""
