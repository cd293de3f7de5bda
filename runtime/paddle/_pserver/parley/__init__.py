"""What the processes of a job tell each other beside training: sums of what they counted, samples that change
hands, and that all have come.

    rounds.py     who has told what in which round, and who is heard of: the state machine
    messages.py   what is said
    host.py       a process of the job in which the others meet, over HTTP
    line.py       a connection to it, and which answers are final
    speaker.py    each one's side of a round
    presence.py   each one says that it is alive
    errors.py     what can go wrong

It must never know what is told: texts of bytes. Upstream's gloo had this place (decision 0072).
"""
