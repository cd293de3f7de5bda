"""Feeding: from the rows that a reader yields to the arrays that a step is fed.

``slots`` makes arrays of one slot, by ``flat`` where its values are of one kind; ``packing`` does of slots of
sequences; ``parts`` cuts what is fed for the threads of a trainer.

``ahead`` reads the next batch while a step is computed, in a ``turn``.
"""
