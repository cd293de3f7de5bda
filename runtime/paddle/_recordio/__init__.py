"""RecordIO: files of chunks, chunks of records, and what a record holds.

It must never know who reads or why: a task queue, a reader, a data set. Guarantee: nothing that stands in a
file is executed, and nothing is allocated above a limit because a file says so.
"""
