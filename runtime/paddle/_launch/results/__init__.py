"""Results: what a job leaves where its user looks for it.

    tenancy.py      whose results lie in a folder, and who may put others there
    arriving.py     logs, written while the job runs
    curve.py        the curve of the cost
    picture.py      draws it, as a process of its own
    keeper.py       has both written in a thread of its own

It must never know how a file comes from a node (logs.py has that from a carrier), nor decide when.
"""
