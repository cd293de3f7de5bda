"""Again: what the supervisor knows of a job that begins again as a whole.

    lives.py        whether it does, how often and when
    absent.py       nodes that a later life looks for
    spared.py       trainers that it goes on without, and what pservers are told of them
    restarts.py     which roles are started again, how often and when
    remedies.py     which of all these makes up for an end, if any does
    unsaid.py       trainers of whose end pservers know nothing
    vain.py         trainers that come to meet the others when those are gone

It must never know a snapshot, a node's machine or a process: names and times are enough. The rules of what
follows are the supervisor's (supervisor.py, 13 and 14).
"""
