"""What is put on nodes so that jobs can run there, and how it is taken away again.

    commands      one function for each task of `fab`, values in, lines out
    interpreter   a node's Python as data, and which wheels fit it
    picking       has pip fetch such wheels
    closure       what a set of wheels lacks, by the conditions of the node and not of this machine
    wheelhouse    a folder with all wheels that a kind of node needs, kept here
    installing    `fab install`: all nodes at once, each by the steps that it needs
    belongings    what of ours is on a node, as data
    cleaning      `fab clean`: what there is, the question, and the removal
    visit         a node that is talked to, over SSH or on this machine

What is done on a node is done by programs of the agent (installer.py, cleaner.py).
"""
