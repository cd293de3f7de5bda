"""What runs in a pod: ``paddle pod`` finds out which pod it is, plans the whole job as the launcher has, and
carries its own part out by the same agent.

    place.py     which pod this is, and what its processes show and trust
    premises.py  its workspace, and the plan of its part
    kernels.py   compiled code that its image has
    hearing.py   what it is told from outside
    telling.py   what it prints: what its role prints, and for the launcher what that reports
    cli.py       the command
"""
