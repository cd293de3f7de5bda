"""One rank of a job that another engine has started: mpirun, srun, or whoever speaks as they do.

Each rank starts this, which finds the others (rally.py), and runs what is this rank's: a trainer, and the
parameter server of its machine if it is the first there. The engine places ranks and ends them; the agent and
its leash see to it that no process outlives its rank.
"""
