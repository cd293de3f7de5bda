"""Steps: programs of one moment of sequences, which are run for each of their moments.

``recurrence`` is how faces write them, ``loop`` what the operator ``recurrent`` holds of one, and ``tape``
where its values lie while it runs.
"""
