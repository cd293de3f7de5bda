"""The data task queue: chunks of a data set, handed out to trainers as tasks by one master.

    queue         who has which task, and when it is given to another (no I/O)
    messages      what goes over the wire and into the state file
    state_file    the queue on disk, so that a killed master goes on
    dataset       from globs to tasks
    master        a queue that is saved with every change
    application   the master's routes
    service       its process
    admitted      the master's side of the handshake
    handshake     the trainer's side of it
    client        the trainer's side of all the rest
    errors        what can go wrong between the two

It must never know what a record holds.
"""
