"""Programs as data: blocks of operators with the original's types, slots and attributes over named
variables, what is being written now, and the messages that they are on disk. It knows nothing of how they are
computed but one question, put to ``lowering`` when an operator is appended: what comes of it?"""
