"""How batches come to programs by themselves: readers that a program names, and loaders that people iterate.

    end.py        EOFException
    feeders.py    what makes a feed of what a reader gives
    reader.py     Reader: started and reset by the program, drawn from by each run
    loader.py     DataLoader.from_generator, PyReader
    data_loader.py  DataLoader
    variables.py  py_reader, read_file and double_buffer: readers as variables of a program
    opened.py     open_files and its like: readers of files, which begin their passes themselves
    turns.py      what an executor does about ``read`` operators
    training.py   a program, run on all batches of a dataset, by threads
    dumping.py    what of these batches is written to files

It must never know an operator but ``read``. The text of ahead.py (paddle._data) says who reads when.
"""
