"""The launcher of the fleet generation: ``python -m paddle.distributed.launch``, which is ``fleetrun``.

It starts one program as parameter servers and as trainers, on this machine; where a job has several machines,
the same command is given on each. What starts, watches and ends the processes is what does so for
``python paddle.py``: the supervisor, the carrier of local nodes and the agent. Here is only what differs: the
words of the command line, who of the lists is here, and what is printed.
"""
