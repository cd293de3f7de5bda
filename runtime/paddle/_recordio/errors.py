"""What can be wrong with a RecordIO file.

RecordIOError        a ValueError; the text names the file and the byte where it is known
├── CorruptChunk     a chunk that is not whole: no header, a wrong checksum, an end that comes too early
├── BadRecord        bytes that are no sample, or a sample that no record can hold
└── NotPlain         a pickled record that asks for more than numbers, texts, containers and numpy arrays
"""


class RecordIOError(ValueError):
    """Base of all errors of RecordIO files."""


class CorruptChunk(RecordIOError):
    """A chunk that is not whole."""


class BadRecord(RecordIOError):
    """Bytes that are no sample, or a sample that no record can hold."""


class NotPlain(RecordIOError):
    """A pickled record that asks for more than data."""
