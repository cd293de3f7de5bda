"""Data as the fluid and fleet generations bring them to a program: lines of slots, and the files they are in.

    ahead.py            the next batch, read while a step is computed
    samples.py          datasets of samples, by number or one after another
    samplers.py         which samples come when
    collating.py        samples -> a batch
    processes.py        processes that read, and what they say
    gathering.py        batches, by other processes too
    turn.py             what such a reader may ask: whether a step is under way
    data_generator.py   what a program derives from to write such lines
    slot.py             Slot: what a line holds for one variable
    lines.py            text -> Records
    records.py          Records: samples side by side, slot by slot
    command.py          a file through a command of the user's
    filelist.py         files -> Records, by several threads
    settings.py         what a dataset was told
    dataset.py          QueueDataset and InMemoryDataset, as 2.x spells them
    spreading.py        samples among trainers
    setters.py          the same as fluid spells them

It must never know a program or an executor: who trains asks a dataset for batches. All faces share it.
"""
