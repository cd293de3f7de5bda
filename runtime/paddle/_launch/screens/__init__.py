"""Screens: what a launch shows while it runs, to people and to programs.

    screen.py    what a screen is, and the one that suits a stream
    lines.py     lines for a file, a pipe or a program
    live.py      a terminal: a table that keeps changing below what was said
    grid.py      the rows of a board as lines of text, as wide as there is room
    merged.py    what roles print, each line with its role and address
    sizes.py     how many bytes something is, in words
    stream.py    where they write to
    printer.py   keeps nobody waiting for who reads

It must never know what comes next in a launch. A screen never fails: a terminal that is gone, or a pipe that
nobody reads, ends no job.
"""
