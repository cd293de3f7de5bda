"""The launcher: where the processes of a job run, how they are watched and how they end.

It starts everything by command line and imports neither the engine nor the parameter server.
"""
