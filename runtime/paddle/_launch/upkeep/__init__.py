"""What is put on nodes so that jobs can run there, and how it is taken away again.

    commands      one function for each task of `fab`, values in, lines out
    account       what is shown of the work on all nodes while it goes on
    receipts      what came of it, in words and as data
    interpreter   a node's Python as data, and which wheels fit it
    picking       has pip fetch such wheels
    closure       what a set of wheels lacks, by the conditions of the node and not of this machine
    wheelhouse    a folder with all wheels that a kind of node needs, kept here
    installing    `fab install`: all nodes at once
    furnishing    one node of that, by the steps that it needs
    cleaning      `fab clean`: what of ours is on nodes, as data, and its removal

What is done on a node is done by programs of the agent (installer.py, cleaner.py).
"""
