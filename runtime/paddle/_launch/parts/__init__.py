"""One machine's part of a job, where somebody else says which part that is.

``fleetrun`` is called on each machine, ``paddle rank`` is started by mpirun or srun. Each reads its own words
and plans its own processes; what is done with such a plan is the same for all, and is here.

    attending       the frame of the command: signals, typed errors, the exit status
    ending          what is told after a failure
    planning        a plan of one node
    premises        the folder of the agent, the folder of the logs
    running         the loop that carries a plan out
    speech          how parts speak to each other before the job begins
"""
