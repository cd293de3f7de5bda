"""Kubernetes: the same job, carried out by pods that know from their manifest alone what they are.

    names.py        what objects of a job are called, and where its pods are found
    pods.py         what is asked of pods: image, shares of a machine, storage
    quantities.py   numbers of processors and bytes
    package.py      a workspace as parts that objects can hold
    containers.py   what runs in the pods of a job
    manifests.py    all objects of a job
    whole.py        the same, with secrets and package of a launch
    kubectl.py      the only way to a cluster
    whereabouts.py  in which namespace of which cluster a job is
    watching.py     how pods stand
    parting.py      how long they may be gone
    waits.py        for what those wait that do not run yet
    advice.py       what to do about that
    following.py    what they print
    heard.py        how much of that has been heard
    line.py         programs in them, by exec
    removal.py      the end of all of it
    sweeping.py     the same, behind a launcher that does not wait
    after.py        a job whose launcher is gone
    inside          what runs in a pod: `paddle pod`

``kubectl`` is the only way to a cluster. It must never know how a role is started: in a pod an agent does, as
on every node.
"""
