"""The parameter server: where parameters live, in one process or on many.

It must never know what a program or an operator is: parameters, gradients, rules and clocks are its whole
world.

Its rooms, of which none knows those below it in this list:

    errors, options    what can go wrong, and what pservers are told before any trainer speaks
    watcher            who hears how a job fares
    protocol           what trainers and shards say to each other, and which shard has which values
    trust, memory      who may speak; arrays that grow where they are, or that two processes see
    tables             values, dense and sparse, and the state of their rules
    shard              the state machine of one part of the parameters
    trainer            a trainer's end: steps on lines to all shards, or on one in its own process
    snapshots          the states of shards on disk
    service            shards as processes with connections, a clock and a page for people
    tasks              the data task queue, a server of its own
    parley             where the processes of a job meet, beside training

To read it: protocol/messages.py has what is said, shard/shard.py what a shard makes of it, shard/modes what
each mode guarantees (mode.py first), tables/tables.py how a step is applied. Then the two ends:
trainer/remote.py and trainer/line.py, where steps are split over shards and told again after a fault, and
service/hub.py, where bytes and time come in.
"""
