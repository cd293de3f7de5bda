"""Jobs: what is kept of a user's launches, and how somebody in another shell speaks with one that runs.

    record.py       what is kept of one launch: what it is, and how it stands
    launcher.py     which process a launch is, and whether it lives
    index.py        where records are, and which one is meant
    home.py         the user's home folder, or why there is none
    naming.py       a name for a launch that no other one of the user has
    register.py     the record of a launch that begins, and its desk
    chronicle.py    the news of a launch, for those who come late or read slowly
    desk.py         the launch's side: keeps its record, answers who asks
    shared.py       a screen whose news are also at the desk
    caller.py       the other side: asks, and listens
    background.py   a launcher that leaves its terminal
    explanation.py  why a job failed, in words
    remnants.py     what is left of a job without a launcher, ended on every node
    resumption.py   a job that goes on from the snapshots of another
    commands.py     one function for each task of `fab`, values in, lines out
    looking.py, watching.py, reading.py, stopping.py, collecting.py
                    what `fab status`, `status --watch`, `logs`, `stop` and `collect` do

It must never know how a node is reached, but for collecting.py, which asks a carrier, and remnants.py, which
speaks with a program there. A launch goes on as
well when nothing can be kept and nobody asks.
"""
