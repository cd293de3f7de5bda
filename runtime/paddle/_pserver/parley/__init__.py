"""What the processes of a job tell each other beside training: sums of what they counted, samples that change
hands, and that all have come.

    rounds.py     who has told what in which round: the state machine
    messages.py   what is said
    host.py       a process of the job in which the others meet, over HTTP
    speaker.py    each one's side
    errors.py     what can go wrong

It must never know what is told: texts of bytes. Upstream's gloo had this place (decision 0072).
"""
