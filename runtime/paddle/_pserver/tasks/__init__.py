"""The data task queue: chunks of a data set, handed out to trainers as tasks by one master.

    queue         who has which task, and when it is given to another (no I/O)
    messages      what goes over the wire and into the state file
    state_file    the queue on disk, so that a killed master goes on
    dataset       from globs to tasks
    application   the master's routes; service: its process
    client        the trainer's side

It must never know what a record holds.
"""
